"""What is made of a run's stages once all are there: the panel, and the tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from extrinsic.panel import Panel
from extrinsic.study.panels import fill_panel
from extrinsic.study.plan import Plan
from extrinsic.study.policy_rows import GridValues, curve_rows, policy_rows
from extrinsic.study.settings import StudySettings
from extrinsic.study.store import Store
from extrinsic.study.table_rows import (
    diagnostic_rows,
    intrinsic_rows,
    return_rows,
    sensitivity_rows,
    stored_values,
    world_properties,
)
from extrinsic.study.tables import ERRORS_TABLE, POLICY_TABLES, TABLES
from extrinsic.verdict.choice_table import Declaration, choice_rows, undeclared
from extrinsic.verdict.composite import composite_rows
from extrinsic.verdict.core_systems import core_rows
from extrinsic.verdict.correlations import ALL, CORE, Points, correlation_rows, points_of
from extrinsic.verdict.item_level import error_rows
from extrinsic.verdict.rows import CompositeRow, CorrelationRow, Row

Table = tuple[type[Row], Sequence[Row]]


@dataclass(frozen=True)
class StudyResults:
    """The end of a run; a grid of policies has tables of its own."""

    settings: StudySettings
    plan: Plan
    store: Store

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
        if self.plan.generators:
            kinds = kinds | ERRORS_TABLE
        return {name: (kind, rows[name]) for name, kind in kinds.items()}

    @cached_property
    def panel(self) -> Panel:
        """What the stages of single trackers found: it is all that what follows knows of them."""
        simulation = self.settings.simulation
        draws_worlds = simulation is not None and simulation.worlds is not None
        properties = world_properties(self.plan.units) if draws_worlds else {}
        return fill_panel(self.plan, self.store, self.settings.seed, properties=properties)

    def _study_tables(self) -> dict[str, Sequence[Row]]:
        """What is made of the panel alone, beside the scores."""
        settings, panel = self.settings.correlation, self.panel
        trackers = core_rows(panel, self.settings.trackers.near_duplicate)
        core = tuple(row.tracker for row in trackers if row.core)
        correlations: list[CorrelationRow] = []
        composite: list[CompositeRow] = []
        for points in self._points(core, averaged=True):
            correlations += correlation_rows(
                points, settings.coefficients, settings.permutations, settings.level, self.settings.seed
            )
        for points in self._points(core, averaged=False):
            composite += composite_rows(points, settings.level)
        return {
            "intrinsic": intrinsic_rows(self.plan, self.store),
            "trackers": trackers,
            "choices": list(choice_rows(panel, core, self._declaration)),
            "correlations": correlations,
            "composite": composite,
            "sensitivity": list(sensitivity_rows(self.plan, panel, core)),
            "errors": list(error_rows(panel, core, settings.level)),
        }

    @property
    def warnings(self) -> list[str]:
        """What was declared for the verdict and is not measured."""
        keys, verdict = self.panel.metrics, self.settings.verdict
        return [
            f"[verdict]: the study does not measure {text!r}"
            for text in undeclared(keys, (*verdict.metrics, *verdict.prefer))
        ]

    @property
    def _declaration(self) -> Declaration:
        verdict = self.settings.verdict
        return Declaration(
            metrics=verdict.metrics,
            margin=verdict.margin,
            prefer=verdict.prefer,
            level=self.settings.correlation.level,
            draws=verdict.draws,
            seed=self.settings.seed,
        )

    def _points(self, core: Sequence[str], averaged: bool) -> Iterator[Points]:
        """Of every variant that metrics are related to, and both groups of trackers."""
        for variant in self.panel.variants:
            if any(self.panel.targets[k].is_correlated for k in self.panel.targets_of(variant)):
                for group in (ALL, CORE):
                    yield points_of(self.panel, variant, group, core, averaged)
