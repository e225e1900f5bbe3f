"""Pairwise accuracy with ties: every threshold tried, pair by pair."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from extrinsic.arrays import Floats
from extrinsic.correlation.tie_calibration import GROUPINGS, tie_calibration
from extrinsic.errors import UsageError
from tests.verdict.drawing import draw


def pairs(metric: Floats, target: Floats, grouping: str) -> list[tuple[float, float]]:
    cells = [(s, i) for s in range(metric.shape[0]) for i in range(metric.shape[1])]
    cells = [cell for cell in cells if not np.isnan(metric[cell] + target[cell])]
    kept = {"item": lambda a, b: a[1] == b[1], "system": lambda a, b: a[0] == b[0], "none": lambda a, b: True}
    return [
        (round(metric[a] - metric[b], 10), target[a] - target[b])
        for a, b in combinations(cells, 2)
        if kept[grouping](a, b)
    ]


def accuracy(differences: list[tuple[float, float]], epsilon: float) -> float:
    right = 0
    for m, t in differences:
        said = 0.0 if abs(m) <= epsilon + 1e-9 else np.sign(m)
        right += said == np.sign(t)
    return right / len(differences)


@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize("seed", range(3))
def test_every_threshold(grouping: str, seed: int) -> None:
    target = draw(seed, 3, 7, ties=True)
    metric = np.round(target + 0.8 * draw(seed + 50, 3, 7), 2)
    metric[0, 1] = np.nan
    target[2, 3] = np.nan
    differences = pairs(metric, target, grouping)
    made = tie_calibration(metric, target, grouping)  # type: ignore[arg-type]
    tried = {epsilon: accuracy(differences, epsilon) for epsilon in {0.0, *(abs(m) for m, _ in differences)}}
    assert made.n_pairs == len(differences)
    assert made.accuracy == pytest.approx(max(tried.values()))
    assert accuracy(differences, made.epsilon) == pytest.approx(made.accuracy)
    assert made.without_ties == pytest.approx(tried[0.0])
    assert made.tied == pytest.approx(np.mean([t == 0 for _, t in differences]))


def test_nothing_to_compare() -> None:
    made = tie_calibration(np.array([[1.0, 2.0]]), np.array([[1.0, 2.0]]), "item")
    assert made.n_pairs == 0
    assert np.isnan(made.accuracy)


def test_bad_input() -> None:
    with pytest.raises(UsageError, match="did you mean"):
        tie_calibration(np.zeros((2, 2)), np.zeros((2, 2)), "itme")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="both alike"):
        tie_calibration(np.zeros((2, 2)), np.zeros((2, 3)))
