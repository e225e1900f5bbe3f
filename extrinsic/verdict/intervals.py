"""How sure a coefficient is: without each system (the jackknife), and by permuting the systems' targets.

p-values of many metrics at once: Holm (1979), and Westfall and Young (1993), which does not pay for metrics
that say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import factorial
from typing import NamedTuple

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.errors import UsageError
from extrinsic.panel import rng_of
from extrinsic.verdict.coefficients import Coefficient, Scope, correlate, numbers_per_row, unit_vectors

FEWEST_SYSTEMS = 5
"""With fewer nothing is decided, and no interval is given."""

LARGEST = 1.0 - 1e-12
"""A coefficient of at least this is 1."""

TAILS = 0.25
"""By how much the kurtosis of the influence lowers the degrees of freedom."""

FEWEST = 0.5
"""The least share of resamples on which the statistic must be defined."""

CARRIED = 0.5
"""A tracker with at least this part of the variance of metric and target carries their correlation."""

SAME = 1e-9
"""Statistics nearer than this count as equal, so that rounding does not decide a p-value."""

BLOCK = 2_000_000
"""Numbers permuted at once."""


class Interval(NamedTuple):
    """low and high (...,), of the shape of the statistic; NaN where the interval is undefined."""

    low: Floats
    high: Floats


def interval(observed: Floats, resampled: Floats, level: float = 0.95) -> Interval:
    """Percentiles (linear) of resampled (n_resamples, ...), of the shape of `observed`; NaN are left out."""
    if not 0.0 < level < 1.0:
        raise UsageError("the level of an interval must lie between 0 and 1", found=str(level))
    ordered = np.sort(resampled, axis=0)  # NaN go last
    last = np.maximum((~np.isnan(resampled)).sum(axis=0) - 1, 0)
    shares = np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0]).reshape(2, *[1] * np.ndim(observed))
    position = shares * last
    below = np.floor(position).astype(np.int64)
    bottom, top = (np.take_along_axis(ordered, at, 0) for at in (below, np.minimum(below + 1, last)))
    low, high = bottom + (position - below) * (top - bottom)
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
    degrees = [effective_degrees(part) for part in parts]
    variances = [float((part**2).sum()) for part in parts]
    if len(parts) == 1 or not sum(variances):
        return degrees[0]
    return sum(variances) ** 2 / sum(v**2 / own for v, own in zip(variances, degrees, strict=True))


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


def without_each(metrics: Floats, targets: Floats, coefficient: Coefficient, scope: Scope) -> Floats:
    """(n_trackers, n_metrics, n_targets) the coefficient without each tracker in turn."""
    n_trackers = metrics.shape[-1]
    return np.stack(
        [
            correlate(np.delete(metrics, left, -1), np.delete(targets, left, -1), coefficient, scope)
            for left in range(n_trackers)
        ]
    )


def leverage(metrics: Floats, targets: Floats, scope: Scope) -> Floats:
    """(n_metrics, n_targets, n_trackers) each tracker's part of the sums of squares of metric and target.

    The mean of both shares: about 1 / n for n trackers that are alike; near 1 the correlation is that of one
    tracker against the rest (Belsley, Kuh and Welsch 1980). NaN where nothing varies.

    >>> values = np.array([[[0.0, 0.1, -0.1, 5.0]]])
    >>> print(np.round(leverage(values, values, "within")[0, 0], 2))
    [0.08 0.07 0.1  0.75]
    """
    axes = -1 if scope == "within" else (-2, -1)
    shares = []
    for values in (metrics, targets):
        squares = ((values - values.mean(axis=axes, keepdims=True)) ** 2).sum(axis=-2)
        total = squares.sum(axis=-1, keepdims=True)
        shares.append(np.divide(squares, total, out=np.full_like(squares, np.nan), where=total > 0.0))
    return np.asarray(0.5 * (shares[0][:, None, :] + shares[1][None, :, :]))


def carriers(shares: Floats) -> Ints:
    """(n_metrics, n_targets) the tracker that has CARRIED of the variance or more, -1 where none has.

    shares: `leverage`. In simulated studies (of an earlier version) the jackknife's intervals are wide there
    and hold what they say (99.1 % of them), so none is withheld; but one tracker decides what they say, and
    whoever prints one should name it. Of a population that has a degenerate tracker now and then, it is the
    studies without one whose intervals are too narrow (74.6 % hold), and nothing in them shows it.

    >>> values = np.array([[[0.0, 0.1, -0.1, 5.0]]])
    >>> carriers(leverage(values, values, "within")).item(), carriers(np.array([[[0.3, 0.4, 0.3]]])).item()
    (3, -1)
    """
    known = np.nan_to_num(shares)
    return np.asarray(np.where(known.max(axis=-1) >= CARRIED, known.argmax(axis=-1), -1))


def draw_permutations(identity: str, n_trackers: int, most: int, seed: int) -> Ints:
    """(n, n_trackers) permutations: every one but the identity if there are at most `most`, else draws."""
    if factorial(n_trackers) - 1 <= most:
        return np.array(list(permutations(range(n_trackers)))[1:], dtype=np.int64).reshape(-1, n_trackers)
    rng = rng_of("permutations", identity, seed)
    return np.argsort(rng.random((most, n_trackers)), axis=1)


class PermutationTest(NamedTuple):
    """p (n_metrics, n_targets): two-sided (count + 1) / (n + 1), NaN where the coefficient is undefined.

    The count is of permutations whose coefficient is at least as far from chance. With all permutations drawn
    this is the exact p-value.   p_max_t: the same, for all metrics of a target at once: `max_t_p`.
    """

    p: Floats
    p_max_t: Floats


def permutation_test(
    metrics: Floats, targets: Floats, coefficient: Coefficient, scope: Scope, drawn: Ints
) -> PermutationTest:
    """Every metric with every target, the trackers of the target permuted by `drawn` (n, n_trackers).

    >>> metrics = np.array([[[1.0, 2.0, 3.0, 4.0]], [[1.0, 2.0, 4.0, 3.0]]])
    >>> test = permutation_test(metrics, metrics[:1], "pearson", "within", draw_permutations("", 4, 23, 0))
    >>> [f"{p:.3f}" for p in test.p[:, 0]], [f"{p:.3f}" for p in test.p_max_t[:, 0]]
    (['0.083', '0.333'], ['0.167', '0.333'])
    """
    observed = correlate(metrics, targets, coefficient, scope)
    null = np.empty((len(drawn), *observed.shape))
    step = max(1, BLOCK // max(1, numbers_per_row(metrics, coefficient) * len(targets)))
    has_vectors = coefficient in ("pearson", "spearman")
    if has_vectors:
        vectors, goals = (unit_vectors(values, coefficient, scope) for values in (metrics, targets))
    for begin in range(0, len(drawn), step):
        rows = slice(begin, begin + step)
        if has_vectors:
            r = vectors @ permuted_vectors(goals.reshape(targets.shape), drawn[rows])
            null[rows] = np.moveaxis(r.reshape(len(metrics), -1, len(targets)), 0, 1)
        else:
            permuted = np.moveaxis(targets[..., drawn[rows]], -2, 0)
            null[rows] = correlate(metrics[None], permuted, coefficient, scope)
    centre = 0.5 if coefficient == "pairwise" else 0.0
    far, null = np.abs(observed - centre), np.abs(null - centre)
    count = (null >= far - SAME).sum(axis=0)
    p = np.where(np.isnan(far), np.nan, (count + 1.0) / (len(null) + 1.0))
    largest = [max_t_p(far[:, k], null[:, :, k]) for k in range(far.shape[1])]
    return PermutationTest(p, np.stack(largest, axis=1))


def permuted_vectors(goals: Floats, drawn: Ints) -> Floats:
    """(n_points, n n_targets) the vectors (n_targets, n_datasets, n_trackers), permuted by `drawn`."""
    permuted = np.moveaxis(goals, 0, -1)[:, drawn.T]
    return permuted.reshape(goals.shape[1] * goals.shape[2], -1)


def holm(p: Floats) -> Floats:
    """(n,) p-values that keep the chance of even one false finding; NaN are ignored and stay NaN.

    Sorted, p_(i) becomes max over j <= i of (n - j + 1) p_(j), at most 1.

    >>> holm(np.array([0.01, np.nan, 0.04, 0.02])).tolist()
    [0.03, nan, 0.04, 0.04]
    """
    p = np.asarray(p, dtype=np.float64)
    adjusted = np.full(p.shape, np.nan)
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(p[defined], kind="stable")]
    factors = len(order) - np.arange(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p[order]), 1.0)
    return adjusted


def max_t_p(observed: Floats, null: Floats) -> Floats:
    """(n,) p-values that keep the chance of even one false finding, by the largest of all statistics.

    observed (n,): how far each statistic lies from nothing.   null (n_draws, n): the same where there is
    nothing (permuted, or resampled and centred), drawn together. From the largest down, p_(i) = (1 + how many
    draws have a maximum over (i), (i + 1), ... of at least observed_(i)) / (1 + n_draws), never below p_(i -
    1): Westfall and Young (1993). Unlike Holm's, it does not pay for statistics that say the same. NaN are
    ignored and stay NaN.

    >>> null = np.array([[0.1, 0.2], [0.3, 0.6], [0.8, 0.1]])
    >>> max_t_p(np.array([0.7, 0.5]), null).tolist()
    [0.5, 0.5]
    """
    adjusted = np.full(observed.shape, np.nan)
    defined = np.flatnonzero(~np.isnan(observed))
    order = defined[np.argsort(-observed[defined], kind="stable")]
    # A draw on which a statistic is undefined says nothing for it.
    drawn = np.nan_to_num(null[:, order], nan=-np.inf)
    largest = np.maximum.accumulate(drawn[:, ::-1], axis=1)[:, ::-1]
    count = (largest >= observed[order] - SAME).sum(axis=0)
    adjusted[order] = np.maximum.accumulate((count + 1.0) / (len(null) + 1.0))
    return adjusted
