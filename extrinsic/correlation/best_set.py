"""Which metrics may be the best one, and which ranks each may have: confidence sets by trackers resampled.

With z = atanh(r) and se_jk the jackknife's error of z_j - z_k over trackers, the claim that metric k is the
best is rejected where

    T_k = max over j of (z_j - z_k) / se_jk

is large beside its distribution over resampled trackers: each tracker's influence on every z, over all
datasets at once, is multiplied by its own standard normal number (Chernozhukov, Chetverikov and Kato 2013).
The metrics that are not rejected are the set: a truly best metric is in it with the chance `level`. Romano
and Wolf (2005) go on without the metrics already shown to be better, which gives how many are better at
least, and in the same way how many are worse (if each of them is also shown to have a better one): the ranks
k may have (Mogstad, Romano, Shaikh and Wilhelm 2024, the marginal ones). Hansen's model confidence set (2011)
is a relative.

Where trackers are crossed with another sample (the generators of a swap study), the influence of its units is
added with normal numbers of its own, and errors add up.

Two guards, with constants by simulated studies (experiments/uncertainty). Few trackers with heavy tails make
se_jk too small too often: a quantile of the normal distribution is replaced by Student's, with
`effective_degrees`. Two metrics that are one have nearly no se_jk: it is at least FLOOR of the larger error
of the two.

How many trackers would rule a metric out (`needed`) is extrapolated from the same test: the part of se_jk
that comes from trackers falls as 1 / sqrt(n), and Student's degrees of freedom grow with n. In simulated
studies (30 metrics of known correlations in three orders, 4 datasets, 60 studies a cell) as many trackers
were added as would rule out half of the set. A figure that is right does so in half of the studies; this one
did in 15 to 38 % of those of 6 trackers, 33 to 40 % of 8, 37 to 50 % of 10, and 45 to 59 % of 12 to 30. Below
12 the largest of many differences is mostly luck, and no figure is given (FEWEST_TO_EXTRAPOLATE). Where tails
are heavy (t with 4 degrees of freedom) it was 27 to 42 % from 12 on: the figure is too low. An earlier
formula held a statistic that Student's quantile judges against the normal one: with 8 trackers it asked for 1
to 5 more (medians) where 8 to 17 were needed, and was right in 2 to 7 % of the studies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.errors import UsageError
from extrinsic.panel import rng_of
from extrinsic.verdict.intervals import (
    FEWEST_SYSTEMS,
    FEWEST_TO_EXTRAPOLATE,
    degrees_of_more,
    jackknife_influence,
    joint_degrees,
)

FLOOR = 0.1
"""The error of a difference of two z is at least this share of the larger error of both."""

TIMES = np.geomspace(1.0, 1000.0, 200)
"""With how many times the trackers a metric may be ruled out; more are as good as none."""

SAME = 1e-9


@dataclass(frozen=True, eq=False)
class BestSet:
    """All (n_metrics,); a metric without a correlation has NaN, False and ranks of 0.

    low, high: intervals of r that hold for all metrics at once with the chance `level`, so that the one that
    came first may be read off.   p: of the claim that the metric is the best.   in_set: whether p is above 1
    - level.
    rank: by r, 1 for the highest, ties share the best.   rank_low, rank_high: the true rank is at least and
    at most this; each end holds with the chance `level`, for each metric on its own. rank_low is 1 in the set
    only.
    needed: with how many trackers in all the claim that it is the best would be rejected, if correlations and
    influences are as estimated; NaN where none would do, where it is rejected already, or where the trackers
    are too few to tell.
    undecided: why there is no set; empty where there is one.
    """

    r: Floats
    low: Floats
    high: Floats
    p: Floats
    in_set: Bools
    rank: Ints
    rank_low: Ints
    rank_high: Ints
    needed: Floats
    undecided: str = ""

    @property
    def size(self) -> int:
        return int(self.in_set.sum())


def best_set(
    r: Floats,
    left_out: Floats,
    n_draws: int,
    identity: str,
    seed: int,
    level: float = 0.95,
    crossed: Sequence[Floats] = (),
) -> BestSet:
    """Of metrics with correlations r (n_metrics,), and without each tracker left_out (n_trackers, n_metrics).

    crossed: of every further sample, r without each of its units (n_units, n_metrics).

    >>> from extrinsic.verdict.intervals import without_each
    >>> from extrinsic.verdict.coefficients import correlate
    >>> rng = np.random.default_rng(0)
    >>> target = rng.normal(size=(1, 2, 20))
    >>> metrics = target + np.array([0.3, 0.3, 3.0])[:, None, None] * rng.normal(size=(3, 2, 20))
    >>> r = correlate(metrics, target, "pearson", "within")[:, 0]
    >>> left_out = without_each(metrics, target, "pearson", "within")[..., 0]
    >>> chosen = best_set(r, left_out, 999, "example", seed=0)
    >>> chosen.in_set.tolist(), chosen.rank_low.tolist(), chosen.rank_high.tolist()
    ([True, True, False], [1, 1, 3], [2, 2, 3])
    """
    samples = (left_out, *crossed)
    for sample in samples:
        if sample.shape[1:] != r.shape:
            raise UsageError(
                "left_out must have the metrics of r",
                expected=f"(n_trackers, {len(r)})",
                found=str(sample.shape),
            )
    n_trackers = len(left_out)
    if n_trackers < FEWEST_SYSTEMS:
        text = f"not decided: {n_trackers} trackers, at least {FEWEST_SYSTEMS} are needed"
        return _undecided(r, text)
    finite = [np.isfinite(sample).all(axis=0) for sample in samples]
    defined = np.flatnonzero(np.isfinite(r) & np.all(finite, axis=0))
    if not len(defined):
        return _undecided(r, "not decided: no metric has a correlation")
    rng = rng_of("best set", identity, seed)
    draws = [rng.normal(size=(n_draws, len(sample))) for sample in samples]
    compared = _Comparison(r[defined], [sample[:, defined] for sample in samples], draws)
    alpha = 1.0 - level
    made = _undecided(r, "")
    made.low[defined], made.high[defined] = compared.simultaneous(level)
    tests = [compared.stepdown(metric, alpha, 1.0) for metric in range(len(defined))]
    # [k, j]: whether j is shown to be better than k; and k better than j, by both families it belongs to.
    better = np.array([test.rejected for test in tests])
    worse = np.array([compared.stepdown(metric, alpha, -1.0).rejected for metric in range(len(defined))])
    made.p[defined] = [test.p for test in tests]
    made.in_set[defined] = ~better.any(axis=1)
    if n_trackers >= FEWEST_TO_EXTRAPOLATE:
        made.needed[defined] = [
            np.nan if test.rejected.any() else compared.needed(metric, test.critical)
            for metric, test in enumerate(tests)
        ]
    made.rank_low[defined] = 1 + better.sum(axis=1)
    made.rank_high[defined] = len(defined) - (worse & better.T).sum(axis=1)
    return made


def _undecided(r: Floats, reason: str) -> BestSet:
    """No set, ranks as observed; the arrays are filled in where there is one."""
    empty, ranks = np.full(len(r), np.nan), np.zeros(len(r), dtype=np.int64)
    rounded = np.round(r, 9)
    rank = np.where(np.isnan(r), 0, 1 + (rounded[None, :] > rounded[:, None]).sum(axis=1))
    inside = np.zeros(len(r), dtype=bool)
    low, high, p, needed = (empty.copy() for _ in range(4))
    return BestSet(r, low, high, p, inside, rank, ranks, ranks.copy(), needed, reason)


class _Stepdown(NamedTuple):
    """p of the claim that none is better (or worse), and which others are shown to be (n_metrics,).

    critical: what the largest statistic has to exceed, before any is left out; as a normal quantile.
    """

    p: float
    rejected: Bools
    critical: float = np.inf


class _Comparison:
    """Every metric against the others, on draws (n_draws, n_units) of standard normal numbers per sample."""

    def __init__(self, r: Floats, samples: Sequence[Floats], draws: Sequence[Floats]) -> None:
        jackknives = [jackknife_influence(r, left_out) for left_out in samples]
        parts = [made.scaled for made in jackknives]
        self.z = jackknives[0].value
        self.drawn = sum((numbers @ part for numbers, part in zip(draws, parts, strict=True)), np.zeros(()))
        covariance = sum((part.T @ part for part in parts), np.zeros(()))
        variance = np.diag(covariance)
        self.error = np.sqrt(variance)
        between = np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2.0 * covariance, 0.0))
        least = FLOOR * np.maximum(self.error[:, None], self.error[None, :])
        self.between = np.maximum(between, least)
        # The part of it that more trackers do not make smaller.
        shared = sum((part.T @ part for part in parts[1:]), np.zeros_like(covariance))
        own = np.diag(shared)
        self.crossed = np.maximum(own[:, None] + own[None, :] - 2.0 * shared, 0.0)
        first, second = np.triu_indices(len(r), 1)
        self.degrees = joint_degrees(parts)
        pairs = [part[:, first] - part[:, second] for part in parts]
        self.pair_degrees = joint_degrees(pairs)
        self.numbers = np.unique(np.ceil(len(samples[0]) * TIMES))[1:]
        self.times = self.numbers / len(samples[0])
        self.degrees_then = degrees_of_more(pairs, self.times)

    def simultaneous(self, level: float) -> tuple[Floats, Floats]:
        """tanh(z -+ c error), c: of the largest |error drawn| over all metrics."""
        largest = np.abs(_ratio(self.drawn, self.error)).max(axis=1)
        reach = _student(np.quantile(largest, level), np.array(self.degrees)) * self.error
        return np.tanh(self.z - reach), np.tanh(self.z + reach)

    def stepdown(self, metric: int, alpha: float, sign: float) -> _Stepdown:
        """Which others are better (sign 1) or worse (sign -1) than a metric, the largest first."""
        others = np.arange(len(self.z)) != metric
        if not others.any():
            return _Stepdown(1.0, ~others)
        errors = self.between[metric]
        statistics = _ratio(sign * (self.z - self.z[metric]), errors)
        observed = _normal(statistics, self.pair_degrees)
        drawn = _ratio(sign * (self.drawn - self.drawn[:, [metric]]), errors)
        left, first, critical = others.copy(), 1.0, np.inf
        while left.any():
            largest = np.sort(drawn[:, left].max(axis=1))
            # Each of those left against the distribution of the largest of them.
            p = (len(largest) - np.searchsorted(largest, observed - SAME) + 1.0) / (len(largest) + 1.0)
            if left.sum() == others.sum():
                first = float(p[others].min())
                critical = float(np.quantile(largest, 1.0 - alpha))
            if not (left & (p <= alpha)).any():
                break
            left &= p > alpha
        return _Stepdown(first, others & ~left, critical)

    def needed(self, metric: int, critical: float) -> float:
        """With how many trackers another metric would be shown to be better; NaN where none would do."""
        difference = np.maximum(self.z - self.z[metric], 0.0)
        by_trackers = self.between[metric] ** 2 - self.crossed[metric]
        variance = by_trackers / self.times[:, None] + self.crossed[metric]
        reach = _student(critical, self.degrees_then)[:, None]
        enough = (difference**2 > reach**2 * variance).any(axis=1)
        return float(self.numbers[enough.argmax()]) if enough.any() else np.nan


def _ratio(values: Floats, errors: Floats) -> Floats:
    """values / errors, 0 where the error is (metrics that do not vary with the trackers)."""
    return np.divide(values, errors, out=np.zeros(np.broadcast(values, errors).shape), where=errors > 0.0)


def _student(normal: float, degrees: Floats) -> Floats:
    """Student's quantiles with the same chance as that of a normal one."""
    from scipy.special import ndtr, stdtrit

    return np.asarray(stdtrit(degrees, ndtr(normal)))


def _normal(student: Floats, degrees: float) -> Floats:
    """The normal quantile with the same chance as Student's."""
    from scipy.special import ndtri, stdtr

    # By the lower tail, which keeps its digits; far out, where even that ends, order is all that matters.
    tail = np.maximum(stdtr(degrees, -np.abs(student)), 1e-300)
    return np.asarray(-np.sign(student) * ndtri(tail))
