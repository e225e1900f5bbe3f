"""The rows of correlations.csv: every metric with every target of a panel, by coefficient and scope.

Datasets that are sampled (generators) count as one here, by the mean of their values: a score is the same on
each of them. `item_level` looks at them one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import msgspec
import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.panel import MetricKey, Panel, Target
from extrinsic.tables import plain
from extrinsic.verdict.coefficients import SCOPES, Coefficient, Scope, correlate, is_flat
from extrinsic.verdict.intervals import (
    FEWEST_SYSTEMS,
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
    n_systems = len(points.systems)
    few = f"not decided: {n_systems} trackers, at least {FEWEST_SYSTEMS} are needed for an interval"
    for scope, coefficient in product(SCOPES, coefficients):
        reasons, columns = undefined_reasons(points, scope), {}
        carrier = np.full((len(points.metrics), len(points.targets)), -1)
        if n_systems >= FEWEST_TRACKERS:
            columns = _columns(points, scope, coefficient, permutations, level, seed)
            carrier = carriers(leverage(points.metrics, points.targets, scope))
        for k, target in enumerate(points.target_keys):
            for m, metric in enumerate(points.metric_keys):
                row = CorrelationRow(
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
                    reason=reasons[m][k],
                )
                if row.reason is None:
                    numbers = {name: plain(column[m, k]) for name, column in columns.items()}
                    row = msgspec.structs.replace(
                        row,
                        **numbers,
                        reason=few if n_systems < FEWEST_SYSTEMS else None,
                        carried_by=points.systems[carrier[m, k]] if carrier[m, k] >= 0 else None,
                    )
                yield row


def _columns(
    points: Points, scope: Scope, coefficient: Coefficient, permutations: int, level: float, seed: int
) -> dict[str, Floats]:
    """(M, T) each of the columns that are numbers; intervals by the jackknife with heavy tails."""
    from scipy.stats import false_discovery_control

    metrics, targets = points.metrics, points.targets
    r = correlate(metrics, targets, coefficient, scope)
    is_accuracy, left_out = coefficient == "pairwise", without_each(metrics, targets, coefficient, scope)
    low, high = jackknife_interval(r, left_out, level, not is_accuracy, heavy_tails=True)
    if is_accuracy:
        low, high = np.maximum(low, 0.0), np.minimum(high, 1.0)
    if len(points.systems) < FEWEST_SYSTEMS:
        low, high = np.full_like(r, np.nan), np.full_like(r, np.nan)
    drawn = draw_permutations(points.identity, len(points.systems), permutations, seed)
    test = permutation_test(metrics, targets, coefficient, scope, drawn)
    q = np.full(r.shape, np.nan)
    for k, p in enumerate(test.p.T):
        defined = ~np.isnan(p)
        q[defined, k] = false_discovery_control(p[defined]) if defined.any() else ()
    adjusted = np.stack([holm(p) for p in test.p.T], axis=1)
    return {
        "r": r,
        "low": low,
        "high": high,
        "p": test.p,
        "p_adjusted": adjusted,
        "q": q,
        "p_max_t": test.p_max_t,
    }


def undefined_reasons(points: Points, scope: Scope) -> list[list[str | None]]:
    """By metric and target, why there is no correlation; None where there is one."""
    if len(points.systems) < FEWEST_TRACKERS:
        return [[f"fewer than {FEWEST_TRACKERS} trackers"] * len(points.targets)] * len(points.metrics)
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
