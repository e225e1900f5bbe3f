"""The rows of a run's tables, put together from what the stages stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import numpy as np

from extrinsic.correlation.coefficients import correlate
from extrinsic.study.correlating.correlation_stage import CorrelationTables, RankedMetric
from extrinsic.study.planning import Plan
from extrinsic.study.planning.variants import Variant
from extrinsic.study.stages.store import Result
from extrinsic.study.tables.schema import DiagnosticRow, IntrinsicRow, ReturnRow, Row, SensitivityRow

MetricKey = tuple[str, int, str]
"""Metric, schedule, component."""


def intrinsic_rows(plan: Plan, measured: Mapping[str, list[Result]]) -> list[IntrinsicRow]:
    rows = []
    for dataset in plan.dialogs:
        for tracker in plan.trackers:
            for result in measured[tracker.name]:
                for row in result.values.get(dataset, {}).get("rows", ()):
                    rows.append(
                        IntrinsicRow(
                            dataset=dataset,
                            tracker=tracker.name,
                            component=row["component"],
                            metric=row["metric"],
                            schedule=row["schedule"],
                            label_scheme=row["label_scheme"],
                            n=row["n"],
                            value=row["value"],
                        )
                    )
    return rows


LEARNER = "learner"
"""Instead of an estimator: the numbers of the learner itself."""

LearnedResults = Mapping[str, Mapping[str, list[Result]]]
"""By variant and tracker, what was stored of its policies."""


def return_rows(plan: Plan, learned: LearnedResults) -> list[ReturnRow]:
    rows = [
        ReturnRow(
            dataset=row["dataset"],
            tracker=tracker,
            policy=row["policy"],
            estimator=row["estimator"],
            value=row["value"],
            low=row["low"],
            high=row["high"],
            n=row["n"],
            feasible_low=row["feasible_low"],
            feasible_high=row["feasible_high"],
            flags=tuple(row["flags"]),
            variant=variant.name,
        )
        for variant, tracker, row, _ in _values(plan, learned)
    ]
    for (dataset, tracker), outcomes in (plan.outcomes or {}).items():
        for name, value in outcomes.items():
            rows.append(
                ReturnRow(
                    dataset=dataset,
                    tracker=tracker,
                    policy="outcome",
                    estimator=name.removeprefix("outcome."),
                    value=value.mean,
                    n=len(value.influence),
                )
            )
    return rows


def diagnostic_rows(plan: Plan, learned: LearnedResults) -> list[DiagnosticRow]:
    """A row for every number that a learner or an estimator reports about itself."""
    rows = []
    for variant, tracker, row, result in _values(plan, learned):
        if row["policy"] == "behaviour":
            policy, estimator, numbers = "rl", LEARNER, result.values["learner"]
        else:
            policy, estimator, numbers = row["policy"], row["estimator"], row["diagnostics"]
            reach = [abs(numbers[name]) for name in ("lowest_q", "highest_q") if name in numbers]
            numbers = {"largest_q": max(reach), **numbers} if reach else numbers
        rows += [
            DiagnosticRow(
                dataset=row["dataset"],
                tracker=tracker,
                policy=policy,
                estimator=estimator,
                diagnostic=name,
                value=_defined(number),
                variant=variant.name,
            )
            for name, number in numbers.items()
        ]
    return rows


def _defined(number: float | None) -> float | None:
    """1 and 0 for yes and no; None for what is undefined."""
    return None if number is None or np.isnan(number) else float(number)


def _values(plan: Plan, learned: LearnedResults) -> Iterator[tuple[Variant, str, dict[str, Any], Result]]:
    """Every stored value, dataset by dataset within each variant."""
    for variant in plan.variants:
        for dataset in plan.dialogs:
            for tracker in plan.trackers:
                for result in learned[variant.name][tracker.name]:
                    for row in result.values["rows"]:
                        if row["dataset"] == dataset:
                            yield variant, tracker.name, row, result


def correlation_tables(related: Mapping[str, Result]) -> dict[str, CorrelationTables]:
    """What was correlated, by variant."""
    return {name: msgspec.convert(result.values, CorrelationTables) for name, result in related.items()}


def related_rows(related: Mapping[str, CorrelationTables], name: str) -> list[Row]:
    """The rows of one table over all variants of the study; those tried for sensitivity have none."""
    return [row for tables in related.values() for row in getattr(tables, name)]


def sensitivity_rows(plan: Plan, related: Mapping[str, CorrelationTables]) -> list[SensitivityRow]:
    """The best metric under every setting, and how it compares to the study's first variant."""
    if not plan.variants:
        return []
    usual = plan.variants[0]
    rows = []
    for variant in plan.variants:
        for trackers in ("all", "core"):
            base = _ranking(related[usual.name], trackers)
            mine = _ranking(related[variant.name], trackers)
            shared = {name: r for name, row in mine.items() if name in base and (r := row.r) is not None}
            if not shared:
                continue
            best = mine[max(shared, key=lambda name: shared[name])]
            defined = {name: r for name, row in base.items() if (r := row.r) is not None}
            winner = mine[max(defined, key=lambda name: defined[name])]
            rows.append(
                SensitivityRow(
                    parameter=variant.parameter or "(the study's own)",
                    setting=variant.value,
                    trackers=trackers,
                    target=variant.targets[0],
                    metric=best.metric,
                    schedule=best.schedule,
                    component=best.component,
                    r=best.r,
                    low=best.low,
                    high=best.high,
                    usual_winner_r=winner.r,
                    usual_winner_rank=1 + sum(r > (winner.r or -2.0) for r in shared.values()),
                    agreement=_agreement(defined, shared),
                    n_metrics=len(shared),
                    variant=variant.name,
                )
            )
    return rows


def _ranking(tables: CorrelationTables, trackers: str) -> dict[MetricKey, RankedMetric]:
    return {
        (row.metric, row.schedule, row.component): row for row in tables.ranking if row.trackers == trackers
    }


def _agreement(base: Mapping[MetricKey, float], mine: Mapping[MetricKey, float]) -> float | None:
    """Kendall's tau between the two orders of the metrics."""
    both = [name for name in mine if name in base]
    if len(both) < 2:
        return None
    first, second = (np.array([[[r[name] for name in both]]]) for r in (base, mine))
    tau = float(correlate(first, second, "kendall", "pooled")[0, 0])
    return tau if np.isfinite(tau) else None
