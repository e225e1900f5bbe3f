"""The rows of correlations.csv: every metric with every target of a panel, by coefficient and scope.

Datasets that are sampled (generators) count as one here, by the mean of their values: a score is the same on
each of them. `item_level` looks at them one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.panel import MetricKey, Panel, Target
from extrinsic.tables import plain
from extrinsic.verdict.coefficients import SCOPES, Coefficient, Scope, correlate, is_flat
from extrinsic.verdict.intervals import (
    FEWEST_SYSTEMS,
    Interval,
    carriers,
    draw_permutations,
    holm,
    jackknife_interval,
    leverage,
    permutation_test,
    without_each,
)
from extrinsic.verdict.rows import CorrelationRow

FEWEST_TRACKERS = 3
ALL, CORE = "all", "core"


@dataclass(frozen=True, eq=False)
class Points:
    """What is correlated: metrics (M, D, S) with higher better, targets (T, D, S) of one variant.

    group: what the systems are called, all or core.
    """

    metrics: Floats
    targets: Floats
    metric_keys: tuple[MetricKey, ...]
    target_keys: tuple[Target, ...]
    datasets: tuple[str, ...]
    systems: tuple[str, ...]
    group: str = ALL

    @property
    def identity(self) -> str:
        """The identity that draws of systems depend on."""
        return " ".join(self.systems)


def points_of(
    panel: Panel, variant: str | None, group: str, core: Sequence[str], averaged: bool = True
) -> Points:
    """group: all the systems, or the core.   averaged: sampled datasets as one."""
    metrics = [i for i, metric in enumerate(panel.metrics) if metric.higher_is_better is not None]
    panel = panel.take(targets=panel.targets_of(variant), metrics=metrics)
    panel = panel.averaged() if averaged else panel
    datasets = tuple(dataset.name for dataset in panel.datasets)
    scores, values, systems = panel.oriented(), panel.values, panel.names
    if group == CORE:
        chosen = [panel.system(name) for name in core]
        # Not by `take`: in which order numbers lie, and so are added, decides the last digits.
        scores, values, systems = scores[..., chosen], values[..., chosen], tuple(core)
    return Points(scores, values, panel.metrics, panel.targets, datasets, systems, group)


def correlation_rows(
    points: Points, coefficients: Sequence[Coefficient], permutations: int, level: float, seed: int
) -> Iterator[CorrelationRow]:
    """Of every scope, coefficient, target and metric, in this order."""
    for scope in SCOPES:
        for coefficient in coefficients:
            if len(points.systems) < FEWEST_TRACKERS:
                reason = f"fewer than {FEWEST_TRACKERS} trackers"
                for k, m in np.ndindex(len(points.targets), len(points.metrics)):
                    yield undefined_row(points, m, k, scope, coefficient, reason)
            else:
                yield from _rows(points, scope, coefficient, permutations, level, seed)


def _rows(
    points: Points, scope: Scope, coefficient: Coefficient, permutations: int, level: float, seed: int
) -> Iterator[CorrelationRow]:
    from scipy.stats import false_discovery_control

    metrics, targets, n_systems = points.metrics, points.targets, len(points.systems)
    r = correlate(metrics, targets, coefficient, scope)
    ends = interval_of_one(r, without_each(metrics, targets, coefficient, scope), coefficient, level)
    drawn = draw_permutations(points.identity, n_systems, permutations, seed)
    test = permutation_test(metrics, targets, coefficient, scope, drawn)
    carrier = carriers(leverage(metrics, targets, scope))
    reasons = undefined_reasons(points, scope)
    few = f"not decided: {n_systems} trackers, at least {FEWEST_SYSTEMS} are needed for an interval"
    for k in range(len(targets)):
        adjusted, rate = holm(test.p[:, k]), np.full(len(metrics), np.nan)
        defined = ~np.isnan(test.p[:, k])
        rate[defined] = false_discovery_control(test.p[defined, k]) if defined.any() else ()
        for m in range(len(metrics)):
            row = undefined_row(points, m, k, scope, coefficient, reasons[m][k])
            if row.reason is None:
                row = msgspec.structs.replace(
                    row,
                    r=plain(r[m, k]),
                    low=plain(ends.low[m, k]),
                    high=plain(ends.high[m, k]),
                    p=plain(test.p[m, k]),
                    p_adjusted=plain(adjusted[m]),
                    q=plain(rate[m]),
                    p_max_t=plain(test.p_max_t[m, k]),
                    reason=few if n_systems < FEWEST_SYSTEMS else None,
                    carried_by=points.systems[carrier[m, k]] if carrier[m, k] >= 0 else None,
                )
            yield row


def interval_of_one(r: Floats, left_out: Floats, coefficient: Coefficient, level: float) -> Interval:
    """Of a metric named in advance, for each of them: r, low, high (M, T), left_out (S, M, T).

    The jackknife with heavy tails; NaN with fewer than FEWEST_SYSTEMS.
    """
    is_accuracy = coefficient == "pairwise"
    low, high = jackknife_interval(r, left_out, level, not is_accuracy, heavy_tails=True)
    if is_accuracy:
        low, high = np.maximum(low, 0.0), np.minimum(high, 1.0)
    if len(left_out) < FEWEST_SYSTEMS:
        low, high = np.full_like(r, np.nan), np.full_like(r, np.nan)
    return Interval(low, high)


def undefined_row(
    points: Points, m: int, k: int, scope: Scope, coefficient: str, reason: str | None
) -> CorrelationRow:
    """A row without any number."""
    metric, target = points.metric_keys[m], points.target_keys[k]
    return CorrelationRow(
        target=target.name,
        metric=metric.metric,
        schedule=metric.schedule,
        component=metric.component,
        scope=scope,
        coefficient=coefficient,
        n=points.targets[k].size,
        trackers=points.group,
        label_scheme=metric.label_scheme,
        variant=target.variant,
        reason=reason,
    )


def undefined_reasons(points: Points, scope: Scope) -> list[list[str | None]]:
    """By metric and target, why there is no correlation; None where there is one."""
    missing_metric, missing_target = (
        [_missing(points, what, values) for values in side]
        for what, side in (("metric", points.metrics), ("target", points.targets))
    )
    flat_metric, flat_target = (
        [f"the {what} is the same for all trackers" if same else None for same in is_flat(side, scope)]
        for what, side in (("metric", points.metrics), ("target", points.targets))
    )
    return [
        [
            missing_metric[m] or missing_target[k] or flat_metric[m] or flat_target[k]
            for k in range(len(points.targets))
        ]
        for m in range(len(points.metrics))
    ]


def _missing(points: Points, what: str, values: Floats) -> str | None:
    """values (D, S)."""
    where = np.argwhere(np.isnan(values))
    if not len(where):
        return None
    d, s = where[0]
    more = f" and {len(where) - 1} more" if len(where) > 1 else ""
    return f"the {what} is undefined for {points.systems[s]} on {points.datasets[d]}{more}"


def defined_metrics(metrics: Floats, target: Floats, scope: Scope = "within") -> Ints:
    """Those of metrics (M, D, S) whose correlation with a target (D, S) is defined."""
    if np.isnan(target).any() or is_flat(target[None], scope)[0]:
        return np.zeros(0, dtype=np.int64)
    missing = np.isnan(metrics).any(axis=(1, 2))
    return np.flatnonzero(~missing & ~is_flat(np.nan_to_num(metrics), scope))
