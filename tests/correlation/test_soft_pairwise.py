"""Soft pairwise accuracy, pair by pair and resample by resample."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.resampling import Sample, draw_trackers
from extrinsic.correlation.soft_pairwise import preferences, soft_pairwise_accuracy
from tests.verdict.drawing import draw, draw_study

N = 20


def sample_of(ties: bool = False) -> Sample:
    metrics, targets = draw_study(1, 3, 2, 5)
    targets = np.concatenate([targets, draw(2, *targets.shape)])
    drawn = metrics + draw(3, N, *metrics.shape), targets + draw(4, N, *targets.shape)
    return Sample(metrics, targets, *(np.round(part) if ties else part for part in drawn))


def preference(drawn: Floats, i: int, j: int) -> float:
    """Of values (n_resamples, n_trackers)."""
    return sum(1.0 if row[i] > row[j] else 0.5 if row[i] == row[j] else 0.0 for row in drawn) / len(drawn)


def accuracy(sample: Sample, metric: int, target: int, trackers: list[int]) -> float:
    """Over pairs of places that hold different trackers."""
    apart = []
    for one, other in combinations(trackers, 2):
        if one != other:
            for dataset in range(sample.metrics.shape[1]):
                m = preference(sample.metrics_drawn[:, metric, dataset], one, other)
                t = preference(sample.targets_drawn[:, target, dataset], one, other)
                apart.append(abs(m - t))
    return 1.0 - float(np.mean(apart))


def chosen_trackers() -> Ints:
    return draw_trackers("study", 5, 6, 0)


@pytest.mark.parametrize("ties", [False, True])
def test_pair_by_pair(ties: bool) -> None:
    sample = sample_of(ties)
    trackers = chosen_trackers()
    observed, resampled = soft_pairwise_accuracy(sample, trackers)
    assert (observed.shape, resampled.shape) == ((3, 2), (6, 3, 2))
    for metric, target in np.ndindex(3, 2):
        assert observed[metric, target] == pytest.approx(accuracy(sample, metric, target, list(range(5))))
        for row, chosen in enumerate(trackers.tolist()):
            assert resampled[row, metric, target] == pytest.approx(accuracy(sample, metric, target, chosen))


def test_preferences() -> None:
    """Above in one of four resamples, equal in two: 1/4 + 2/8."""
    drawn = np.array([[3.0, 1.0], [2.0, 2.0], [0.0, 5.0], [1.0, 1.0]])[:, None, None, :]
    assert preferences(drawn)[0, 0].tolist() == [[0.5, 0.5], [0.5, 0.5]]
    drawn[2] = 0.0
    assert preferences(drawn)[0, 0].tolist() == [[0.5, 0.625], [0.375, 0.5]]


def test_a_metric_as_sure_as_the_target() -> None:
    """Any growing function of the target is as sure; the opposite is as wrong as can be where it is sure."""
    targets, targets_drawn = draw(5, 1, 2, 4), draw(6, N, 1, 2, 4)
    sample = Sample(np.exp(targets), targets, np.exp(targets_drawn), targets_drawn)
    observed, resampled = soft_pairwise_accuracy(sample, draw_trackers("study", 4, 5, 0))
    assert observed[0, 0] == 1.0
    assert resampled == pytest.approx(1.0)
    sure = np.arange(4.0) + np.zeros((N, 1, 2, 4))
    against, _ = soft_pairwise_accuracy(
        Sample(-sure[0], sure[0], -sure, sure), draw_trackers("study", 4, 5, 0)
    )
    assert against[0, 0] == 0.0


def test_no_value_no_accuracy() -> None:
    sample = sample_of()
    whole, _ = soft_pairwise_accuracy(sample, chosen_trackers())
    for values, drawn in ((sample.metrics, sample.metrics_drawn), (sample.targets, sample.targets_drawn)):
        values[1, 0, 2] = drawn[:, 1, 0, 2] = np.nan
    observed, resampled = soft_pairwise_accuracy(sample, chosen_trackers())
    missing = [[False, True], [True, True], [False, True]]
    assert np.isnan(observed).tolist() == missing
    assert (np.isnan(resampled) == missing).all()
    assert observed[[0, 2], 0] == pytest.approx(whole[[0, 2], 0])


def test_a_difference_by_rounding_is_a_tie() -> None:
    drawn = draw(5, 6, 2, 2, 4)
    drawn[..., 1] = drawn[..., 0] * (1.0 + 1e-15)
    assert (preferences(drawn)[..., 0, 1] == 0.5).all()
