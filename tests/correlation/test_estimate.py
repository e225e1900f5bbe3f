"""Estimates against the plain steps: correlate, on resamples, without each tracker, quantiles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from extrinsic.arrays import Floats
from extrinsic.correlation.estimate import Estimate, combine, correlation_estimate
from extrinsic.correlation.resampling import Resampled, Sample, draw_trackers
from extrinsic.correlation.verdicts import Verdict
from extrinsic.errors import UsageError
from extrinsic.verdict.coefficients import COEFFICIENTS, Coefficient, correlate
from extrinsic.verdict.intervals import interval, jackknife_interval
from tests.verdict.drawing import draw, draw_study, flattened

N_RESAMPLES, N_TRACKERS = 40, 7


def panel() -> Sample:
    """Three metrics and two targets on two datasets, with dialogs resampled."""
    metrics, target = draw_study(1, 3, 2, N_TRACKERS)
    targets = np.concatenate([target, draw(2, *target.shape)])
    noise = [0.3 * draw(seed, N_RESAMPLES, *values.shape) for seed, values in ((3, metrics), (4, targets))]
    return Sample(metrics, targets, metrics + noise[0], targets + noise[1])


def pearson(metrics: Floats, targets: Floats) -> Floats:
    """(n_metrics, n_targets) by scipy, point by point."""
    return np.array(
        [
            [stats.pearsonr(flattened(m, "within"), flattened(t, "within")).statistic for t in targets]
            for m in metrics
        ]
    )


@pytest.mark.parametrize("way", ["dialogs", "trackers", "both"])
def test_as_by_the_plain_steps(way: Resampled) -> None:
    sample = panel()
    drawn = draw_trackers("x", N_TRACKERS, N_RESAMPLES, 5)
    estimate = correlation_estimate(sample, "pearson", "within", way, drawn)
    assert estimate.value == pytest.approx(pearson(sample.metrics, sample.targets))
    for number in range(N_RESAMPLES):
        chosen = np.arange(N_TRACKERS) if way == "dialogs" else drawn[number]
        metrics = sample.metrics if way == "trackers" else sample.metrics_drawn[number]
        targets = sample.targets if way == "trackers" else sample.targets_drawn[number]
        expected = pearson(metrics[..., chosen], targets[..., chosen])
        assert estimate.resampled[number] == pytest.approx(expected)
    assert estimate.left_out is not None
    for left in range(N_TRACKERS):
        expected = pearson(np.delete(sample.metrics, left, -1), np.delete(sample.targets, left, -1))
        assert estimate.left_out[left] == pytest.approx(expected)


def test_the_row_of_a_correlation_and_of_a_difference_to_the_last_bit() -> None:
    """What the experiments computed, each for itself: intervals of r by atanh, of differences without."""
    sample = panel()
    drawn = draw_trackers("x", N_TRACKERS, N_RESAMPLES, 5)
    estimate = correlation_estimate(sample, "pearson", "within", "both", drawn)
    value, resampled, left_out = estimate.value, estimate.resampled, estimate.left_out
    assert left_out is not None
    first = estimate.take(0, 1)
    for level in (0.9, 0.95):
        assert first.interval(level) == interval(value[0, 1], resampled[:, 0, 1], level=level)
        assert first.jackknife(level) == jackknife_interval(value[0, 1], left_out[:, 0, 1], level, True)
        apart = first.minus(estimate.take(2, 1))
        expected = value[0, 1] - value[2, 1]
        assert apart.value == expected
        assert apart.interval(level) == interval(
            expected, resampled[:, 0, 1] - resampled[:, 2, 1], level=level
        )
        assert apart.jackknife(level) == jackknife_interval(
            expected, left_out[:, 0, 1] - left_out[:, 2, 1], level, False
        )


def test_of_trackers_alone() -> None:
    """No resampled dialogs are needed, and none are stored."""
    metrics, targets = draw_study(8, 2, 2, 6)
    drawn = draw_trackers("x", 6, 20, 1)
    sample = Sample.of_trackers(metrics, targets, 20)
    estimate = correlation_estimate(sample, "pearson", "within", "trackers", drawn, leave_out=False)
    expected = [correlate(metrics[..., row], targets[..., row], "pearson", "within") for row in drawn]
    assert estimate.resampled == pytest.approx(np.stack(expected))
    assert estimate.left_out is None
    assert not np.shares_memory(estimate.resampled, metrics)
    assert sample.metrics_drawn.strides[0] == 0


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_a_share_of_pairs_is_no_correlation(coefficient: Coefficient) -> None:
    estimate = correlation_estimate(panel(), coefficient, "within", "both", draw_trackers("x", 7, 40, 5))
    assert estimate.is_correlation == (coefficient != "pairwise")
    assert estimate.take(0).is_correlation == estimate.is_correlation
    assert not estimate.take(0, 0).minus(estimate.take(0, 1)).is_correlation


def test_take_keeps_resamples_and_units() -> None:
    estimate = Estimate(draw(1, 4, 3), draw(2, 9, 4, 3), draw(3, 5, 4, 3))
    part = estimate.take([2, 0])
    assert (part.value == estimate.value[[2, 0]]).all()
    assert (part.resampled == estimate.resampled[:, [2, 0]]).all()
    assert part.left_out is not None
    assert part.left_out.shape == (5, 2, 3)
    assert estimate.take(slice(None), 1).resampled.shape == (9, 4)


def test_the_error_is_the_spread_of_the_resamples_that_have_a_value() -> None:
    resampled = draw(1, 50, 2)
    resampled[:7, 0] = np.nan
    error = Estimate(np.zeros(2), resampled).error
    assert error == pytest.approx([resampled[7:, 0].std(ddof=1), resampled[:, 1].std(ddof=1)])


def test_verdicts_need_both_intervals() -> None:
    above, wide = np.linspace(0.1, 0.3, 41), np.array([-0.9, 0.9, 0.1])
    near = np.array([0.19, 0.2, 0.21])
    assert Estimate(np.array(0.2), above).verdict() is Verdict.ABOVE
    assert Estimate(np.array(0.2), above, near).verdict() is Verdict.ABOVE
    assert Estimate(np.array(0.2), above, wide).verdict() is Verdict.NOT_RESOLVED
    assert Estimate(np.array(-0.2), -above, -near).verdict() is Verdict.BELOW
    assert Estimate(np.array(np.nan), above, near).verdict() is Verdict.NOT_RESOLVED
    # Of two sides of 0 by two intervals, neither.
    assert Estimate(np.array(0.2), -above, near).verdict() is Verdict.NOT_RESOLVED


def test_combine() -> None:
    first, second = Estimate(draw(1, 3), draw(2, 9, 3), draw(3, 5, 3)), Estimate(draw(4, 3), draw(5, 9, 3))
    mean = combine(lambda *parts: np.mean(parts, axis=0), first, second)
    assert mean.value == pytest.approx((first.value + second.value) / 2)
    assert mean.resampled == pytest.approx((first.resampled + second.resampled) / 2)
    assert mean.left_out is None
    assert mean.is_correlation
    assert combine(np.abs, first, is_correlation=False).left_out is not None
    assert not combine(np.abs, replace(first, is_correlation=False)).is_correlation


def test_what_makes_no_sense() -> None:
    estimate = Estimate(np.zeros(2), np.zeros((5, 2)))
    with pytest.raises(UsageError, match="without each unit"):
        estimate.jackknife()
    with pytest.raises(UsageError, match=r"single number.*\n*.*\(2,\)"):
        estimate.verdict()
