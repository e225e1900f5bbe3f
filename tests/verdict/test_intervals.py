"""Intervals against numpy's quantiles, and the formula of the jackknife by hand."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.errors import UsageError
from extrinsic.verdict.intervals import interval, jackknife_interval
from tests.verdict.drawing import draw


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_percentiles_are_numpys(level: float) -> None:
    resampled = draw(1, 137, 3, 2)
    low, high = interval(np.zeros((3, 2)), resampled, level=level)
    expected = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2], axis=0)
    assert low == pytest.approx(expected[0])
    assert high == pytest.approx(expected[1])


def test_a_single_number() -> None:
    """Of 0, 1, ..., 40 the share .025 lies at place 1 and .975 at place 39."""
    low, high = interval(np.float64(7.0), np.random.default_rng(0).permutation(41).astype(np.float64))
    assert (low, high) == pytest.approx((1.0, 39.0))


def test_resamples_without_a_statistic_are_left_out() -> None:
    resampled = draw(2, 100, 3)
    resampled[:50, 0] = resampled[:51, 1] = np.nan
    resampled[::7, 2] = np.nan
    low, high = interval(np.zeros(3), resampled)
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [False, True, False]
    expected = np.nanquantile(resampled, [0.025, 0.975], axis=0)
    assert low[[0, 2]] == pytest.approx(expected[0, [0, 2]])
    assert high[[0, 2]] == pytest.approx(expected[1, [0, 2]])


def test_no_interval_of_no_statistic() -> None:
    low, high = interval(np.array([np.nan, 0.0]), draw(3, 50, 2))
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [True, False]


def test_what_makes_no_sense() -> None:
    for level in (0.0, 1.0, 95.0):
        with pytest.raises(UsageError, match="between 0 and 1"):
            interval(np.float64(0.0), draw(15, 9), level=level)


def test_jackknife_by_hand() -> None:
    """Three trackers: atanh(r) of 0, .5, -.5 without each; t with 2 degrees of freedom is 4.3027."""
    z = np.arctanh(0.5)
    half = 4.302652729911275 * np.sqrt(2 / 3 * 2 * z**2)
    found = jackknife_interval(np.array(0.2), np.array([0.0, 0.5, -0.5]))
    assert found == pytest.approx((np.tanh(np.arctanh(0.2) - half), np.tanh(np.arctanh(0.2) + half)))
