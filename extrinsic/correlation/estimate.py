"""A statistic with its values on every resample and without each unit in turn, for intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.resampling import Resampled, Sample, resampled_correlations
from extrinsic.correlation.verdicts import Verdict, side_of_zero
from extrinsic.errors import UsageError
from extrinsic.verdict.coefficients import Coefficient, Scope, correlate
from extrinsic.verdict.intervals import Interval, interval, jackknife_interval, without_each


@dataclass(frozen=True, eq=False)
class Estimate:
    """value (...,), resampled (n_resamples, ...), left_out (n_units, ...) or None where it is not needed.

    is_correlation: whether the jackknife is taken of atanh(value); not for a difference of correlations.

    >>> resampled = np.linspace(0.1, 0.9, 41)
    >>> r = Estimate(np.array(0.5), resampled, left_out=np.array([0.45, 0.5, 0.52, 0.54]))
    >>> low, high = r.interval()
    >>> print(f"{low:.2f} {high:.2f} {r.verdict()}")
    0.12 0.88 above
    >>> half = Estimate(np.array(0.5), np.full(41, 0.5), left_out=np.full(4, 0.5))
    >>> str(r.minus(half).verdict())
    'not resolved'
    """

    value: Floats
    resampled: Floats
    left_out: Floats | None = None
    is_correlation: bool = True

    @property
    def error(self) -> Floats:
        """(...,) the standard error: the standard deviation over resamples that have a value."""
        return np.asarray(np.nanstd(self.resampled, axis=0, ddof=1))

    def take(self, *index: int | slice | list[int] | Ints) -> Estimate:
        """The part at `index` of the value's axes; resamples and units are kept."""
        below: Any = (slice(None), *index)
        left_out = None if self.left_out is None else self.left_out[below]
        return Estimate(self.value[index], self.resampled[below], left_out, self.is_correlation)

    def minus(self, other: Estimate) -> Estimate:
        """The difference, on the same resamples and without the same units."""
        return combine(np.subtract, self, other, is_correlation=False)

    def interval(self, level: float = 0.95) -> Interval:
        """From the resamples; low and high (...,)."""
        return interval(self.value, self.resampled, level)

    def jackknife(self, level: float = 0.95) -> Interval:
        """By leaving out units: of atanh(value) for a correlation, else of the value; low and high (...,)."""
        if self.left_out is None:
            raise UsageError("a jackknife needs the estimate without each unit", expected="left_out")
        return jackknife_interval(self.value, self.left_out, level, self.is_correlation)

    def verdict(self, level: float = 0.95) -> Verdict:
        """The side of 0 on which both intervals of a single number lie (only one if left_out is None)."""
        if np.size(self.value) != 1:
            raise UsageError(
                "a verdict needs a single number: select it with take()", found=f"{np.shape(self.value)}"
            )
        intervals = [self.interval(level)]
        if self.left_out is not None:
            intervals.append(self.jackknife(level))
        return side_of_zero(*intervals)


def combine(
    function: Callable[..., Floats], *estimates: Estimate, is_correlation: bool | None = None
) -> Estimate:
    """Apply `function` to the values, to the resamples and to the left-out values.

    function: of as many arrays as there are estimates, each (..., shape of a value); it must leave the
    leading axis alone. left_out is None where one estimate has none. is_correlation: default: if all are.

    >>> several = Estimate(np.array([0.2, 0.4, 0.9]), np.zeros((5, 3)))
    >>> mean = combine(lambda r: r[..., [0, 1]].mean(axis=-1), several)
    >>> print(f"{mean.value:.1f}", mean.resampled.shape)
    0.3 (5,)
    """
    parts = [estimate.left_out for estimate in estimates]
    defined = [part for part in parts if part is not None]
    if is_correlation is None:
        is_correlation = all(estimate.is_correlation for estimate in estimates)
    return Estimate(
        np.asarray(function(*(estimate.value for estimate in estimates))),
        np.asarray(function(*(estimate.resampled for estimate in estimates))),
        np.asarray(function(*defined)) if len(defined) == len(parts) else None,
        is_correlation,
    )


def correlation_estimate(
    sample: Sample,
    coefficient: Coefficient,
    scope: Scope,
    way: Resampled,
    drawn: Ints,
    leave_out: bool = True,
) -> Estimate:
    """Every metric with every target: value (n_metrics, n_targets), left_out without each tracker.

    way, drawn (n_resamples, n_trackers): as for `resampled_correlations`. leave_out: whether the jackknife
    will be needed; it costs as many correlations as there are trackers.

    >>> metrics = np.array([[[1.0, 2.0, 3.0, 4.0]]])
    >>> sample = Sample.of_trackers(metrics, metrics**2, n_resamples=2)
    >>> drawn = np.array([[0, 1, 1, 3], [0, 1, 2, 3]])
    >>> r = correlation_estimate(sample, "pearson", "within", "trackers", drawn)
    >>> print(f"{r.value[0, 0]:.3f}", r.resampled.shape, r.left_out.shape)
    0.984 (2, 1, 1) (4, 1, 1)
    """
    left_out = without_each(sample.metrics, sample.targets, coefficient, scope) if leave_out else None
    return Estimate(
        correlate(sample.metrics, sample.targets, coefficient, scope),
        resampled_correlations(sample, coefficient, scope, way, drawn),
        left_out,
        is_correlation=coefficient != "pairwise",
    )
