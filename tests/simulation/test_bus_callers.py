"""Callers of the bus world: the town's values, goals as set, what is said to each act, what tires them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from extrinsic.arrays import Ints
from extrinsic.corpus.formats.dstc1 import value_of_pairs
from extrinsic.simulation.bus_callers import Callers, GoalSettings, draw_goals
from extrinsic.simulation.bus_system import SystemSettings, SystemTurn
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
