"""Callers one utterance at a time: what they say to each act, and what wears them out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from extrinsic.arrays import Ints
from extrinsic.simulation.bus.bus_settings import GoalSettings
from extrinsic.simulation.bus.caller import Callers
from extrinsic.simulation.bus.system import RESTART, SystemTurn
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.utterance import NO, NOTHING, SILENT, YES, Utterance
from tests.simulation.worlds import BUS, GROUPS, PATIENT, PREDICATES, group_column, world

N = 600
ALL = np.arange(N)

PLAIN: dict[str, Any] = {
    "answers": 1.0,
    "opens_with": 0.0,
    "over_informs": 0.0,
    "changes_goal": 0.0,
    "leaves_content": 0.0,
    **PATIENT,
}
"""Callers without whims: they answer what they are asked, and nothing else."""


def callers(**caller: Any) -> Callers:
    return Callers(GoalSettings(), world(caller={**PLAIN, **caller}).caller, BUS, Chance.of(N, "callers"))


def system(
    predicate: str,
    request: str | None = None,
    explicit: Ints | None = None,
    implicit: Ints | None = None,
    offer: Ints | None = None,
) -> SystemTurn:
    """The same act to everybody."""
    nothing = np.full(N, NOTHING)
    asked = np.full(N, NOTHING if request is None else group_column(request))
    return SystemTurn(
        np.full(N, PREDICATES.index(predicate)),
        asked,
        nothing if explicit is None else explicit,
        nothing if implicit is None else implicit,
        np.full((N, len(GROUPS)), NOTHING) if offer is None else offer,
        np.zeros(N, dtype=np.int64),
        np.zeros(N, dtype=np.int64),
    )


def respond(to: Callers, said: SystemTurn, turn: int = 1, repeated: bool = False) -> Utterance:
    return to.respond(ALL, turn, said, np.full(N, repeated))


def wrong(values: Ints) -> Ints:
    """Other values of the same slots, NOTHING where there is none."""
    return np.where(values == NOTHING, NOTHING, BUS.neighbour[np.maximum(values, 0), 3])


def only_group(callers: Callers, group: str) -> Ints:
    """What is said by who speaks of one group."""
    value = np.full_like(callers.goal, NOTHING)
    value[:, group_column(group)] = callers.goal[:, group_column(group)]
    return value


@pytest.mark.parametrize("group", GROUPS)
def test_a_request_is_answered(group: str) -> None:
    """Who has no wish there says nothing."""
    some = callers()
    answer = respond(some, system("request", request=group))
    assert np.array_equal(answer.value, only_group(some, group))
    assert (answer.answer == SILENT).all()
    assert not answer.hangs_up.any()
    assert np.array_equal(some.mentioned, answer.value != NOTHING)


def test_some_say_nothing() -> None:
    answer = respond(callers(answers=0.7), system("request", request="from"))
    silent = (answer.value == NOTHING).all(axis=1)
    assert silent.mean() == pytest.approx(0.3, abs=4 * np.sqrt(0.21 / N))


@pytest.mark.parametrize("predicate", ["hello", "open_request", "restart"])
def test_an_open_question_gets_something_not_yet_told(predicate: str) -> None:
    some = callers()
    some.mentioned[:, group_column("from")] = True
    answer = respond(some, system(predicate))
    assert ((answer.value != NOTHING).sum(axis=1) == 1).all()
    assert (answer.value[:, group_column("from")] == NOTHING).all()
    # Most begin with where they want to go, if where from is told.
    assert (answer.value[:, group_column("to")] != NOTHING).mean() > 0.6


def test_everything_at_once() -> None:
    some = callers(opens_with=1.0)
    assert np.array_equal(respond(some, system("hello")).value, some.goal)
    some = callers(over_informs=1.0)
    assert np.array_equal(respond(some, system("request", request="from")).value, some.goal)


def test_confirmations_get_a_yes_or_a_no() -> None:
    some = callers(corrects_denied=0.0)
    goal = some.goal[:, group_column("to")]
    right = ALL % 2 == 0
    answer = respond(some, system("confirm", explicit=np.where(right, goal, wrong(goal))))
    assert np.array_equal(answer.answer, np.where(right, YES, NO))
    assert (answer.value == NOTHING).all()


def test_a_value_of_a_group_without_a_wish_is_wrong() -> None:
    some = callers(corrects_denied=1.0)
    route = some.goal[:, group_column("route")]
    any_route = np.where(route == NOTHING, BUS.begin[BUS.domain.slot_names.index("route")], route)
    answer = respond(some, system("confirm", explicit=any_route))
    assert np.array_equal(answer.answer, np.where(route == NOTHING, NO, YES))
    assert (answer.value == NOTHING).all()


def test_who_says_no_may_correct() -> None:
    some = callers(corrects_denied=1.0)
    goal = some.goal[:, group_column("to")]
    answer = respond(some, system("confirm", explicit=wrong(goal)))
    assert np.array_equal(answer.value, only_group(some, "to"))


def test_implicit_confirmations() -> None:
    """Right: the question is answered. Wrong and noticed: a no and the right value, the question is not."""
    some = callers(notices_implicit=1.0)
    goal = some.goal[:, group_column("from")]
    right = ALL % 2 == 0
    said = system("implicit_confirm", request="to", implicit=np.where(right, goal, wrong(goal)))
    answer = respond(some, said)
    assert np.array_equal(answer.answer, np.where(right, SILENT, NO))
    assert np.array_equal(answer.value[right], only_group(some, "to")[right])
    assert np.array_equal(answer.value[~right], only_group(some, "from")[~right])
    unseen = callers(notices_implicit=0.0)
    answer = respond(unseen, said)
    assert (answer.answer == SILENT).all()
    assert np.array_equal(answer.value, only_group(unseen, "to"))


def test_a_right_offer_contents() -> None:
    some = callers()
    answer = respond(some, system("offer", offer=some.goal))
    assert some.content.all()
    assert some.served.all()
    assert (answer.answer == SILENT).all()
    assert (answer.value == NOTHING).all()
    assert (some.worn == 0.0).all()


def test_an_offer_may_leave_out_a_route_but_not_a_time() -> None:
    """And who has no wish takes what there is."""
    for group, expected in (("route", True), ("date", True), ("time", False), ("from", False)):
        some = callers()
        offer = some.goal.copy()
        offer[:, group_column(group)] = NOTHING
        respond(some, system("offer", offer=offer))
        wanted = some.goal[:, group_column(group)] != NOTHING
        assert np.array_equal(some.content, expected | ~wanted), group
    some = callers()
    filled = np.where(some.goal == NOTHING, BUS.begin[BUS.domain.slot_names.index("route")], some.goal)
    respond(some, system("offer", offer=filled))
    assert some.content.all()


def test_a_wrong_offer_is_objected_to() -> None:
    some = callers()
    offer = some.goal.copy()
    offer[:, group_column("to")] = wrong(offer[:, group_column("to")])
    answer = respond(some, system("offer", offer=offer))
    assert not some.served.any()
    assert (answer.answer == NO).all()
    assert np.array_equal(answer.value, only_group(some, "to"))


@pytest.mark.parametrize(("wants", "expected"), [(1.0, YES), (0.0, NO)])
def test_the_next_bus(wants: float, expected: int) -> None:
    some = callers(another_bus=wants)
    assert (respond(some, system("next_bus")).answer == NO).all()  # without a right one before
    respond(some, system("offer", offer=some.goal))
    assert (respond(some, system("next_bus"), turn=2).answer == expected).all()


def test_after_goodbye_nothing_is_said() -> None:
    answer = respond(callers(over_informs=1.0), system("goodbye"))
    assert (answer.value == NOTHING).all()
    assert (answer.answer == SILENT).all()


def test_what_wears_patience_out() -> None:
    costs = {
        "annoyed_by_wrong_confirmation": 0.25,
        "annoyed_by_wrong_implicit": 0.5,
        "annoyed_by_wrong_offer": 4.0,
        "annoyed_by_repetition": 8.0,
    }
    goal = callers().goal
    place = goal[:, group_column("from")]
    for said, repeated, expected in (
        (system("request", request="from"), False, 1.0),
        (system("request", request="from"), True, 9.0),
        (system("confirm", explicit=place), False, 1.0),
        (system("confirm", explicit=wrong(place)), False, 1.25),
        (system("implicit_confirm", implicit=wrong(place)), False, 1.5),
        (system("offer", offer=wrong(goal)), False, 5.0),
        (system("offer", offer=goal), True, 0.0),  # who has his bus has time
    ):
        some = callers(**costs)
        respond(some, said, repeated=repeated)
        assert (some.worn == expected).all(), (said.predicate[0], repeated)
        respond(some, said, turn=2, repeated=repeated)
        assert (some.worn == 2 * expected).all()


def test_who_has_no_patience_left_hangs_up_without_a_word() -> None:
    some = callers(patience=5.0, patience_shape=4.0)
    some.worn[:] = some.patience - 1.0
    even = ALL % 2 == 0
    some.worn[even] += 0.01
    answer = respond(some, system("request", request="from"))
    assert np.array_equal(answer.hangs_up, even)
    assert (answer.value[even] == NOTHING).all()
    assert (answer.value[~even] != NOTHING).any()


def test_patience_is_a_gamma() -> None:
    """Mean m, variance m^2 / shape."""
    patience = callers(patience=12.0, patience_shape=9.0).patience
    assert patience.mean() == pytest.approx(12.0, abs=4 * 4.0 / np.sqrt(N))
    assert patience.std() == pytest.approx(4.0, rel=0.15)


def test_some_leave_when_they_got_their_bus() -> None:
    some = callers(leaves_content=1.0, patience=1e6)
    right = ALL % 2 == 0
    offer = np.where(right[:, None], some.goal, wrong(some.goal))
    answer = respond(some, system("offer", offer=offer))
    assert np.array_equal(answer.hangs_up, right)
    stays = callers(leaves_content=1.0)  # infinitely patient
    assert not respond(stays, system("offer", offer=stays.goal)).hangs_up.any()


def test_goals_change_at_a_rate_and_are_told_at_once() -> None:
    some = callers(changes_goal=0.5)
    before = some.goal.copy()
    some.mentioned = before != NOTHING
    answer = respond(some, system("request", request="from"))
    changed = some.goal != before
    assert changed.sum(axis=1).max() == 1
    expected = 0.5 * (before != NOTHING).mean()  # the group is drawn before it is known to be told
    assert changed.any(axis=1).mean() == pytest.approx(expected, abs=4 * np.sqrt(0.25 / N))
    assert np.array_equal(answer.value[changed], some.goal[changed])
    assert np.array_equal(BUS.slot[some.goal[changed]], BUS.slot[before[changed]])


def test_goals_do_not_change_before_they_are_told_nor_once_a_bus_is_found() -> None:
    some = callers(changes_goal=1.0)
    before = some.goal.copy()
    respond(some, system("request", request="from"))
    assert np.array_equal(some.goal, before)
    respond(some, system("offer", offer=some.goal), turn=2)
    after = some.goal.copy()
    respond(some, system("next_bus"), turn=3)
    content = some.content
    assert content.any()
    assert np.array_equal(some.goal[content], after[content])


def test_weary_callers_may_ask_to_start_over() -> None:
    some = callers(starts_over=1.0, patience=10.0)
    some.worn = np.where(ALL % 2 == 0, 0.5 * some.patience, 0.5 * some.patience - 1.5)
    answer = respond(some, system("request", request="from"))
    assert np.array_equal(answer.command == RESTART, (ALL % 2 == 0) & ~answer.hangs_up)
    some.start_over(ALL[:10])
    assert not some.mentioned[:10].any()
    assert not respond(callers(), system("request", request="from")).command.any()


def test_who_cannot_be_helped_wants_to_go_elsewhere() -> None:
    """If it was about where he wanted to go; a route or a date left out is no other place."""
    some = callers()
    before, offer = some.goal.copy(), some.goal.copy()
    offer[ALL % 2 == 0, group_column("route")] = NOTHING
    answer = respond(some, system("canthelp", offer=offer))
    column = group_column("to")
    assert (some.goal[:, column] != before[:, column]).all()
    assert np.array_equal(np.delete(some.goal, column, axis=1), np.delete(before, column, axis=1))
    assert np.array_equal(answer.value, only_group(some, "to"))
    assert not some.content.any()


def test_an_apology_for_other_places_is_objected_to() -> None:
    """As an offer would be: no, and the right value; nobody wants to go elsewhere for that."""
    some = callers(annoyed_by_wrong_offer=4.0)
    before, offer = some.goal.copy(), some.goal.copy()
    offer[:, group_column("to")] = wrong(offer[:, group_column("to")])
    answer = respond(some, system("canthelp", offer=offer))
    assert np.array_equal(some.goal, before)
    assert (answer.answer == NO).all()
    assert np.array_equal(answer.value, only_group(some, "to"))
    assert (some.worn == 5.0).all()
