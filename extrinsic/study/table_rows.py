"""The rows of a run's tables, from the stored results of its stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import msgspec
import numpy as np

from extrinsic.correlation.coefficients import correlate
from extrinsic.simulation import describe
from extrinsic.simulation.drawn_worlds import is_drawn, read_drawn
from extrinsic.study.correlating.correlation_stage import CorrelationTables, RankedMetric
from extrinsic.study.planning.plan import Plan
from extrinsic.study.stages.inputs import SimulatedDialogs, Unit
from extrinsic.study.stages.policy_spec import LEARNED, LOGGED, PolicyValue, PolicyValues
from extrinsic.study.stages.store import Result, Store, plain
from extrinsic.study.stages.stored_scores import TrackerScores
from extrinsic.study.stages.variant_values import variant_values
from extrinsic.study.tables.metric_rows import SensitivityRow
from extrinsic.study.tables.value_rows import (
    LEARNER,
    DiagnosticRow,
    IntrinsicRow,
    ReturnRow,
    Row,
    WorldFitRow,
    WorldRow,
)

MEASURED = ("turns_per_dialog", "rank_1", "in_list", "list_size", "hang_ups", "completed")
"""Of the test dialogs of a drawn world."""

R = TypeVar("R", bound=Row)

MetricKey = tuple[str, int, str]
"""Metric, schedule, component."""


def _made(kind: type[R], source: msgspec.Struct, **others: Any) -> R:
    """A row that takes over what it shares with its source."""
    shared = [name for name in source.__struct_fields__ if name in kind.__struct_fields__]
    return kind(**{name: getattr(source, name) for name in shared} | others)


def intrinsic_rows(plan: Plan, store: Store) -> list[IntrinsicRow]:
    rows: dict[str, list[IntrinsicRow]] = {dataset: [] for dataset in plan.datasets}
    for tracker, keys in plan.scored.items():
        for key in keys:
            scores = Result.decode(store.read(key), key, TrackerScores).values
            for dataset, measured in scores.datasets.items():
                rows[dataset] += [
                    _made(IntrinsicRow, row, dataset=dataset, tracker=tracker) for row in measured.rows
                ]
    return [row for dataset in plan.datasets for row in rows[dataset]]


@dataclass(frozen=True)
class StoredValue:
    """A stored value of a tracker's policy (or its outcome), and the numbers of the learner behind it."""

    tracker: str
    variant: str | None
    value: PolicyValue
    learner: Mapping[str, float]


def stored_values(plan: Plan, store: Store) -> list[StoredValue]:
    """Every stored value, dataset by dataset within each variant; outcomes last."""
    stages = [(variant.name, plan.learned[variant.name]) for variant in plan.variants]
    values: list[StoredValue] = []
    for variant, by_tracker in (*stages, (None, plan.outcomes)):
        of_variant = []
        for tracker, values_of_tracker in variant_values(store, by_tracker).items():
            of_variant += [
                StoredValue(tracker, variant, entry.value, entry.learner) for entry in values_of_tracker
            ]
        order = {dataset: number for number, dataset in enumerate(plan.datasets)}
        values += sorted(of_variant, key=lambda valued: order[valued.value.dataset])
    return values


def return_rows(values: Sequence[StoredValue]) -> list[ReturnRow]:
    rows = []
    for valued in values:
        value = valued.value
        low, high = (None if end is None else plain(end) for end in (value.low, value.high))
        feasible_low, feasible_high = value.feasible or (None, None)
        rows.append(
            _made(
                ReturnRow,
                value,
                tracker=valued.tracker,
                variant=valued.variant,
                value=plain(value.mean),
                low=low,
                high=high,
                feasible_low=feasible_low,
                feasible_high=feasible_high,
            )
        )
    return rows


def fit_rows(plan: Plan, store: Store) -> list[WorldFitRow]:
    """How well the fitted world of each dataset fits; the same for every tracker and variant."""
    rows: dict[str, list[WorldFitRow]] = {}
    for variant in plan.variants[:1]:
        for keys in list(plan.learned[variant.name].values())[:1]:
            for key in keys:
                for dataset, fit in Result.decode(store.read(key), key, PolicyValues).values.fit.items():
                    rows[dataset] = [
                        WorldFitRow(dataset=dataset, **msgspec.structs.asdict(row)) for row in fit
                    ]
    return [row for dataset in plan.datasets for row in rows.get(dataset, [])]


def diagnostic_rows(values: Sequence[StoredValue]) -> list[DiagnosticRow]:
    """A row for every number that a learner or an estimator reports about itself."""
    rows = []
    for valued in values:
        value = valued.value
        policy, estimator = value.policy, value.estimator
        numbers: Mapping[str, float] = value.diagnostics
        if (policy, estimator) == (LOGGED, "observed"):
            # The logged policy has no diagnostics; the learner's take its row, once per dataset.
            policy, estimator, numbers = LEARNED, LEARNER, valued.learner
        rows += [
            DiagnosticRow(
                dataset=value.dataset,
                tracker=valued.tracker,
                policy=policy,
                estimator=estimator,
                diagnostic=name,
                value=None if np.isnan(number) else number,
                variant=valued.variant,
            )
            for name, number in numbers.items()
        ]
    return rows


def variant_rows(correlated: Mapping[str, CorrelationTables], name: str) -> list[Row]:
    """The rows of one table over all variants of the study; those tried for sensitivity have none."""
    return [row for tables in correlated.values() for row in getattr(tables, name)]


def sensitivity_rows(plan: Plan, correlated: Mapping[str, CorrelationTables]) -> list[SensitivityRow]:
    """The best metric under every setting, and how it compares to the study's first variant."""
    if not plan.variants:
        return []
    usual = plan.variants[0]
    rows = []
    for variant in plan.variants:
        for trackers in ("all", "core"):
            base = _ranking(correlated[usual.name], trackers)
            ranking = _ranking(correlated[variant.name], trackers)
            shared = {name: r for name, row in ranking.items() if name in base and (r := row.r) is not None}
            if not shared:
                continue
            best = ranking[max(shared, key=lambda name: shared[name])]
            defined = {name: r for name, row in base.items() if (r := row.r) is not None}
            winner = ranking[max(defined, key=lambda name: defined[name])]
            rows.append(
                _made(
                    SensitivityRow,
                    best,
                    parameter=variant.parameter or "(the study's own)",
                    setting=variant.value,
                    target=variant.targets[0],
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


def _agreement(base: Mapping[MetricKey, float], other: Mapping[MetricKey, float]) -> float | None:
    """Kendall's tau between the two orders of the metrics."""
    both = [name for name in other if name in base]
    if len(both) < 2:
        return None
    first, second = (np.array([[[r[name] for name in both]]]) for r in (base, other))
    tau = float(correlate(first, second, "kendall", "pooled")[0, 0])
    # An order agrees with itself by exactly 1.
    return round(tau, 12) if np.isfinite(tau) else None


def world_rows(units: tuple[Unit, ...]) -> Iterator[WorldRow]:
    """Of every drawn world what was drawn, and what its test dialogs turned out to be."""
    for unit in units:
        dialogs = unit.test
        if not isinstance(dialogs, SimulatedDialogs):
            continue
        simulation = dialogs.simulation
        if is_drawn(dialogs.dataset):
            _, drawn = read_drawn(dialogs.dataset, getattr(simulation, "properties", {}))
            for name, value in drawn.items():
                yield WorldRow(dataset=unit.name, property=name, drawn=True, value=value)
        measured = asdict(describe(simulation.simulate(dialogs.dataset, dialogs.split)))
        for name in MEASURED:
            yield WorldRow(dataset=unit.name, property=name, drawn=False, value=measured[name])
