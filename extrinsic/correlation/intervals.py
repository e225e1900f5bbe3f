"""Intervals of a statistic from its resamples: percentile and BCa (Efron 1987)."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.errors import UsageError, did_you_mean

IntervalMethod = Literal["percentile", "bca"]
METHODS: tuple[IntervalMethod, ...] = ("percentile", "bca")

FEWEST = 0.5
"""The least share of resamples on which the statistic must be defined."""


class Interval(NamedTuple):
    """low and high (...,), of the shape of the statistic; NaN where the interval is undefined."""

    low: Floats
    high: Floats


def interval(
    observed: Floats,
    resampled: Floats,
    left_out: Floats | None = None,
    method: IntervalMethod = "percentile",
    level: float = 0.95,
) -> Interval:
    """Low and high, each of the shape of `observed` (...,), from resampled (n_resamples, ...).

    left_out (n_units, ...): the statistic without each unit in turn, for the acceleration of BCa; without
    it the acceleration is 0 and only the bias is corrected.
    """
    if method not in METHODS:
        raise UsageError(f"there is no interval {method!r}; {did_you_mean(method, METHODS)}")
    if not 0.0 < level < 1.0:
        raise UsageError("the level of an interval must lie between 0 and 1", found=str(level))
    tails = np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    shares = np.broadcast_to(tails.reshape(2, *[1] * np.ndim(observed)), (2, *np.shape(observed)))
    if method == "bca":
        shares = _corrected(np.asarray(observed), resampled, left_out, tails)
    low, high = quantiles(resampled, shares)
    missing = np.isnan(observed) | (np.isnan(resampled).mean(axis=0) > 1.0 - FEWEST)
    return Interval(np.where(missing, np.nan, low), np.where(missing, np.nan, high))


def jackknife_interval(
    observed: Floats, left_out: Floats, level: float = 0.95, is_correlation: bool = True
) -> Interval:
    """tanh(atanh(r) -+ t se): the error of atanh(r) by leaving out units, t with n - 1 degrees of freedom.

    In simulated studies this covers the truth more faithfully than resampling does (experiments/uncertainty).
    A statistic that is not a correlation is not transformed. Shapes as for `interval`.
    """
    from scipy.special import stdtrit

    n = len(left_out)
    forth, back = (np.arctanh, np.tanh) if is_correlation else (np.asarray, np.asarray)
    with np.errstate(divide="ignore", invalid="ignore"):
        each, centre = forth(left_out), forth(observed)
        error = np.sqrt((n - 1) / n * ((each - each.mean(axis=0)) ** 2).sum(axis=0))
        half = stdtrit(n - 1, (1.0 + level) / 2.0) * error
        low, high = back(centre - half), back(centre + half)
    # A coefficient of 1, with or without a unit, has no finite error.
    undefined = ~np.isfinite(error) | ~np.isfinite(centre)
    return Interval(np.where(undefined, np.nan, low), np.where(undefined, np.nan, high))


def quantiles(values: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Two quantiles (linear) of values (n, ...) along the first axis, NaN left out; shares (2, ...)."""
    ordered = np.sort(values, axis=0)  # NaN go last
    count = (~np.isnan(values)).sum(axis=0)
    position = np.where(np.isnan(shares), 0.0, shares) * np.maximum(count - 1, 0)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(count - 1, 0))
    bottom, top = np.take_along_axis(ordered, below, 0), np.take_along_axis(ordered, above, 0)
    low, high = bottom + (position - below) * (top - bottom)
    return low, high


def _corrected(observed: Floats, resampled: Floats, left_out: Floats | None, tails: Floats) -> Floats:
    """(2, ...) the shares of the resamples at which BCa puts the ends of the interval."""
    from scipy.special import ndtr, ndtri

    count = (~np.isnan(resampled)).sum(axis=0)
    below = (resampled < observed).sum(axis=0) + 0.5 * (resampled == observed).sum(axis=0)
    # Kept off 0 and 1, where the correction would be infinite.
    bias = ndtri(np.clip(below / np.maximum(count, 1), 0.5 / (count + 1), 1.0 - 0.5 / (count + 1)))
    acceleration = np.zeros(np.shape(observed))
    if left_out is not None:
        defined = ~np.isnan(left_out)
        mean = np.where(defined, left_out, 0.0).sum(axis=0) / np.maximum(defined.sum(axis=0), 1)
        away = np.where(defined, mean - left_out, 0.0)
        squares = (away**2).sum(axis=0)
        # Below this they differ by rounding only.
        cubes = np.where(squares > 1e-20, (away**3).sum(axis=0), 0.0)
        acceleration = cubes / (6.0 * np.where(squares > 1e-20, squares, 1.0) ** 1.5)
    reach = bias + ndtri(tails).reshape(2, *[1] * np.ndim(observed))
    return np.asarray(ndtr(bias + reach / np.maximum(1.0 - acceleration * reach, 1e-6)))
