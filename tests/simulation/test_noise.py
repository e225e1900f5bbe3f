"""What noise does to trackers: nothing at all without it, and the more of it the worse they are."""

from __future__ import annotations

import numpy as np
import pytest

import extrinsic
from extrinsic.registry import TRACKERS
from extrinsic.simulation import Play
from extrinsic.trackers.track import track
from tests.simulation.worlds import expert_play, world


def accuracy(played: Play, name: str, component: str = "joint") -> float:
    output = track(TRACKERS.get(name), played.corpus, name)
    scores = extrinsic.score(played.corpus, output, metrics=["accuracy"], schedules=[3])
    (row,) = [row for row in scores.rows if row.component == component]
    assert row.n > played.corpus.n_dialogs / 3
    assert row.value is not None
    return row.value


@pytest.fixture(scope="module")
def louder() -> list[Play]:
    return [expert_play(world({"noise": noise}), 600, 22) for noise in (0.0, 0.5, 1.0, 1.5, 2.0)]


@pytest.mark.parametrize("name", ["baseline", "focus"])
@pytest.mark.parametrize("component", ["joint", "from.desc"])
def test_more_noise_less_accuracy_and_fewer_buses(louder: list[Play], name: str, component: str) -> None:
    accuracies = [accuracy(played, name, component) for played in louder]
    assert accuracies[0] == 1.0
    assert (np.diff(accuracies) < 0).all()
    assert (np.diff([played.completed.mean() for played in louder]) < 0).all()
