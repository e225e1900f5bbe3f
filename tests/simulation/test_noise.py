"""What noise does to trackers: nothing at all without it, and the more of it the worse they are."""

from __future__ import annotations

import numpy as np
import pytest

import extrinsic
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.registry import TRACKERS
from extrinsic.simulation import Play
from extrinsic.trackers.track import track
from tests.simulation.worlds import QUIET, expert_play, world

SANE = [name for name in TRACKERS.names() if not TRACKERS.get(name).degenerate]


def accuracy(played: Play, output: TrackerOutput, component: str = "joint", schedule: int = 3) -> float:
    scores = extrinsic.score(played.corpus, output, metrics=["accuracy"], schedules=[schedule])
    (row,) = [row for row in scores.rows if row.component == component]
    assert row.n > played.corpus.n_dialogs / 3
    assert row.value is not None
    return row.value


@pytest.fixture(scope="module")
def steady() -> Play:
    return expert_play(world(QUIET, {"changes_goal": 0.0}), 300, 21)


@pytest.fixture(scope="module")
def wavering() -> Play:
    return expert_play(world(QUIET, {"changes_goal": 0.05}), 300, 21)


@pytest.mark.parametrize("name", SANE)
def test_a_perfect_recogniser_makes_every_sane_tracker_perfect(steady: Play, name: str) -> None:
    assert accuracy(steady, track(TRACKERS.get(name), steady.corpus, name)) == 1.0


@pytest.mark.parametrize("name", SANE)
def test_and_nearly_so_where_callers_change_their_minds(wavering: Play, name: str) -> None:
    """One that never lets go of what was once heard is left with two values, or with None beside them."""
    assert accuracy(wavering, track(TRACKERS.get(name), wavering.corpus, name)) > 0.9


def test_a_degenerate_one_is_not() -> None:
    played = expert_play(world(QUIET), 100, 21)
    assert accuracy(played, track(TRACKERS.get("last_turn"), played.corpus, "last_turn")) < 0.9


@pytest.fixture(scope="module")
def louder() -> list[Play]:
    return [expert_play(world({"noise": noise}), 600, 22) for noise in (0.0, 0.5, 1.0, 1.5, 2.0)]


@pytest.mark.parametrize("name", ["baseline", "focus"])
@pytest.mark.parametrize("component", ["joint", "from.desc"])
def test_more_noise_less_accuracy(louder: list[Play], name: str, component: str) -> None:
    tracker = TRACKERS.get(name)
    found = [accuracy(played, track(tracker, played.corpus, name), component) for played in louder]
    assert found == sorted(found, reverse=True)
    assert (np.diff(found) < 0).all()
    assert found[0] == 1.0


def test_more_noise_fewer_buses_found(louder: list[Play]) -> None:
    completed = [played.completed.mean() for played in louder]
    assert (np.diff(completed) < 0).all()
