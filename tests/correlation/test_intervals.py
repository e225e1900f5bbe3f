"""Intervals against numpy's quantiles, scipy's BCa on the same resamples, and the formula by hand."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from extrinsic.arrays import Floats
from extrinsic.correlation.intervals import interval, jackknife_interval, quantiles
from extrinsic.errors import UsageError
from tests.correlation.drawing import draw


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


def test_quantiles_of_nothing() -> None:
    low, high = quantiles(np.full((5, 2), np.nan), np.full((2, 2), 0.5))
    assert np.isnan([low, high]).all()


def jackknife(data: Floats, statistic: Any) -> Floats:
    return np.array([statistic(np.delete(data, left)) for left in range(len(data))])


@pytest.mark.parametrize("statistic", [np.mean, np.var, np.median, lambda x, axis=-1: np.max(x, axis=axis)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_bca_is_scipys(statistic: Any, level: float) -> None:
    """Skewed data, so that both corrections count."""
    data = np.random.default_rng(4).exponential(size=25)
    expected = stats.bootstrap(
        (data,),
        statistic,
        n_resamples=499,
        confidence_level=level,
        method="BCa",
        rng=np.random.default_rng(5),
        vectorized=True,
    )
    left_out = jackknife(data, statistic)
    if np.ptp(left_out) == 0.0:
        pytest.fail("this statistic tells nothing of the acceleration")
    found = interval(statistic(data), expected.bootstrap_distribution, left_out, "bca", level)
    assert found == pytest.approx(tuple(expected.confidence_interval))


def test_bca_by_hand() -> None:
    """Of resamples 0, ..., 40 with 14 observed, 14 lie below and one is equal: a share of 14.5 / 41.

    Jackknife 1, 2, 6: the mean is 3, away 2, 1, -3; the cubes sum to 8 + 1 - 27, the squares to 14.
    """
    normal = NormalDist()
    bias = normal.inv_cdf(14.5 / 41)
    acceleration = -18 / (6 * 14**1.5)
    reach = [bias + normal.inv_cdf(share) for share in (0.025, 0.975)]
    shares = [normal.cdf(bias + z / (1 - acceleration * z)) for z in reach]
    found = interval(np.float64(14.0), np.arange(41.0), np.array([1.0, 2.0, 6.0]), "bca")
    assert found == pytest.approx((40 * shares[0], 40 * shares[1]))
    # Without the jackknife only the bias is corrected.
    without = [40 * normal.cdf(2 * bias + normal.inv_cdf(share)) for share in (0.025, 0.975)]
    assert interval(np.float64(14.0), np.arange(41.0), None, "bca") == pytest.approx(tuple(without))


def test_bca_of_many_at_once() -> None:
    observed, resampled, left_out = draw(6, 3, 2) / 4, draw(7, 60, 3, 2), draw(8, 9, 3, 2)
    low, high = interval(observed, resampled, left_out, "bca")
    for place in np.ndindex(3, 2):
        each = (slice(None), *place)
        assert interval(observed[place], resampled[each], left_out[each], "bca") == pytest.approx(
            (low[place], high[place])
        )


@pytest.mark.parametrize("observed", [-9.0, 9.0])
def test_bca_of_a_statistic_beyond_all_resamples(observed: float) -> None:
    resampled = np.sort(draw(9, 200))
    low, high = interval(np.float64(observed), resampled, draw(10, 12), "bca")
    assert resampled[0] <= low <= high <= resampled[-1]
    # All that is left is the end that lies nearest.
    assert (low if observed > 0 else high) == pytest.approx(resampled[-1 if observed > 0 else 0], abs=0.5)


def test_bca_where_there_is_no_jackknife() -> None:
    """A flat metric among others: no coefficient, on no resample, without no tracker. Nobody is warned."""
    observed, resampled, left_out = draw(11, 2) / 4, draw(12, 60, 2), draw(13, 9, 2)
    expected = interval(observed[1:], resampled[:, 1:], left_out[:, 1:], "bca")
    observed[0] = np.nan
    resampled[:, 0] = left_out[:, 0] = np.nan
    low, high = interval(observed, resampled, left_out, "bca")
    assert np.isnan([low[0], high[0]]).all()
    assert (low[1], high[1]) == pytest.approx((expected[0][0], expected[1][0]))


def test_bca_where_the_jackknife_is_flat() -> None:
    """As of a perfect rank correlation: the same as without."""
    resampled = draw(14, 60)
    low, high = interval(np.float64(0.1), resampled, None, "bca")
    found = interval(np.float64(0.1), resampled, np.full(9, 0.5), "bca")
    assert found == pytest.approx((float(low), float(high)))


@given(
    values=st.lists(st.integers(-1_000, 1_000), min_size=41, max_size=41),
    observed=st.integers(-1_000, 1_000),
    method=st.sampled_from(["percentile", "bca"]),
)
def test_a_wider_level_holds_the_narrower(values: list[int], observed: int, method: Any) -> None:
    resampled = np.array(values, dtype=np.float64)
    narrow = interval(np.float64(observed), resampled, None, method, 0.8)
    wide = interval(np.float64(observed), resampled, None, method, 0.95)
    assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]
    assert min(values) <= wide[0]
    assert wide[1] <= max(values)


@given(values=st.lists(st.floats(-0.99, 0.99), min_size=41, max_size=41))
def test_percentiles_follow_a_change_of_scale(values: list[float]) -> None:
    """Of 41 resamples the shares fall on one each: atanh of the ends are the ends of atanh."""
    resampled = np.array(values)
    low, high = interval(np.float64(0.0), resampled)
    assert interval(np.float64(0.0), np.arctanh(resampled)) == pytest.approx(
        (np.arctanh(low), np.arctanh(high))
    )


def test_what_makes_no_sense() -> None:
    with pytest.raises(UsageError, match=r"no interval 'bcaa'.*bca"):
        interval(np.float64(0.0), draw(15, 9), method="bcaa")  # type: ignore[arg-type]
    for level in (0.0, 1.0, 95.0):
        with pytest.raises(UsageError, match="between 0 and 1"):
            interval(np.float64(0.0), draw(15, 9), level=level)


def test_jackknife_by_hand() -> None:
    """Three trackers: atanh(r) of 0, .5, -.5 without each; t with 2 degrees of freedom is 4.3027."""
    z = np.arctanh(0.5)
    half = 4.302652729911275 * np.sqrt(2 / 3 * 2 * z**2)
    found = jackknife_interval(np.array(0.2), np.array([0.0, 0.5, -0.5]))
    assert found == pytest.approx((np.tanh(np.arctanh(0.2) - half), np.tanh(np.arctanh(0.2) + half)))
