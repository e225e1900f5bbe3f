"""The rows of a study's tables, from the stored results of its stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from extrinsic.arrays import Floats
from extrinsic.panel import Panel
from extrinsic.simulation import describe
from extrinsic.simulation.world_files import is_drawn, read_drawn
from extrinsic.study.dialog_inputs import SimulatedDialogs, Unit
from extrinsic.study.plan import Plan
from extrinsic.study.policy_spec import LEARNED, LOGGED
from extrinsic.study.score_stage import TrackerScores
from extrinsic.study.store import Result, Store
from extrinsic.study.tables import LEARNER, DiagnosticRow, IntrinsicRow, ReturnRow, SensitivityRow
from extrinsic.study.variant_values import TrackerValue, variant_values
from extrinsic.tables import plain
from extrinsic.verdict.choices import choices
from extrinsic.verdict.coefficients import correlate
from extrinsic.verdict.correlations import ALL, CORE, Points, points_of
from extrinsic.verdict.rows import Row

MEASURED = ("turns_per_dialog", "rank_1", "in_list", "list_size", "hang_ups", "completed")
"""Of the test dialogs of a drawn world."""

OBSERVED = "observed"

R = TypeVar("R", bound=Row)


def made(kind: type[R], source: msgspec.Struct, **others: Any) -> R:
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
                    made(IntrinsicRow, row, dataset=dataset, tracker=tracker) for row in measured.rows
                ]
    return [row for dataset in plan.datasets for row in rows[dataset]]


class StoredValue(NamedTuple):
    """A value of a tracker's policy under a variant, or its outcome."""

    tracker: str
    variant: str | None
    entry: TrackerValue


def stored_values(plan: Plan, store: Store) -> list[StoredValue]:
    """Every stored value, dataset by dataset within each variant; outcomes last."""
    order = {dataset: number for number, dataset in enumerate(plan.datasets)}
    stages = [(variant.name, plan.learned[variant.name]) for variant in plan.variants]
    values: list[StoredValue] = []
    for variant, by_tracker in (*stages, (None, plan.outcomes)):
        of_variant = [
            StoredValue(tracker, variant, entry)
            for tracker, entries in variant_values(store, by_tracker).items()
            for entry in entries
        ]
        values += sorted(of_variant, key=lambda stored: order[stored.entry.value.dataset])
    return values


def return_rows(values: Sequence[StoredValue]) -> list[ReturnRow]:
    rows = []
    for tracker, variant, entry in values:
        value = entry.value
        low, high = (None if end is None else plain(end) for end in (value.low, value.high))
        feasible_low, feasible_high = value.feasible or (None, None)
        rows.append(
            made(
                ReturnRow,
                value,
                tracker=tracker,
                variant=variant,
                value=plain(value.mean),
                low=low,
                high=high,
                feasible_low=feasible_low,
                feasible_high=feasible_high,
            )
        )
    return rows


def diagnostic_rows(values: Sequence[StoredValue]) -> list[DiagnosticRow]:
    """A row for every number that a learner or an estimator reports about itself."""
    rows = []
    for tracker, variant, entry in values:
        value = entry.value
        policy, estimator = value.policy, value.estimator
        numbers: Mapping[str, float] = value.diagnostics
        if (policy, estimator) == (LOGGED, OBSERVED):
            # The logged policy has no diagnostics; the learner's take its row, once per dataset.
            policy, estimator, numbers = LEARNED, LEARNER, entry.learner
        rows += [
            DiagnosticRow(
                dataset=value.dataset,
                tracker=tracker,
                policy=policy,
                estimator=estimator,
                diagnostic=name,
                value=None if np.isnan(number) else number,
                variant=variant,
            )
            for name, number in numbers.items()
        ]
    return rows


def sensitivity_rows(plan: Plan, panel: Panel, core: Sequence[str]) -> Iterator[SensitivityRow]:
    """The metric that loses least under every setting, and how it compares to the study's first variant."""
    for variant in plan.variants:
        for group in (ALL, CORE):
            usual, (lost, coin, points) = (
                _losses(panel, name, group, core) for name in (plan.variants[0].name, variant.name)
            )
            shared = [m for m in range(len(lost)) if np.isfinite([lost[m], usual[0][m]]).all()]
            if not shared:
                continue
            best = min(shared, key=lambda m: lost[m])
            winner = min(shared, key=lambda m: usual[0][m])
            key = points.metric_keys[best]
            yield SensitivityRow(
                parameter=variant.parameter or "(the study's own)",
                setting=variant.value,
                trackers=group,
                target=variant.targets[0],
                metric=key.metric,
                schedule=key.schedule,
                component=key.component,
                lost=float(lost[best]),
                possible=float(coin[best]),
                usual_winner_lost=plain(lost[winner]),
                usual_winner_rank=1 + sum(lost[m] < lost[winner] for m in shared),
                agreement=_agreement(usual[0][shared], lost[shared]),
                n_metrics=len(shared),
                variant=variant.name,
            )


def _losses(panel: Panel, variant: str, group: str, core: Sequence[str]) -> tuple[Floats, Floats, Points]:
    """(M,) what choices lose by the primary target of a variant, and what a coin loses."""
    points = points_of(panel, variant, group, core)
    made = choices(points.metrics, points.targets[0])
    return made.lost, made.possible, points


def _agreement(base: Floats, other: Floats) -> float | None:
    """Kendall's tau between two orders of the metrics."""
    if len(base) < 2:
        return None
    tau = float(correlate(base[None, None], other[None, None], "kendall", "pooled")[0, 0])
    # An order agrees with itself by exactly 1.
    return round(tau, 12) if np.isfinite(tau) else None


def world_properties(units: tuple[Unit, ...]) -> dict[str, dict[str, float | str]]:
    """By dataset, of every drawn world what was drawn, and what its test dialogs turned out to be."""
    properties: dict[str, dict[str, float | str]] = {}
    for unit in units:
        dialogs = unit.test
        if not isinstance(dialogs, SimulatedDialogs):
            continue
        simulation = dialogs.simulation
        drawn: Mapping[str, float] = {}
        if is_drawn(dialogs.dataset):
            _, drawn = read_drawn(dialogs.dataset, getattr(simulation, "properties", {}))
        measured = asdict(describe(simulation.simulate(dialogs.dataset, dialogs.split)))
        properties[unit.name] = {**drawn, **{name: measured[name] for name in MEASURED}}
    return properties
