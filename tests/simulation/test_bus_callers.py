"""Callers of the bus world: the town's values, goals as set, what is said to each act, what tires them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from extrinsic.arrays import Bools, Ints
from extrinsic.corpus.formats.dstc1 import value_of_pairs
from extrinsic.simulation.bus_callers import Callers, GoalSettings, another_value, draw_goals
from extrinsic.simulation.bus_system import RESTART, SystemSettings, SystemTurn
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.values import N_NEIGHBOURS, NO, NOTHING, SILENT, YES, Utterance
from tests.simulation.worlds import BUS, GROUPS, PATIENT, PREDICATES, group_column, slot_values, world

SLOTS = BUS.domain.slot_names
MANY = 20_000
N = 600
ALL = np.arange(N)
EVEN = ALL % 2 == 0


def text(number: int) -> str:
    return BUS.vocabulary.text(int(BUS.identity[number]))


def test_pairs_are_read_back_as_the_value() -> None:
    """What acts write of a value is, to the reader of labels, that very value; ids find it."""
    for number in range(len(BUS)):
        rows = slice(BUS.pair_offsets[number], BUS.pair_offsets[number + 1])
        names, parts = (
            [BUS.vocabulary.value(int(identity)) for identity in column[rows]]
            for column in (BUS.pair_slot, BUS.pair_value)
        )
        column = BUS.slot[number]
        assert len(set(names)) == len(names) > 0
        value = value_of_pairs(BUS.domain, SLOTS[column], dict(zip(names, parts, strict=True)))
        assert BUS.vocabulary.find(value) == BUS.identity[number]
        assert BUS.number[column, BUS.identity[number]] == number


def test_neighbours_are_the_values_of_the_slot_that_sound_most_alike() -> None:
    """Against a plain Dice coefficient of letter pairs."""

    def alike(first: str, second: str) -> float:
        pairs = [{f" {word} "[i : i + 2] for i in range(len(word) + 1)} for word in (first, second)]
        return 2 * len(pairs[0] & pairs[1]) / (len(pairs[0]) + len(pairs[1]))

    assert (BUS.slot[BUS.neighbour] == BUS.slot[:, None]).all()
    numbers = slot_values("from.neighborhood")
    for number in numbers[::9]:
        scores = {other: alike(text(number), text(other)) for other in numbers if other != number}
        best = sorted(scores, key=lambda other: (-scores[other], other))[:N_NEIGHBOURS]
        assert BUS.neighbour[number].tolist() == best


def test_elsewhere_is_the_other_direction_and_another_kind_of_place() -> None:
    for number in (*slot_values("from.desc")[::50], *slot_values("to.monument")[::10]):
        side, kind = SLOTS[BUS.slot[number]].split(".")
        opposite, other_kind = BUS.elsewhere[number]
        assert SLOTS[BUS.slot[opposite]] == f"{'to' if side == 'from' else 'from'}.{kind}"
        assert text(opposite) == text(number)
        assert BUS.group[BUS.slot[other_kind]] == BUS.group[BUS.slot[number]]
        assert BUS.slot[other_kind] != BUS.slot[number]
    for slot in ("route", "date", "time"):
        assert (BUS.elsewhere[slot_values(slot)] == slot_values(slot)[:, None]).all()


@pytest.fixture(scope="module")
def goals() -> Ints:
    return draw_goals(GoalSettings(), BUS, Chance.of(MANY, "goals"))


def assert_share(flags: np.ndarray, expected: float) -> None:
    """Within four standard deviations of a share of so many."""
    tolerance = 4 * np.sqrt(expected * (1 - expected) / len(flags))
    assert flags.mean() == pytest.approx(expected, abs=tolerance)


def test_goals_are_drawn_as_set(goals: Ints) -> None:
    for column in range(len(GROUPS)):
        wanted = goals[:, column][goals[:, column] != NOTHING]
        assert (BUS.group[BUS.slot[wanted]] == column).all()
    for side in ("from", "to"):
        slot = BUS.slot[goals[:, group_column(side)]]
        for kind, share in (("desc", 0.60), ("neighborhood", 0.25), ("monument", 0.15)):
            assert_share(slot == SLOTS.index(f"{side}.{kind}"), share)
    for group, share in (("route", 0.35), ("date", 0.30), ("time", 0.90), ("from", 1.0)):
        assert_share(goals[:, group_column(group)] != NOTHING, share)
    times = goals[:, group_column("time")]
    usual = BUS.usual[times] & (times != NOTHING)
    assert_share(usual, 0.9 * (0.15 + 0.85 / len(slot_values("time"))))
    routes = goals[:, group_column("route")]
    counts, expected = np.bincount(routes[routes != NOTHING]), (routes != NOTHING).sum() / 100
    assert ((counts - expected) ** 2 / expected).sum() < 160  # chi-square of 99 degrees: p = 1e-4


@pytest.mark.parametrize("shares", [{}, {"stop": 0.0, "neighborhood": 0.0}])
def test_nobody_travels_to_where_he_is(shares: dict[str, float]) -> None:
    """With monuments only, 43 of them, one caller in 43 would."""
    goals = draw_goals(GoalSettings(**shares), BUS, Chance.of(MANY, "monuments"))
    assert (BUS.elsewhere[goals[:, group_column("from")], 0] != goals[:, group_column("to")]).all()


def test_one_setting_does_not_change_the_other_wishes() -> None:
    chance, column = Chance.of(500, "some"), group_column("route")
    goals = [draw_goals(GoalSettings(route=share), BUS, chance) for share in (0.35, 0.0, 1.0)]
    usual, none, everybody = goals
    assert np.array_equal(np.delete(usual, column, axis=1), np.delete(none, column, axis=1))
    assert (none[:, column] == NOTHING).all()
    assert (everybody[:, column] != NOTHING).all()


def test_another_value_is_another_one_of_the_slot() -> None:
    values = np.arange(len(BUS))
    for draw in (0.0, 0.5, 1 - 2**-53):
        other = another_value(BUS, values, np.full(len(values), draw))
        assert (other != values).all()
        assert np.array_equal(BUS.slot[other], BUS.slot)


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
    settings = world(caller={**PLAIN, **caller}).caller
    return Callers(GoalSettings(), settings, SystemSettings(), Chance.of(N, "callers"))


def system(predicate: str, request: str | None = None, **values: Ints) -> SystemTurn:
    """The same act to everybody; values: explicit, implicit, offer."""
    nothing, zero = np.full(N, NOTHING), np.zeros(N, dtype=np.int64)
    return SystemTurn(
        np.full(N, PREDICATES.index(predicate)),
        np.full(N, NOTHING if request is None else group_column(request)),
        values.get("explicit", nothing),
        values.get("implicit", nothing),
        values.get("offer", np.full((N, len(GROUPS)), NOTHING)),
        zero,
        zero,
    )


def respond(to: Callers, said: SystemTurn, turn: int = 1, repeated: bool = False) -> Utterance:
    return to.respond(ALL, turn, said, np.full(N, repeated))


def wrong(values: Ints) -> Ints:
    """Other values of the same slots, NOTHING where there is none."""
    return np.where(values == NOTHING, NOTHING, BUS.neighbour[np.maximum(values, 0), 3])


def wrong_in(goal: Ints, group: str) -> Ints:
    """The goal, but for another value of one group."""
    offer = goal.copy()
    offer[:, group_column(group)] = wrong(offer[:, group_column(group)])
    return offer


def assert_says(answer: Utterance, expected: Ints | int, goal: Ints, *groups: str) -> None:
    """What callers answer, and the values that they mention: those of some groups."""
    assert np.array_equal(answer.answer, np.broadcast_to(expected, N))
    mentioned = np.isin(GROUPS, groups)
    assert np.array_equal(answer.value, np.where(mentioned, goal, NOTHING))


@pytest.mark.parametrize("group", GROUPS)
def test_a_request_is_answered(group: str) -> None:
    """Who has no wish there says nothing."""
    some = callers()
    answer = respond(some, system("request", request=group))
    assert_says(answer, SILENT, some.goal, group)
    assert not answer.hangs_up.any()
    assert np.array_equal(some.mentioned, answer.value != NOTHING)


def test_some_say_nothing_and_some_everything() -> None:
    answer = respond(callers(answers=0.7), system("request", request="from"))
    assert_share((answer.value == NOTHING).all(axis=1), 0.3)
    for said, whim in ((system("hello"), "opens_with"), (system("request", "from"), "over_informs")):
        some = callers(**{whim: 1.0})
        assert np.array_equal(respond(some, said).value, some.goal)
    answer = respond(callers(over_informs=1.0), system("goodbye"))
    assert_says(answer, SILENT, some.goal)


@pytest.mark.parametrize("predicate", ["hello", "open_request", "restart"])
def test_an_open_question_gets_something_not_yet_told(predicate: str) -> None:
    """After a restart everything has to be told again."""
    some = callers()
    some.mentioned[:, group_column("from")] = True
    answer = respond(some, system(predicate))
    assert ((answer.value != NOTHING).sum(axis=1) == 1).all()
    said = (answer.value[:, [group_column("from"), group_column("to")]] != NOTHING).mean(axis=0)
    assert said[0] > 0.6 if predicate == "restart" else said[0] == 0.0 and said[1] > 0.6


def test_confirmations_get_a_yes_or_a_no_and_sometimes_the_right_value() -> None:
    goal = callers().goal
    place, route = (goal[:, group_column(group)] for group in ("to", "route"))
    said = system("confirm", explicit=np.where(EVEN, place, wrong(place)))
    assert_says(respond(callers(corrects_denied=0.0), said), np.where(EVEN, YES, NO), goal)
    said = system("confirm", explicit=wrong(place))
    assert_says(respond(callers(corrects_denied=1.0), said), NO, goal, "to")
    any_route = np.where(route == NOTHING, slot_values("route")[0], route)
    answer = respond(callers(corrects_denied=1.0), system("confirm", explicit=any_route))
    assert_says(answer, np.where(route == NOTHING, NO, YES), goal)


def test_implicit_confirmations() -> None:
    """Right: the question is answered. Wrong and noticed: a no and the right value, the question is not."""
    some = callers(notices_implicit=1.0)
    place = some.goal[:, group_column("from")]
    said = system("implicit_confirm", request="to", implicit=np.where(EVEN, place, wrong(place)))
    answer = respond(some, said)
    assert np.array_equal(answer.answer, np.where(EVEN, SILENT, NO))
    for rows, group in ((EVEN, "to"), (~EVEN, "from")):
        assert np.array_equal(answer.value[rows], np.where(np.isin(GROUPS, group), some.goal, NOTHING)[rows])
    unseen = callers(notices_implicit=0.0)
    assert_says(respond(unseen, said), SILENT, unseen.goal, "to")


def test_offers() -> None:
    """A right one contents, also without a route or a date, but not without a time; a wrong one gets a no."""
    some = callers()
    assert_says(respond(some, system("offer", offer=some.goal)), SILENT, some.goal)
    assert some.content.all() and some.served.all() and (some.worn == 0.0).all()
    for group, may_lack in (("route", True), ("date", True), ("time", False), ("from", False)):
        some = callers()
        offer = some.goal.copy()
        offer[:, group_column(group)] = NOTHING
        respond(some, system("offer", offer=offer))
        assert np.array_equal(some.content, may_lack | (some.goal[:, group_column(group)] == NOTHING)), group
    some = callers()
    more = np.where(some.goal == NOTHING, slot_values("route")[0], some.goal)
    respond(some, system("offer", offer=more))
    assert some.content.all()
    some = callers()
    assert_says(respond(some, system("offer", offer=wrong_in(some.goal, "to"))), NO, some.goal, "to")
    assert not some.served.any()


@pytest.mark.parametrize(("wants", "expected"), [(1.0, YES), (0.0, NO)])
def test_the_next_bus(wants: float, expected: int) -> None:
    some = callers(another_bus=wants)
    assert (respond(some, system("next_bus")).answer == NO).all()  # without a right one before
    respond(some, system("offer", offer=some.goal))
    assert (respond(some, system("next_bus"), turn=2).answer == expected).all()


GOAL = callers().goal
PLACE = GOAL[:, group_column("from")]


@pytest.mark.parametrize(
    ("said", "repeated", "cost"),
    [
        (system("request", request="from"), False, 1.0),
        (system("request", request="from"), True, 9.0),
        (system("confirm", explicit=PLACE), False, 1.0),
        (system("confirm", explicit=wrong(PLACE)), False, 1.25),
        (system("implicit_confirm", implicit=wrong(PLACE)), False, 1.5),
        (system("offer", offer=wrong(GOAL)), False, 5.0),
        (system("offer", offer=GOAL), True, 0.0),  # who has a bus has time
    ],
)
def test_what_wears_patience_out(said: SystemTurn, repeated: bool, cost: float) -> None:
    annoyances = {"wrong_confirmation": 0.25, "wrong_implicit": 0.5, "wrong_offer": 4.0, "repetition": 8.0}
    some = callers(**{f"annoyed_by_{name}": turns for name, turns in annoyances.items()})
    for turn in (1, 2):
        respond(some, said, turn, repeated)
        assert (some.worn == turn * cost).all()


def test_who_has_no_patience_left_hangs_up_without_a_word() -> None:
    """Patience is a gamma: mean m, variance m^2 / shape."""
    some = callers(patience=12.0, patience_shape=9.0)
    assert some.patience.mean() == pytest.approx(12.0, abs=4 * 4.0 / np.sqrt(N))
    assert some.patience.std() == pytest.approx(4.0, rel=0.15)
    some.worn = some.patience - 1.0 + 0.01 * EVEN
    answer = respond(some, system("request", request="from"))
    assert np.array_equal(answer.hangs_up, EVEN)
    assert (answer.value[EVEN] == NOTHING).all()
    assert (answer.value[~EVEN] != NOTHING).any()


def test_some_leave_when_they_got_their_bus() -> None:
    some = callers(leaves_content=1.0, patience=1e6)
    offer = np.where(EVEN[:, None], some.goal, wrong(some.goal))
    assert np.array_equal(respond(some, system("offer", offer=offer)).hangs_up, EVEN)
    endless = callers(leaves_content=1.0)
    assert not respond(endless, system("offer", offer=endless.goal)).hangs_up.any()


def changed(some: Callers, said: SystemTurn, turn: int) -> tuple[Bools, Utterance]:
    before = some.goal.copy()
    answer = respond(some, said, turn)
    return some.goal != before, answer


def test_goals_change_at_a_rate_and_are_told_at_once() -> None:
    """Not before they are told, nor once a bus is found."""
    some = callers(changes_goal=0.5)
    assert not changed(some, system("request", request="from"), 1)[0].any()
    before = some.goal.copy()
    some.mentioned = before != NOTHING
    changes, answer = changed(some, system("request", request="from"), 2)
    assert changes.sum(axis=1).max() == 1
    # The group is drawn before it is known to be told.
    assert_share(changes.any(axis=1), 0.5 * (before != NOTHING).mean())
    assert np.array_equal(answer.value[changes], some.goal[changes])
    assert np.array_equal(BUS.slot[some.goal[changes]], BUS.slot[before[changes]])
    respond(some, system("offer", offer=some.goal), 3)
    content = some.content.copy()
    assert content.any()
    assert not changed(some, system("next_bus"), 4)[0][content].any()


def test_weary_callers_may_ask_to_start_over() -> None:
    some = callers(starts_over=1.0, patience=10.0)
    some.worn = np.where(EVEN, 0.5 * some.patience, 0.5 * some.patience - 1.5)
    answer = respond(some, system("request", request="from"))
    assert np.array_equal(answer.command == RESTART, EVEN & ~answer.hangs_up)
    assert not respond(callers(), system("request", request="from")).command.any()


def test_who_cannot_be_helped_wants_to_go_elsewhere() -> None:
    """If the apology is about where the caller wants to go; else it is objected to as an offer is."""
    some, column = callers(annoyed_by_wrong_offer=4.0), group_column("to")
    offer = some.goal.copy()
    offer[EVEN, group_column("route")] = NOTHING  # a route left out is no other place
    changes, answer = changed(some, system("canthelp", offer=offer), 1)
    assert changes[:, column].all()
    assert not np.delete(changes, column, axis=1).any()
    assert_says(answer, NO, some.goal, "to")
    assert not some.content.any()
    some = callers(annoyed_by_wrong_offer=4.0)
    changes, answer = changed(some, system("canthelp", offer=wrong_in(some.goal, "to")), 1)
    assert not changes.any()
    assert_says(answer, NO, some.goal, "to")
    assert (some.worn == 5.0).all()
