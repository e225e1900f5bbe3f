"""Rows of composite.csv and stability.csv."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.composite import METHODS, Composite, compose
from extrinsic.correlation.intervals import jackknife_interval
from extrinsic.correlation.stability import stability
from extrinsic.study.configuration.settings import CorrelationTable
from extrinsic.study.configuration.targets import verdict_targets
from extrinsic.study.correlating.panel import Panel
from extrinsic.study.stages.store import plain
from extrinsic.study.tables.metric_rows import CompositeRow, StabilityRow

BEHAVIOUR = "behaviour.observed"
SINGLE = "best_single"
FEWEST_TRACKERS = 5
"""Two are left out at a time, and the rest must suffice to fit a combination."""

NAMED = 6
"""How many metrics of a combination are named, the heaviest first."""


def composite_rows(panel: Panel, kept: Ints, settings: CorrelationTable) -> list[CompositeRow]:
    """Combinations of metrics against the primary target, on trackers that were left out.

    The baselines are the best single metric and the behaviour return alone. The best single metric also
    against the other targets that a study has a verdict of.
    """
    if len(panel.trackers) < FEWEST_TRACKERS or len(kept) < 2:
        return []
    rows = _rows(panel, kept, 0, METHODS, settings)
    for number, name in enumerate(panel.targets):
        if number and name in verdict_targets(panel.targets) and _varies(panel.sample.targets[number]):
            rows += _rows(panel, kept, number, [SINGLE], settings)
    return rows


def _varies(target: Floats) -> bool:
    """Whether trackers differ in a target that is defined for all of them."""
    return bool(np.ptp(target - target.mean(axis=-1, keepdims=True)) > 0.0)


def _rows(
    panel: Panel, kept: Ints, number: int, methods: Iterable[str], settings: CorrelationTable
) -> list[CompositeRow]:
    target = panel.sample.targets[number]
    made = [compose(panel.sample.metrics[kept], target, method, jackknife=True) for method in methods]
    if number == 0 and BEHAVIOUR in panel.targets and panel.targets[0] != BEHAVIOUR:
        behaviour = panel.sample.targets[panel.targets.index(BEHAVIOUR)]
        if _varies(behaviour):
            made.append(replace(compose(behaviour[None], target, SINGLE, True), method="behaviour"))
    single = next(composite for composite in made if composite.method == SINGLE)
    rows = []
    for composite in made:
        low, high = _interval(composite.r, composite.left_out, settings)
        above = composite.r - single.r
        apart = composite.left_out - single.left_out
        above_low, above_high = _interval(above, apart, settings, is_correlation=False)
        rows.append(
            CompositeRow(
                target=panel.targets[number],
                scope="within",
                method=composite.method,
                r=plain(composite.r),
                low=low,
                high=high,
                r_in_sample=plain(composite.r_in_sample),
                above_best_single=plain(above),
                above_low=above_low,
                above_high=above_high,
                n=int(target.size),
                trackers=panel.group,
                variant=panel.variant,
                weights=_weights(panel, kept, composite),
            )
        )
    return rows


def _interval(
    observed: float, left_out: Floats, settings: CorrelationTable, is_correlation: bool = True
) -> tuple[float | None, float | None]:
    low, high = jackknife_interval(np.array(observed), left_out, settings.level, is_correlation)
    return plain(low), plain(high)


def _weights(panel: Panel, kept: Ints, composite: Composite) -> str:
    """The heaviest metrics of the combination fitted to all trackers."""
    if composite.method == "behaviour":
        return "the behaviour policy's return"
    if composite.method == "mean":
        return f"{len(kept)} metrics alike"
    share = composite.shares
    named = []
    for i in np.argsort(-np.abs(share), kind="stable")[:NAMED]:
        if abs(share[i]) < 0.005:
            break
        metric, schedule, component, _ = panel.metrics[kept[i]]
        named.append(f"{share[i]:+.2f} {metric} {component} schedule {schedule}")
    return "; ".join(named)


def stability_rows(panel: Panel, kept: Ints, settings: CorrelationTable, seed: int) -> list[StabilityRow]:
    """How the order of the metrics settles as trackers are added."""
    if not len(kept):
        return []
    settled = stability(
        panel.sample.metrics[kept],
        panel.sample.targets[0],
        settings.coefficient,
        "within",
        settings.subsets,
        panel.identity,
        seed,
    )
    return [
        StabilityRow(
            target=panel.targets[0],
            scope="within",
            coefficient=settings.coefficient,
            trackers=panel.group,
            variant=panel.variant,
            **asdict(subsets),
        )
        for subsets in settled
    ]
