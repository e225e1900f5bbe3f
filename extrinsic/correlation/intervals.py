"""Intervals of a statistic: from its resamples (percentile and BCa, Efron 1987), and by the jackknife."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.errors import UsageError, did_you_mean

IntervalMethod = Literal["percentile", "bca"]
METHODS: tuple[IntervalMethod, ...] = ("percentile", "bca")

LARGEST = 1.0 - 1e-12
"""A coefficient of at least this is 1."""

TAILS = 0.25
"""By how much the kurtosis of the influence lowers the degrees of freedom."""

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


@dataclass(frozen=True, eq=False)
class Jackknife:
    """value (...,): atanh(r), or the statistic itself.   influence (n_units, ...): its mean is 0.

    error (...,): its standard error, sqrt(sum of influence^2 / (n (n - 1))).
    """

    value: Floats
    influence: Floats
    error: Floats

    @property
    def scaled(self) -> Floats:
        """The influence, so that its squares sum to that of the error."""
        n = len(self.influence)
        return np.asarray(self.influence / np.sqrt(n * (n - 1)))


def jackknife_influence(observed: Floats, left_out: Floats, is_correlation: bool = True) -> Jackknife:
    """The influence (n - 1)(mean of z - z_i) of every unit on z = atanh(r), z_i without the unit (Tukey
    1958).

    A coefficient of 1 is taken as 1 - 1e-12. NaN where the statistic is undefined without a unit.

    >>> r = jackknife_influence(np.array(0.5), np.array([0.4, 0.5, 0.6]))
    >>> print(f"{r.value:.3f} {r.error:.3f}")
    0.549 0.156
    """
    n = len(left_out)
    whole, each = np.asarray(observed, dtype=np.float64), left_out
    if is_correlation:
        whole, each = (np.arctanh(np.clip(r, -LARGEST, LARGEST)) for r in (whole, each))
    influence = (n - 1) * (each.mean(axis=0) - each)
    return Jackknife(whole, influence, np.sqrt((influence**2).sum(axis=0) / (n * (n - 1))))


def effective_degrees(influence: Floats) -> float:
    """Degrees of freedom of Student's t for errors estimated from influence (n_units, n_statistics).

    (n - 1) / (1 + TAILS kappa), kappa: the mean excess kurtosis of the influence (Fisher's G2), at least 0.
    A variance estimated from n draws is as sure as that of (n - 1) / (1 + kappa / 2) normal ones; half of
    that is what simulated studies call for, since heavy tails stretch the value and its error together.

    >>> print(f"{effective_degrees(np.array([[-1.0], [-1.0], [0.0], [1.0], [1.0]])):.2f}")
    4.00
    """
    n = len(influence)
    squares = (influence**2).mean(axis=0)
    varies = squares > 0.0
    if n < 4 or not varies.any():
        return float(max(n - 1, 1))
    plain = (influence[:, varies] ** 4).mean(axis=0) / squares[varies] ** 2 - 3.0
    kurtosis = (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * plain + 6.0)
    return float(max((n - 1) / (1.0 + TAILS * max(float(kurtosis.mean()), 0.0)), 1.0))


def joint_degrees(parts: Sequence[Floats]) -> float:
    """Of the sum of the variances of crossed samples (Welch and Satterthwaite); parts: `Jackknife.scaled`."""
    return float(degrees_of_more(parts, np.ones(1))[0])


def degrees_of_more(parts: Sequence[Floats], times: Floats) -> Floats:
    """(k,) the same, if the first sample had so many times (k,) its units, and these were like the others."""
    n, degrees = len(parts[0]), [effective_degrees(part) for part in parts]
    grown = degrees[0] * (n * times - 1.0) / (n - 1.0)
    variances = [float((part**2).sum()) for part in parts]
    if len(parts) == 1 or not sum(variances):
        return np.asarray(grown)
    fallen, others = variances[0] / times, list(zip(variances[1:], degrees[1:], strict=True))
    spread = fallen**2 / grown + sum(variance**2 / own for variance, own in others)
    return np.asarray((fallen + sum(variances[1:])) ** 2 / spread)


def jackknife_interval(
    observed: Floats,
    left_out: Floats,
    level: float = 0.95,
    is_correlation: bool = True,
    heavy_tails: bool = False,
) -> Interval:
    """tanh(atanh(r) -+ t se): the error of atanh(r) by leaving out units, t with n - 1 degrees of freedom.

    In simulated studies this covers the truth more faithfully than resampling does (experiments/uncertainty).
    A statistic that is not a correlation is not transformed. Shapes as for `interval`. heavy_tails: with the
    `effective_degrees` of every statistic instead, which is never narrower.

    >>> low, high = jackknife_interval(np.array(0.5), np.array([0.4, 0.5, 0.6, 0.5]))
    >>> print(f"{low:.3f} {high:.3f}")
    0.023 0.791
    """
    from scipy.special import stdtrit

    n = len(left_out)
    if is_correlation:  # 1 but for its last bits is 1
        left_out, observed = np.round(left_out, 12), np.round(observed, 12)
    with np.errstate(divide="ignore", invalid="ignore"):
        made = jackknife_influence(observed, left_out, is_correlation)
        degrees: Floats = np.full(np.shape(observed), n - 1.0)
        if heavy_tails:
            flat = made.influence.reshape(n, -1, 1)
            each = [effective_degrees(flat[:, i]) for i in range(flat.shape[1])]
            degrees = np.reshape(each, np.shape(observed))
        half = stdtrit(degrees, (1.0 + level) / 2.0) * made.error
        ends = made.value - half, made.value + half
        low, high = (np.tanh(end) if is_correlation else end for end in ends)
    # A coefficient of 1, with or without a unit, has no finite error.
    at_end = is_correlation & ((np.abs(observed) >= LARGEST) | (np.abs(left_out) >= LARGEST).any(axis=0))
    undefined = ~np.isfinite(made.error) | ~np.isfinite(made.value) | at_end
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
