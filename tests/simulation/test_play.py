"""Live play: what it refuses of a policy, a tracker or draws, and callers by the state of a generator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

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
