"""Leaving trackers out one by one, against doing so by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from extrinsic.correlation.influence import influence
from extrinsic.verdict.coefficients import COEFFICIENTS, Coefficient, correlate
from extrinsic.verdict.intervals import leverage, without_each
from tests.verdict.drawing import draw, draw_study, flattened


def test_pearson_without_each() -> None:
    metrics, targets = draw_study(1, 2, 3, 5)
    found = without_each(metrics, targets, "pearson", "within")
    assert found.shape == (5, 2, 1)
    for left, metric in np.ndindex(5, 2):
        x, y = (np.delete(values, left, axis=1) for values in (metrics[metric], targets[0]))
        expected = stats.pearsonr(flattened(x, "within"), flattened(y, "within")).statistic
        assert found[left, metric, 0] == pytest.approx(expected)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_what_is_told_of_it(coefficient: Coefficient) -> None:
    metrics, targets = draw_study(2, 3, 2, 6)
    targets = np.concatenate([targets, draw(3, *targets.shape)])
    observed = correlate(metrics, targets, coefficient, "pooled")
    left_out = without_each(metrics, targets, coefficient, "pooled")
    found = influence(observed, left_out)
    for place in np.ndindex(3, 2):
        each = [float(row[place]) for row in left_out]
        moves = max(range(6), key=lambda tracker: abs(each[tracker] - observed[place]))
        assert (found.lowest[place], found.highest[place]) == (min(each), max(each))
        assert (found.tracker[place], found.without[place]) == (moves, each[moves])


def test_an_outlier_by_hand() -> None:
    """Without the fifth tracker 1, -1, 1, -1 against 1, 1, -1, -1 leaves nothing of r."""
    metrics = np.array([[[1.0, -1.0, 1.0, -1.0, 10.0]]])
    targets = np.array([[[1.0, 1.0, -1.0, -1.0, 10.0]]])
    observed = correlate(metrics, targets, "pearson", "within")
    found = influence(observed, without_each(metrics, targets, "pearson", "within"))
    assert observed[0, 0] > 0.9
    assert (found.tracker[0, 0], found.without[0, 0]) == (4, pytest.approx(0.0))
    assert found.lowest[0, 0] == pytest.approx(0.0)


def test_without_a_coefficient() -> None:
    """First: none at all. Second: none only without the first tracker. Third: none without any."""
    observed = np.array([[np.nan, 0.5, 0.5]])
    left_out = np.array([[[0.1, np.nan, np.nan]], [[0.2, 0.4, np.nan]], [[0.3, 0.9, np.nan]]])
    found = influence(observed, left_out)
    assert found.tracker.tolist() == [[-1, 2, -1]]
    for values, expected in ((found.lowest, 0.4), (found.highest, 0.9), (found.without, 0.9)):
        assert values[0] == pytest.approx(np.array([np.nan, expected, np.nan]), nan_ok=True)


def test_a_metric_that_only_one_tracker_moves() -> None:
    """Flat without it: there is no coefficient then, and the tracker told is one of the others."""
    metrics, targets = np.zeros((1, 1, 5)), draw(4, 1, 1, 5)
    metrics[0, 0, 2] = 1.0
    left_out = without_each(metrics, targets, "pearson", "within")
    assert np.isnan(left_out[:, 0, 0]).tolist() == [False, False, True, False, False]
    found = influence(correlate(metrics, targets, "pearson", "within"), left_out)
    assert found.tracker[0, 0] in (0, 1, 3, 4)
    assert not np.isnan(found.without[0, 0])


def test_leverage_tracker_by_tracker() -> None:
    metrics, targets = draw_study(4, 2, 3, 5)
    metrics[1, :, 2] += 50.0
    made = leverage(metrics, targets, "within")
    for m in range(2):
        shares = []
        for values in (metrics[m], targets[0]):
            away = values - values.mean(axis=1, keepdims=True)
            shares.append((away**2).sum(axis=0) / (away**2).sum())
        assert made[m, 0] == pytest.approx(np.mean(shares, axis=0))
    assert made[1, 0].argmax() == 2
    assert np.isnan(leverage(np.ones((1, 2, 4)), draw(1, 1, 2, 4), "within")).all()
