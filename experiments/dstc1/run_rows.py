"""What is kept of the tool's run: rows of its tables, and differences over the calls that it stored."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import msgspec
import numpy as np
from extrinsic.correlation.resampling import Sample
from extrinsic.study.stored_panel import stored_panel

from experiments.dstc1.tables import (
    ESTIMATORS,
    LEE,
    Accuracy,
    Beyond,
    Correlation,
    Difference,
    PolicyValue,
    ToolVerdict,
)
from experiments.dstc2.gains import Worth
from experiments.dstc2.return_correlations import correlate_sample
from experiments.estimate_rows import estimate_fields
from experiments.partial_correlations import beyond_logged, with_logged
from experiments.runs import findings_of_report
from extrinsic.study.run import Run
from extrinsic.study.settings_file import read_study

FILLS = ("argmax", "threshold")
PRIMARY, LOGGED = "rl.mean_augmented", "behaviour.observed"
TARGETS = (*(f"rl.{estimator}" for estimator in ESTIMATORS), LOGGED)
AGAINST_ACCURACY = ("l2", "l2.lee", "brier", "avgp", "mrr", "roc.v2_ca05")


def correlation_rows(run: Run) -> Iterator[Correlation]:
    """Lee's metrics with every target; those of states, filled as the reward fills, with the study's own."""
    influence = {_key(row): row for row in run.table("influence") if row.coefficient == "pearson"}
    for row in run.table("correlations"):
        of_states = row.target == PRIMARY and f"fill={_fill(row)}" in row.metric
        shown = of_states or row.metric in (*LEE, "brier")
        chosen = (row.coefficient, row.scope) == ("pearson", "within") and row.target in TARGETS
        if shown and chosen and row.r is not None:
            one = influence[_key(row)]
            own = {"fill": _fill(row), "carried_by": one.tracker, "r_without": one.r_without}
            # Converted, so that a number that is missing here is an error.
            yield msgspec.convert(msgspec.structs.asdict(row) | own, Correlation)


def _key(row: object) -> tuple[object, ...]:
    names = ("variant", "target", "scope", "trackers", "metric", "schedule", "component")
    return tuple(getattr(row, name) for name in names)


def _fill(row: object) -> str:
    variant: str = row.variant  # type: ignore[attr-defined]
    return variant.removeprefix("fill=")


def difference_rows(run: Run) -> Iterator[Difference]:
    """Every metric of score quality and rank with accuracy, and schedule 2 with the others."""
    wanted = {
        *((f"{m}@{s}", f"accuracy@{s}") for m in AGAINST_ACCURACY for s in (1, 2, 3)),
        *((f"{m}@2", f"{m}@{s}") for m in LEE for s in (1, 3)),
    }
    for row in run.table("pairs"):
        if row.scope != "within" or row.component_a != row.component_b:
            continue
        a, b = f"{row.metric_a}@{row.schedule_a}", f"{row.metric_b}@{row.schedule_b}"
        key = (_fill(row), row.trackers, row.component_a)
        if row.low is None or row.high is None:
            continue
        if (a, b) in wanted:
            yield Difference(*key, a, b, row.difference, row.low, row.high, row.p)
        elif (b, a) in wanted:
            yield Difference(*key, b, a, -row.difference, -row.high, -row.low, row.p)


def value_rows(run: Run) -> Iterator[PolicyValue]:
    names = [row.tracker for row in run.table("trackers")]
    by_fill = {fill: run.values(f"fill={fill}") for fill in FILLS}
    for tracker, fill in product(names, FILLS):
        stored = {
            (entry.value.dataset, entry.value.target): (Worth(entry.value.mean, entry.influence), entry.value)
            for entry in by_fill[fill]
            if entry.tracker == tracker
        }
        for dataset, estimator in product(run.plan.datasets, ESTIMATORS):
            logged, _ = stored[dataset, LOGGED]
            rl, about = stored[dataset, f"rl.{estimator}"]
            sl, sampled = (stored[dataset, f"{policy}.{estimator}"][0] for policy in ("sl", "sl_sampled"))
            yield PolicyValue(
                dataset,
                fill,
                tracker,
                estimator,
                logged.mean,
                rl.mean,
                sl.mean,
                sampled.mean,
                *rl.minus(logged),
                about.diagnostics.get("on_policy_gap"),
                about.diagnostics.get("placebo_gain"),
            )


def accuracy_rows(run: Run) -> list[Accuracy]:
    core = {row.tracker: row.core for row in run.table("trackers")}
    return [
        Accuracy(row.dataset, row.tracker, row.value, core[row.tracker])
        for row in run.table("intrinsic")
        if (row.metric, row.schedule, row.component) == ("accuracy", 3, "all") and row.value is not None
    ]


def beyond_rows(run: Run) -> Iterator[Beyond]:
    """Of core trackers."""
    settings = read_study(run.folder / "config.toml")
    core = [row.tracker for row in run.table("trackers") if row.core]
    for fill in FILLS:
        panel = stored_panel(run, f"fill={fill}", (PRIMARY, LOGGED))
        panel = panel.take_trackers(np.flatnonzero([name in core for name in panel.trackers]))
        sample = panel.sample
        observed = with_logged(sample.metrics, *sample.targets)
        drawn = with_logged(sample.metrics_drawn, sample.targets_drawn[:, 0], sample.targets_drawn[:, 1])
        correlations = correlate_sample(Sample(*observed, *drawn), panel, settings)
        for number, kind, estimate in beyond_logged(correlations):
            metric, schedule, component, _ = panel.metrics[number]
            yield Beyond(fill, metric, schedule, component, kind, **estimate_fields(estimate))


def verdict_rows(run: Run) -> list[ToolVerdict]:
    return [
        ToolVerdict(fill, group, finding.claim, finding.verdict, finding.numbers)
        for fill, group, finding in findings_of_report(run)
    ]
