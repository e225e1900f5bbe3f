"""Live play: what it refuses, callers by the state of a generator; numbers by identity, in any company."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from extrinsic.arrays import Floats
from extrinsic.errors import UsageError
from extrinsic.registry import TRACKERS
from extrinsic.simulation import ExpertTracker, Moment, play
from extrinsic.simulation.chance import Chance
from tests.simulation.worlds import PREDICATES, Allowed, Always, first_lists


class Faulty:
    """A policy that always requests, but for what is done to its probabilities."""

    def __init__(self, spoil: Any) -> None:
        self.spoil = spoil

    def probabilities(self, moment: Moment) -> Floats:
        return np.asarray(self.spoil(Always("request").probabilities(moment)))


def all_on(name: str) -> Any:
    return lambda chances: np.eye(len(PREDICATES))[[PREDICATES.index(name)] * len(chances)]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (all_on("next_bus"), "not allowed"),
        (all_on("hello"), "not allowed"),
        (all_on("restart"), "not allowed"),
        (lambda chances: chances[:, :-1], "wrong shape"),
        (lambda chances: chances[:-1], "wrong shape"),
        (lambda chances: chances[0], "wrong shape"),
        (lambda chances: chances * np.nan, "sum to 1"),
        (lambda chances: chances * 0.5, "sum to 1"),
        (lambda chances: 2.0 * chances - np.eye(chances.shape[1])[0], "at least 0"),
    ],
)
def test_a_faulty_policy_is_refused(spoil: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        play(Faulty(spoil), ExpertTracker(), 5, 1)


@pytest.mark.parametrize(
    ("tracker", "n_dialogs", "rng", "message"),
    [
        (ExpertTracker(), 0, 1, "at least one dialog"),
        (ExpertTracker(), 5, Chance.of(3, "x"), "another number of dialogs"),
        (TRACKERS.get("logistic"), 5, 1, r"cannot track; call tracker.fit\(\[corpus\]\) first"),
        (object(), 5, 1, "cannot track$"),
    ],
)
def test_what_cannot_be_played_is_refused(tracker: Any, n_dialogs: int, rng: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        play(Allowed(), tracker, n_dialogs, rng)


def test_a_generator_gives_callers_by_its_state() -> None:
    def answers(rng: np.random.Generator) -> list[Any]:
        return first_lists(play(Allowed(), ExpertTracker(), 20, rng))

    first, again = np.random.default_rng(3), np.random.default_rng(3)
    assert answers(first) == answers(again) != answers(np.random.default_rng(4))
    assert answers(first) != answers(np.random.default_rng(3))  # the first has moved on


N = 20_000
SMALLEST_P = 1e-6
"""Of some forty p-values; a generator with a flaw has far smaller ones."""


def test_dialogs_draw_uniform_numbers() -> None:
    draws = Chance.of(N, "uniform").uniform("a purpose", 0)
    assert draws.shape == (N,)
    assert ((draws >= 0) & (draws < 1)).all()
    assert stats.kstest(draws, "uniform").pvalue > SMALLEST_P
    assert len(np.unique(draws)) == N


@pytest.mark.parametrize("bins", [2, 10, 256])
def test_positions_draw_uniform_numbers(bins: int) -> None:
    """Of one dialog, over positions and turns."""
    chance = Chance.of(1, "positions")
    draws = np.concatenate([chance.uniform("x", turn, (1000,)).ravel() for turn in range(20)])
    counts = np.bincount((draws * bins).astype(int), minlength=bins)
    assert stats.chisquare(counts).pvalue > SMALLEST_P


def test_neighbouring_dialogs_positions_turns_purposes_and_seeds_are_independent() -> None:
    """Correlations of 20,000 pairs: their standard deviation is .007."""
    chance = Chance.of(N, 1, "ds1")
    columns = [
        chance.uniform("a", 0),
        chance.uniform("b", 0),
        chance.uniform("a", 1),
        np.roll(chance.uniform("a", 0), 1),
        *chance.uniform("c", 0, (3,)).T,
        Chance.of(N, 2, "ds1").uniform("a", 0),
        Chance.of(N, 1, "ds2").uniform("a", 0),
    ]
    for (i, first), (j, second) in combinations(enumerate(columns), 2):
        assert abs(np.corrcoef(first, second)[0, 1]) < 0.035, (i, j)
        joint, *_ = np.histogram2d(first, second, bins=8, range=[[0, 1], [0, 1]])
        assert stats.chisquare(joint.ravel()).pvalue > SMALLEST_P, (i, j)


def test_a_dialog_keeps_its_dice_however_many_there_are() -> None:
    few, many = Chance.of(3, 7, "x"), Chance.of(1000, 7, "x")
    chosen = np.array([7, 2, 2])
    for chance, dialogs in ((few, np.arange(3)), (many.take(chosen), chosen)):
        assert np.array_equal(chance.key, many.key[dialogs])
        assert np.array_equal(chance.uniform("p", 4, (2, 3)), many.uniform("p", 4, (2, 3))[dialogs])


def test_the_same_position_has_the_same_number() -> None:
    chance = Chance.of(2, "x")
    all_positions = chance.uniform("p", 3, (50,))
    positions = np.array([[4, 4, 49], [0, 7, 4]])
    found = chance.uniform_at("p", 3, positions)
    assert np.array_equal(found, np.take_along_axis(all_positions, positions, axis=1))
    assert found[0, 0] != found[1, 2]  # another dialog


def test_numbers_are_those_of_every_machine() -> None:
    """Golden values: a change here changes every corpus ever simulated."""
    chance = Chance.of(2, 2014, "ds1", "train")
    assert chance.uniform("policy", 3).tolist() == [0.9919789057860563, 0.28999585949295825]
