"""What is made of a run's stages: the stages that need all trackers at once, and the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import msgspec

from extrinsic.panel import Panel
from extrinsic.plugins import hash_of_plugins
from extrinsic.study.correlation_stage import CorrelationTables, CorrelationTask
from extrinsic.study.panels import fill_panel
from extrinsic.study.plan import Plan
from extrinsic.study.policy_rows import GridValues, curve_rows, policy_rows
from extrinsic.study.settings import StudySettings
from extrinsic.study.store import Result, Store, Task
from extrinsic.study.swap_stage import SwapTables, SwapTask
from extrinsic.study.table_rows import (
    diagnostic_rows,
    intrinsic_rows,
    return_rows,
    sensitivity_rows,
    stored_values,
    world_rows,
)
from extrinsic.study.tables import POLICY_TABLES, TABLES, WORLDS_TABLE, WorldRow
from extrinsic.verdict.composite import composite_rows
from extrinsic.verdict.core_systems import core_rows
from extrinsic.verdict.correlations import ALL, CORE, Points, correlation_rows, points_of, ranking
from extrinsic.verdict.rows import BestSetRow, Row, TrackerRow

V = TypeVar("V", bound=msgspec.Struct)
Table = tuple[type[Row], Sequence[Row]]


@dataclass(frozen=True)
class StudyResults:
    """The end of a run; a grid of policies has no stages here, only tables."""

    settings: StudySettings
    plan: Plan
    store: Store

    def rounds(self) -> Iterator[Sequence[Task]]:
        """The stages that need all trackers; those of a round need the results of the rounds before."""
        if self.settings.grid is None:
            yield list(self._correlation_tasks.values())
            yield self._swap_tasks

    def missing(self, is_ready: bool) -> Counter[str]:
        """How many of these have to be computed, by kind; is_ready: whether those before are all there."""
        if self.settings.grid is not None:
            return Counter()
        if not is_ready:
            late = {"correlate": max(1, sum(not variant.brief for variant in self.plan.variants))}
            return Counter(late | ({"swap": 1} if self._has_swaps else {}))
        return Counter(
            task.key.kind for tasks in self.rounds() for task in tasks if not self.store.holds(task.key)
        )

    def tables(self) -> dict[str, Table]:
        """The struct and the rows of every table, by its name."""
        values, kinds = stored_values(self.plan, self.store), TABLES
        rows: dict[str, Sequence[Row]]
        rows = {"returns": return_rows(values), "diagnostics": diagnostic_rows(values)}
        if self.settings.grid:
            grid, kinds = GridValues.read(self.plan, self.store), POLICY_TABLES
            rows |= {"policies": policy_rows(self.plan, grid), "learning_curve": curve_rows(self.plan, grid)}
        else:
            rows |= self._study_tables()
        if self._worlds:
            rows, kinds = rows | {"worlds": self._worlds}, kinds | WORLDS_TABLE
        return {name: (kind, rows[name]) for name, kind in kinds.items()}

    @cached_property
    def panel(self) -> Panel:
        """What the stages of single trackers found: it is all that what follows knows of them."""
        properties: dict[str, dict[str, float | str]] = {}
        for row in self._worlds:
            properties.setdefault(row.dataset, {})[row.property] = row.value
        return fill_panel(self.plan, self.store, self.settings.seed, properties=properties)

    @cached_property
    def _worlds(self) -> list[WorldRow]:
        simulation = self.settings.simulation
        draws_worlds = simulation is not None and simulation.worlds is not None
        return list(world_rows(self.plan.units)) if draws_worlds else []

    @cached_property
    def _trackers(self) -> list[TrackerRow]:
        return core_rows(self.panel, self.settings.trackers.near_duplicate)

    @property
    def _core(self) -> tuple[str, ...]:
        return tuple(row.tracker for row in self._trackers if row.core)

    @property
    def _has_swaps(self) -> bool:
        """Whether there are outcomes of trackers x generators, or of dialogs."""
        plan, outcomes = self.plan, self.settings.outcomes
        return outcomes is not None and bool(plan.states) and bool(plan.generators or outcomes.dialog)

    @property
    def _swap_tasks(self) -> list[SwapTask]:
        """One, or none."""
        plan, outcomes = self.plan, self.settings.outcomes
        if not self._has_swaps or outcomes is None:
            return []
        (correlation,) = self._correlation_tasks.values()
        return [SwapTask(correlation, outcomes.names, plan.generators, plan.slots)]

    @cached_property
    def _correlation_tasks(self) -> dict[str | None, CorrelationTask]:
        """By variant; of a study that learns nothing, by None."""
        plan = self.plan
        plugins = hash_of_plugins(self.settings.plugins)
        variants: dict[str | None, tuple[str, ...]]
        variants = {variant.name: variant.targets for variant in plan.variants if not variant.brief}
        return {
            name: CorrelationTask(
                plan.datasets,
                plan.tracker_names,
                self._core,
                targets,
                self.settings.correlation,
                self.settings.seed,
                plan.scored,
                plan.valued(name),
                name,
                plugins,
            )
            for name, targets in (variants or {None: plan.targets}).items()
        }

    def _points(self, variant: str | None, averaged: bool = True) -> Iterator[Points]:
        for group in (ALL, CORE):
            yield points_of(self.panel, variant, group, self._core, averaged)

    def _result(self, task: Task, kind: type[V]) -> V:
        return Result.decode(self.store.read(task.key), task.key, kind).values

    def _study_tables(self) -> dict[str, Sequence[Row]]:
        """What only a study has, beside the values of policies."""
        settings = self.settings.correlation
        stages = {
            name: self._result(task, CorrelationTables) for name, task in self._correlation_tasks.items()
        }
        rows: dict[str, list[Row]] = {"correlations": [], "composite": []}
        for variant, stage in stages.items():
            for points in self._points(variant):
                rows["correlations"] += correlation_rows(
                    points, settings.coefficients, settings.permutations, settings.level, self.settings.seed
                )
                rows["correlations"] += [row for row in stage.soft if row.trackers == points.group]
            for points in self._points(variant, averaged=False):
                rows["composite"] += composite_rows(points, settings.level)
        rankings = {
            variant: [
                row
                for points in self._points(variant)
                for row in ranking(points, settings.coefficient, settings.level)
            ]
            for variant in self.panel.variants
        }
        for name in CorrelationTables.__struct_fields__:
            if name in TABLES:
                rows[name] = [row for stage in stages.values() for row in getattr(stage, name)]
        swapped = [self._result(task, SwapTables) for task in self._swap_tasks]
        # Over trackers x generators, in place of those by the means over generators.
        crossed: list[BestSetRow] = [row for part in swapped for row in part.best_set]
        targets = {row.target for row in crossed}
        others = [row for stage in stages.values() for row in stage.best_set if row.target not in targets]
        return {
            **rows,
            "intrinsic": intrinsic_rows(self.plan, self.store),
            "trackers": self._trackers,
            "best_set": [*crossed, *others],
            "sensitivity": sensitivity_rows(self.plan, rankings),
            "swap": [row for part in swapped for row in part.swap],
            "costs": [row for part in swapped for row in part.costs],
        }
