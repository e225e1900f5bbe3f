"""Combinations of metrics that predict a target, judged on trackers they have never seen (nested).

A tracker is left out of all datasets at once (of more than MANY, a group of them). On the others, a method
chooses everything it has to choose (which metric correlates best; which penalty); then it predicts the one
left out. Metrics and target are taken relative to the means of the other trackers on the same dataset. On
pure noise such predictions correlate slightly below 0 on average, because the mean of the others moves away
from the tracker that is left out.

The uncertainty of that correlation is by the jackknife: without each tracker in turn, all of it is done
again. Resampling predictions that are not fitted again takes the combination as given; in simulated studies
(of an earlier version) its interval holds far less than it says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.panel import MetricKey
from extrinsic.tables import plain
from extrinsic.verdict.coefficients import correlate
from extrinsic.verdict.correlations import Points, defined_metrics
from extrinsic.verdict.intervals import jackknife_interval
from extrinsic.verdict.names import BEHAVIOUR
from extrinsic.verdict.rows import CompositeRow

if TYPE_CHECKING:
    from sklearn.linear_model import RidgeCV

SINGLE = "best_single"
FEWEST_TRACKERS = 5
"""Two are left out at a time, and the rest must suffice to fit a combination."""

NAMED = 6
"""How many metrics of a combination are named, the heaviest first."""

MANY, GROUPS = 30, 10
"""More trackers than this are left out by groups, every tenth together: the fits have almost as much data,
and the cost grows with the trackers, not with their cube."""

FLAT = 1e-9
"""A metric whose standard deviation is at most this share of its largest value counts as constant."""

TIE_DIGITS = 9
"""Correlations and shares that agree to this many digits are equal."""

PENALTIES = (0.1, 1.0, 10.0, 100.0, 1000.0)
"""Added to the Gram matrix of the standardised points; chosen by the error on points left out."""

Fit = Callable[[Floats, Floats], Floats]
"""(n_points, n_metrics), (n_points,) -> (n_metrics,) weights."""


class Composite(NamedTuple):
    """A combination of metrics by one method.

    r: out of sample, how well unseen trackers are predicted.   r_in_sample: over those it was fitted to.
    left_out (n_trackers or GROUPS,): r of a study without each tracker or group.
    shares (n_metrics,): weights of standardised metrics, fitted to all trackers, of the sum of all; equal
    where they differ by rounding.
    """

    method: str
    r: float
    r_in_sample: float
    left_out: Floats
    shares: Floats


def compose(metrics: Floats, target: Floats, method: str) -> Composite:
    """metrics (n_metrics, n_datasets, n_trackers) without NaN, target (n_datasets, n_trackers).

    >>> target = np.array([[1.0, 2.0, 4.0, 3.0, 6.0]])
    >>> one = compose(np.stack([target, -target]), target, "best_single")
    >>> print(f"{one.r:.2f}", one.left_out.round(2).tolist())
    1.00 [1.0, 1.0, 1.0, 1.0, 1.0]
    """
    fit, left_out = METHODS[method], []
    for left in _left_out_together(target.shape[-1]):
        others = np.delete(np.arange(target.shape[-1]), left)
        left_out.append(_correlation(*out_of_sample(metrics[..., others], target[:, others], fit)))
    weights, unit = learn(metrics, target, fit)
    return Composite(
        method,
        _correlation(*out_of_sample(metrics, target, fit)),
        _correlation(np.tensordot(weights / unit, metrics, axes=1), target),
        np.array(left_out),
        np.round(weights / max(float(np.abs(weights).sum()), 1e-300), TIE_DIGITS),
    )


def _correlation(predicted: Floats, wanted: Floats) -> float:
    return float(correlate(predicted[None], wanted[None], "pearson", "within")[0, 0])


def _left_out_together(n_trackers: int) -> list[Ints]:
    """Each tracker alone, or every tenth of many."""
    n_groups = n_trackers if n_trackers <= MANY else GROUPS
    return [np.arange(first, n_trackers, n_groups) for first in range(n_groups)]


def out_of_sample(metrics: Floats, target: Floats, fit: Fit) -> tuple[Floats, Floats]:
    """(n_datasets, n_trackers) what is predicted of each tracker from the others, and its target."""
    predicted, wanted = np.empty_like(target), np.empty_like(target)
    for left in _left_out_together(target.shape[-1]):
        others = np.delete(np.arange(target.shape[-1]), left)
        weights, unit = learn(metrics[..., others], target[:, others], fit)
        away = metrics[..., left] - metrics[..., others].mean(axis=-1, keepdims=True)
        predicted[:, left] = np.tensordot(weights, away / unit[:, None, None], axes=1)
        wanted[:, left] = target[:, left] - target[:, others].mean(axis=-1, keepdims=True)
    return predicted, wanted


def learn(metrics: Floats, target: Floats, fit: Fit) -> tuple[Floats, Floats]:
    """(n_metrics,) weights of standardised metrics, and the units they are standardised by.

    Points are relative to their dataset's mean; the unit of a metric that is constant is infinite.
    """
    centred = metrics - metrics.mean(axis=-1, keepdims=True)
    unit = np.sqrt((centred**2).mean(axis=(1, 2)))
    unit = np.where(unit > FLAT * np.abs(metrics).max(axis=(1, 2)), unit, np.inf)
    points = (centred / unit[:, None, None]).reshape(len(metrics), -1).T
    return fit(points, (target - target.mean(axis=-1, keepdims=True)).ravel()), unit


def _ridge(points: Floats, goal: Floats) -> Floats:
    return np.asarray(_chosen_ridge(points, goal).coef_)


def _chosen_ridge(points: Floats, goal: Floats) -> RidgeCV:
    """The ridge regression whose penalty has the least squared error on points left out one by one."""
    from sklearn.linear_model import RidgeCV

    return RidgeCV(alphas=PENALTIES, fit_intercept=False).fit(points, goal)


def _nonnegative(points: Floats, goal: Floats) -> Floats:
    """Ridge with weights of at least 0: least squares with a row of sqrt(penalty) for each metric."""
    from scipy.optimize import nnls

    gram = points.T @ points
    gram[np.diag_indices_from(gram)] += _chosen_ridge(points, goal).alpha_
    # The same minimum by the triangular factor, which has as many rows as there are metrics.
    factor = np.linalg.cholesky(gram)
    weights, _ = nnls(factor.T, np.linalg.solve(factor, points.T @ goal))
    return np.asarray(weights)


def _best_single(points: Floats, goal: Floats) -> Floats:
    """All weight on the metric that correlates best, by its least-squares slope."""
    lengths = np.sqrt((points**2).sum(axis=0))
    along = points.T @ goal
    norms = lengths * np.sqrt(goal @ goal)
    r = np.divide(along, norms, out=np.zeros_like(along), where=norms > 0.0)
    # Over a few trackers many correlate alike: rounding does not choose among them, the first one is taken.
    best = int(np.where(lengths > 0.0, np.round(r, TIE_DIGITS), -np.inf).argmax())
    weights = np.zeros(points.shape[1])
    weights[best] = along[best] / max(lengths[best] ** 2, 1e-300)
    return weights


def _mean(points: Floats, goal: Floats) -> Floats:
    """The same weight for every metric, by the least-squares slope of their mean."""
    mean = points.mean(axis=1)
    slope = mean @ goal / max(mean @ mean, 1e-300)
    return np.full(points.shape[1], slope / points.shape[1])


METHODS: dict[str, Fit] = {
    "best_single": _best_single,
    "mean": _mean,
    "ridge": _ridge,
    "nonnegative": _nonnegative,
}


def composite_rows(points: Points, level: float) -> list[CompositeRow]:
    """Combinations of metrics against the primary target, on systems that were left out.

    The baselines are the best single metric and the behaviour return alone.
    """
    metrics, values = points.metrics, points.targets
    kept = defined_metrics(metrics, values[0])
    if len(points.systems) < FEWEST_TRACKERS or len(kept) < 2:
        return []
    target, names = values[0], [each.name for each in points.target_keys]
    made = [compose(metrics[kept], target, method) for method in METHODS]
    if BEHAVIOUR in names[1:]:
        behaviour = values[names.index(BEHAVIOUR)]
        if len(defined_metrics(behaviour[None], target)):
            made.append(compose(behaviour[None], target, SINGLE)._replace(method="behaviour"))
    single = next(composite for composite in made if composite.method == SINGLE)
    return [_row(points, composite, single, kept, level) for composite in made]


def _row(points: Points, composite: Composite, single: Composite, kept: Ints, level: float) -> CompositeRow:
    above, apart = composite.r - single.r, composite.left_out - single.left_out
    low, high = jackknife_interval(np.array(composite.r), composite.left_out, level)
    above_low, above_high = jackknife_interval(np.array(above), apart, level, is_correlation=False)
    return CompositeRow(
        target=points.target_keys[0].name,
        scope="within",
        method=composite.method,
        r=plain(composite.r),
        low=plain(low),
        high=plain(high),
        r_in_sample=plain(composite.r_in_sample),
        above_best_single=plain(above),
        above_low=plain(above_low),
        above_high=plain(above_high),
        n=points.targets[0].size,
        trackers=points.group,
        variant=points.target_keys[0].variant,
        weights=_weights([points.metric_keys[m] for m in kept], composite),
    )


def _weights(metrics: list[MetricKey], composite: Composite) -> str:
    """The heaviest metrics of the combination fitted to all systems."""
    if composite.method == "behaviour":
        return "the behaviour policy's return"
    if composite.method == "mean":
        return f"{len(metrics)} metrics alike"
    share = composite.shares
    named = []
    for i in np.argsort(-np.abs(share), kind="stable")[:NAMED]:
        if abs(share[i]) < 0.005:
            break
        metric = metrics[i]
        named.append(f"{share[i]:+.2f} {metric.metric} {metric.component} schedule {metric.schedule}")
    return "; ".join(named)
