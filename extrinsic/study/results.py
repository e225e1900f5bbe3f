"""What is made of a run's stages once all are there: the panel, and the rows of the tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from extrinsic.arrays import Floats
from extrinsic.panel import Panel
from extrinsic.study.panels import fill_panel
from extrinsic.study.plan import Plan
from extrinsic.study.policy_values import LEARNED, LOGGED, StoredValue, stored_values
from extrinsic.study.settings import StudySettings
from extrinsic.study.store import Store
from extrinsic.study.tables import (
    ERRORS_TABLE,
    LEARNER,
    POLICY_TABLES,
    TABLES,
    CurveRow,
    DiagnosticRow,
    IntrinsicRow,
    PolicyRow,
    ReturnRow,
    SensitivityRow,
)
from extrinsic.study.variants import Variant
from extrinsic.tables import plain
from extrinsic.value.value import Paired, mean_of
from extrinsic.verdict.choice_table import Declaration, choice_rows, undeclared
from extrinsic.verdict.choices import choices
from extrinsic.verdict.coefficients import correlate
from extrinsic.verdict.composite import composite_rows
from extrinsic.verdict.core_systems import core_rows
from extrinsic.verdict.correlations import ALL, CORE, Points, correlation_rows, points_of
from extrinsic.verdict.item_level import KINDS, error_rows
from extrinsic.verdict.rows import Row

OBSERVED = "observed"

EVERY = "all"
"""Instead of a dataset's and a tracker's name: the mean over all cells of a grid."""

Cell = tuple[str, str]
"""Dataset and tracker."""

R = TypeVar("R", bound=Row)


@dataclass(frozen=True)
class StudyResults:
    """The end of a run; a grid of policies has tables of its own."""

    settings: StudySettings
    plan: Plan
    store: Store

    @cached_property
    def values(self) -> dict[str | None, list[StoredValue]]:
        """Every stored value by variant; None: outcomes."""
        stages = {variant.name: self.plan.learned[variant.name] for variant in self.plan.variants}
        by_variant = {None: self.plan.outcomes} | stages
        return {variant: stored_values(self.store, keys) for variant, keys in by_variant.items()}

    @cached_property
    def panel(self) -> Panel:
        """What the stages of single trackers found: it is all that what follows knows of them."""
        simulation = self.settings.simulation
        draws_worlds = simulation is not None and simulation.worlds is not None
        return fill_panel(self.plan, self.store, self.values, self.settings.seed, draws_worlds)

    @property
    def warnings(self) -> list[str]:
        """What was declared for the verdict and is not measured."""
        verdict = self.settings.verdict
        missing = undeclared(self.panel.metrics, (*verdict.metrics, *verdict.prefer))
        return [f"[verdict]: the study does not measure {text!r}" for text in missing]

    def tables(self) -> dict[str, tuple[type[Row], Sequence[Row]]]:
        """The struct and the rows of every table, by its name."""
        rows: dict[str, Iterable[Row]] = {
            "returns": self._values_as(return_rows),
            "diagnostics": self._values_as(diagnostic_rows),
        }
        if self.settings.grid:
            grid, kinds = Grid.of(self.plan, self.values), POLICY_TABLES
            rows |= {"policies": grid.policy_rows(), "learning_curve": grid.curve_rows()}
        else:
            kinds = TABLES | (ERRORS_TABLE if self.plan.generators else {})
            rows |= self._rows_of_panel()
        return {name: (kind, list(rows[name])) for name, kind in kinds.items()}

    def _values_as(self, rows_of: Callable[[str | None, StoredValue], Iterator[R]]) -> Iterator[R]:
        """Dataset by dataset within each variant; outcomes last."""
        order = {dataset: number for number, dataset in enumerate(self.plan.datasets)}
        for variant in (*(variant.name for variant in self.plan.variants), None):
            for stored in sorted(self.values[variant], key=lambda stored: order[stored.value.dataset]):
                yield from rows_of(variant, stored)

    def _rows_of_panel(self) -> Iterator[tuple[str, Iterable[Row]]]:
        settings, seed, panel = self.settings.correlation, self.settings.seed, self.panel
        trackers = core_rows(panel, self.settings.trackers.near_duplicate)
        core = tuple(row.tracker for row in trackers if row.core)
        declaration = msgspec.convert(
            {"seed": seed} | msgspec.to_builtins(self.settings.verdict), Declaration
        )
        yield "intrinsic", intrinsic_rows(panel)
        yield "trackers", trackers
        yield "choices", choice_rows(panel, core, declaration)
        yield (
            "correlations",
            [
                row
                for points in _points(panel, core, averaged=True)
                for row in correlation_rows(
                    points, settings.coefficients, settings.permutations, settings.level, seed
                )
            ],
        )
        yield (
            "composite",
            [
                row
                for points in _points(panel, core, averaged=False)
                for row in composite_rows(points, settings.level)
            ],
        )
        yield "sensitivity", sensitivity_rows(self.plan, panel, core)
        yield "errors", error_rows(panel, core, settings.level)


def _points(panel: Panel, core: Sequence[str], averaged: bool) -> Iterator[Points]:
    """Of every variant that metrics are related to, and both groups of trackers."""
    for variant in panel.variants:
        if any(panel.targets[k].is_correlated for k in panel.targets_of(variant)):
            for group in (ALL, CORE):
                yield points_of(panel, variant, group, core, averaged)


def made(kind: type[R], source: msgspec.Struct, **others: Any) -> R:
    """A row that takes over what it shares with its source."""
    shared = [name for name in source.__struct_fields__ if name in kind.__struct_fields__]
    return kind(**{name: getattr(source, name) for name in shared} | others)


def intrinsic_rows(panel: Panel) -> Iterator[IntrinsicRow]:
    """Of every dataset, system and metric; errors by slot have a table of their own."""
    panel = panel.averaged()
    for (d, dataset), (s, tracker) in product(enumerate(panel.datasets), enumerate(panel.names)):
        for m, key in enumerate(panel.metrics):
            if key.metric not in KINDS:
                n, value = int(panel.counts[m, d, s]), plain(panel.scores[m, d, s])
                yield made(IntrinsicRow, key, dataset=dataset.name, tracker=tracker, n=n, value=value)


def return_rows(variant: str | None, stored: StoredValue) -> Iterator[ReturnRow]:
    value = stored.value
    low, high = (None if end is None else plain(end) for end in (value.low, value.high))
    least, most = value.feasible or (None, None)
    yield made(
        ReturnRow,
        value,
        tracker=stored.tracker,
        variant=variant,
        value=plain(value.mean),
        low=low,
        high=high,
        feasible_low=least,
        feasible_high=most,
    )


def diagnostic_rows(variant: str | None, stored: StoredValue) -> Iterator[DiagnosticRow]:
    """A row for every number that a learner or an estimator reports about itself."""
    value = stored.value
    named: dict[str, Any] = {"tracker": stored.tracker, "variant": variant}
    numbers: Mapping[str, float] = value.diagnostics
    if (value.policy, value.estimator) == (LOGGED, OBSERVED):
        # The logged policy has no diagnostics; the learner's take its row, once per dataset.
        named |= {"policy": LEARNED, "estimator": LEARNER}
        numbers = stored.learner
    for name, number in numbers.items():
        yield made(DiagnosticRow, value, diagnostic=name, value=None if np.isnan(number) else number, **named)


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
            yield made(
                SensitivityRow,
                points.metric_keys[best],
                parameter=variant.parameter or "(the study's own)",
                setting=variant.value,
                trackers=group,
                target=variant.targets[0],
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


class Grid(NamedTuple):
    """Every value of a grid of policies, by variant, cell, policy and estimator."""

    variants: Sequence[Variant]
    cells: Sequence[Cell]
    values: Mapping[tuple[str | None, Cell, str, str], StoredValue]

    @classmethod
    def of(cls, plan: Plan, values: Mapping[str | None, Sequence[StoredValue]]) -> Grid:
        cells = [(dataset, tracker) for dataset in plan.datasets for tracker in plan.tracker_names]
        by_name = {
            (
                variant,
                (stored.value.dataset, stored.tracker),
                stored.value.policy,
                stored.value.estimator,
            ): stored
            for variant, of_variant in values.items()
            for stored in of_variant
        }
        return cls(plan.variants, cells, by_name)

    @property
    def cells_and_all(self) -> list[Sequence[Cell]]:
        """All of them first, for their mean, where there are several."""
        return [*([self.cells] if len(self.cells) > 1 else []), *([cell] for cell in self.cells)]

    def policy_rows(self) -> Iterator[PolicyRow]:
        """Of every cell and of their mean: the logged policy, and each policy by every estimator."""
        variants = [variant for variant in self.variants if not variant.brief]
        for cells in self.cells_and_all:
            for name, variant in {variant.logged: variant for variant in reversed(variants)}.items():
                for estimator in dict.fromkeys((OBSERVED, *variant.spec.estimators)):
                    logged = [self.values.get((variant.name, cell, LOGGED, estimator)) for cell in cells]
                    if all(logged):
                        yield PolicyRow(policy=name, **_mean(cells, list(filter(None, logged))))
            for variant in variants:
                for estimator in variant.spec.estimators:
                    yield self._policy_row(cells, variant, estimator)

    def _policy_row(self, cells: Sequence[Cell], variant: Variant, estimator: str) -> PolicyRow:
        learned = self._learned(cells, variant.name, estimator)
        numbers = [stored.value.diagnostics for stored in learned]
        gains = [each["placebo_gain"] for each in numbers if "placebo_gain" in each]
        row = PolicyRow(
            policy=variant.name,
            placebo_gain=plain(np.mean(gains)) if gains else None,
            **_mean(cells, learned),
        )
        if variant.baseline == variant.name:
            return row
        if variant.baseline == variant.logged:
            # Of live play with the same callers, where the logged policy can be played.
            others = [
                self.values.get((variant.name, cell, LOGGED, estimator))
                or self.values[variant.name, cell, LOGGED, OBSERVED]
                for cell in cells
            ]
        else:
            others = self._learned(cells, variant.baseline, estimator)
        pairs = zip(learned, others, strict=True)
        value, low, high = _with_interval([one.paired.minus(other.paired) for one, other in pairs])
        return msgspec.structs.replace(
            row, baseline=variant.baseline, difference=value, difference_low=low, difference_high=high
        )

    def curve_rows(self) -> Iterator[CurveRow]:
        """Every policy by the number of dialogs it was learned from; none where there is no curve."""
        points: dict[str, list[Variant]] = {}
        for variant in self.variants:
            if variant.brief:
                points.setdefault(variant.policy, []).append(variant)
        full = {variant.name: variant for variant in self.variants if not variant.brief}
        for cells in self.cells_and_all:
            for name, shares in points.items():
                for variant in (*shares, full[name]):
                    learned = self._learned(cells, variant.name, shares[0].spec.estimators[0])
                    dialogs = round(float(np.mean([stored.dialogs for stored in learned])))
                    mean = _mean(cells, learned)
                    yield CurveRow(policy=name, share=variant.spec.share, dialogs=dialogs, **mean)

    def _learned(self, cells: Sequence[Cell], variant: str, estimator: str) -> list[StoredValue]:
        return [self.values[variant, cell, LEARNED, estimator] for cell in cells]


def _mean(cells: Sequence[Cell], values: Sequence[StoredValue]) -> dict[str, Any]:
    """The columns of a value in a cell, or of the mean over several."""
    paired = [stored.paired for stored in values]
    value, low, high = _with_interval(paired)
    dataset, tracker = cells[0] if len(cells) == 1 else (EVERY, EVERY)
    # The dialogs of a dataset count once, whatever the trackers.
    sizes = {name: len(numbers) for each in paired for name, numbers in each.influence.items()}
    return {
        "dataset": dataset,
        "tracker": tracker,
        "estimator": values[0].value.estimator,
        "value": value,
        "low": low,
        "high": high,
        "n": sum(sizes.values()),
        "flags": tuple(dict.fromkeys(flag for stored in values for flag in stored.value.flags)),
    }


def _with_interval(values: Sequence[Paired]) -> tuple[float | None, float | None, float | None]:
    mean = mean_of(values) if len(values) > 1 else values[0]
    low, high = mean.interval()
    return plain(mean.mean), plain(low), plain(high)
