"""What callers want: shares as set, from one place to another."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.arrays import Ints
from extrinsic.simulation.bus.bus_settings import GoalSettings
from extrinsic.simulation.bus.goals import another_value, draw_goals
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.utterance import NOTHING
from tests.simulation.worlds import BUS, GROUPS, group_column

N = 20_000
SLOTS = BUS.domain.slot_names


@pytest.fixture(scope="module")
def goals() -> Ints:
    return draw_goals(GoalSettings(), BUS, Chance.of(N, "goals"))


def share(flags: np.ndarray) -> float:
    return float(flags.mean())


def near(expected: float) -> object:
    """Within four standard deviations of a share of N."""
    return pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / N))


def test_every_value_is_of_its_group(goals: Ints) -> None:
    for column in range(len(GROUPS)):
        wanted = goals[:, column][goals[:, column] != NOTHING]
        assert (BUS.group[BUS.slot[wanted]] == column).all()


@pytest.mark.parametrize("side", ["from", "to"])
def test_kinds_of_places(goals: Ints, side: str) -> None:
    slot = BUS.slot[goals[:, group_column(side)]]
    assert share(slot == SLOTS.index(f"{side}.desc")) == near(0.60)
    assert share(slot == SLOTS.index(f"{side}.neighborhood")) == near(0.25)
    assert share(slot == SLOTS.index(f"{side}.monument")) == near(0.15)


@pytest.mark.parametrize(("group", "expected"), [("route", 0.35), ("date", 0.30), ("time", 0.90)])
def test_optional_wishes(goals: Ints, group: str, expected: float) -> None:
    assert share(goals[:, group_column(group)] != NOTHING) == near(expected)


def test_places_are_always_wanted_and_never_the_same(goals: Ints) -> None:
    start, end = goals[:, group_column("from")], goals[:, group_column("to")]
    assert (start != NOTHING).all()
    assert (end != NOTHING).all()
    assert (BUS.elsewhere[start, 0] != end).all()


def test_nobody_travels_to_where_he_is_even_in_a_town_of_few_places() -> None:
    """With monuments only, 43 of them, one caller in 43 would."""
    settings = GoalSettings(stop=0.0, neighborhood=0.0)
    goals = draw_goals(settings, BUS, Chance.of(N, "monuments"))
    start, end = goals[:, group_column("from")], goals[:, group_column("to")]
    assert set(BUS.slot[start]) == {SLOTS.index("from.monument")}
    assert (BUS.elsewhere[start, 0] != end).all()


def test_values_of_a_slot_are_equally_likely(goals: Ints) -> None:
    routes = goals[:, group_column("route")]
    counts = np.bincount(routes[routes != NOTHING])
    expected = (routes != NOTHING).sum() / 100
    assert ((counts - expected) ** 2 / expected).sum() < 160  # chi-square of 99 degrees: p = 1e-4


def test_the_usual_is_asked_for_more(goals: Ints) -> None:
    times = goals[:, group_column("time")]
    now = BUS.usual[times] & (times != NOTHING)
    n_times = int(np.diff(BUS.begin)[SLOTS.index("time")])
    assert share(now) == near(0.9 * (0.15 + 0.85 / n_times))


@pytest.mark.parametrize(("setting", "group"), [("route", "route"), ("date", "date"), ("time", "time")])
def test_shares_of_nobody_and_everybody(setting: str, group: str) -> None:
    for value, expected in ((0.0, 0.0), (1.0, 1.0)):
        goals = draw_goals(GoalSettings(**{setting: value}), BUS, Chance.of(500, "some"))
        assert share(goals[:, group_column(group)] != NOTHING) == expected


def test_one_setting_does_not_change_the_other_wishes() -> None:
    chance = Chance.of(500, "some")
    usual, no_routes = (draw_goals(GoalSettings(route=share), BUS, chance) for share in (0.35, 0.0))
    others = [column for column in range(len(GROUPS)) if column != group_column("route")]
    assert np.array_equal(usual[:, others], no_routes[:, others])


def test_another_value_is_another_one_of_the_slot() -> None:
    values = np.arange(len(BUS))
    for draw in (0.0, 0.5, 1 - 2**-53):
        other = another_value(BUS, values, np.full(len(values), draw))
        assert (other != values).all()
        assert np.array_equal(BUS.slot[other], BUS.slot)
