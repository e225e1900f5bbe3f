"""The rows of a grid of policies: values, paired differences to a baseline, the learning curve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from msgspec.structs import replace

from extrinsic.study.plan import Plan
from extrinsic.study.policy_spec import LEARNED, LOGGED
from extrinsic.study.store import Store
from extrinsic.study.table_rows import OBSERVED, made
from extrinsic.study.tables import CurveRow, PolicyRow
from extrinsic.study.variant_values import TrackerValue, paired, variant_values
from extrinsic.study.variants import Variant
from extrinsic.tables import plain
from extrinsic.value.value import Paired, mean_of

ALL = "all"
"""Instead of a dataset's and a tracker's name: the mean over all of them."""

Cell = tuple[str, str]
"""Dataset and tracker."""


class MeanValue(msgspec.Struct, frozen=True, kw_only=True):
    """A value in one cell of a grid, or the mean over all of its cells; fields as in `GridRow`."""

    dataset: str
    tracker: str
    estimator: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    flags: tuple[str, ...]


@dataclass(frozen=True)
class GridValues:
    """Every stored value of a grid, by variant, cell, policy and estimator."""

    cells: tuple[Cell, ...]
    values: Mapping[tuple[str, Cell, str, str], TrackerValue]

    @staticmethod
    def read(plan: Plan, store: Store) -> GridValues:
        values = {
            (variant, (entry.value.dataset, tracker), entry.value.policy, entry.value.estimator): entry
            for variant, by_tracker in plan.learned.items()
            for tracker, entries in variant_values(store, by_tracker).items()
            for entry in entries
        }
        cells = tuple((dataset, tracker) for dataset in plan.datasets for tracker in plan.tracker_names)
        return GridValues(cells, values)

    def cells_and_all(self) -> Iterator[Sequence[Cell]]:
        """All of them first, for their mean, where there are several."""
        if len(self.cells) > 1:
            yield self.cells
        for cell in self.cells:
            yield [cell]

    def learned(self, variant: str, cells: Sequence[Cell], estimator: str) -> list[TrackerValue]:
        return [self.values[variant, cell, LEARNED, estimator] for cell in cells]

    def logged(self, variant: str, cells: Sequence[Cell], estimator: str) -> list[TrackerValue]:
        """The logged policy: of live play its value with the same callers, where it can be played."""
        return [
            self.values.get((variant, cell, LOGGED, estimator))
            or self.values[variant, cell, LOGGED, OBSERVED]
            for cell in cells
        ]


def policy_rows(plan: Plan, values: GridValues) -> list[PolicyRow]:
    """Of every cell and of their mean: the logged policy, and each policy by every estimator."""
    variants = [variant for variant in plan.variants if not variant.brief]
    rows: list[PolicyRow] = []
    for cells in values.cells_and_all():
        for name, variant in {variant.logged: variant for variant in reversed(variants)}.items():
            for estimator in dict.fromkeys((OBSERVED, *variant.spec.estimators)):
                logged = values.logged(variant.name, cells, estimator)
                if all(entry.value.estimator == estimator for entry in logged):
                    rows.append(made(PolicyRow, _mean(cells, logged), policy=name))
        rows += [
            _policy_row(cells, variant, estimator, values)
            for variant in variants
            for estimator in variant.spec.estimators
        ]
    return rows


def _policy_row(cells: Sequence[Cell], variant: Variant, estimator: str, values: GridValues) -> PolicyRow:
    entries = values.learned(variant.name, cells, estimator)
    row = made(PolicyRow, _mean(cells, entries), policy=variant.name)
    gains = [
        numbers["placebo_gain"]
        for numbers in (entry.value.diagnostics for entry in entries)
        if "placebo_gain" in numbers
    ]
    if gains:
        row = replace(row, placebo_gain=plain(np.mean(gains)))
    if variant.baseline == variant.name:
        return row
    if variant.baseline == variant.logged:
        others = values.logged(variant.name, cells, estimator)
    else:
        others = values.learned(variant.baseline, cells, estimator)
    pairs = zip(entries, others, strict=True)
    value, low, high = _with_interval([paired(entry).minus(paired(other)) for entry, other in pairs])
    return replace(row, baseline=variant.baseline, difference=value, difference_low=low, difference_high=high)


def curve_rows(plan: Plan, values: GridValues) -> list[CurveRow]:
    """Every policy by the number of dialogs it was learned from; none where there is no curve."""
    points: dict[str, list[Variant]] = {}
    for variant in plan.variants:
        if variant.brief:
            points.setdefault(variant.policy, []).append(variant)
    full = {variant.name: variant for variant in plan.variants if not variant.brief}
    rows = []
    for cells in values.cells_and_all():
        for name, shares in points.items():
            for variant in (*shares, full[name]):
                entries = values.learned(variant.name, cells, shares[0].spec.estimators[0])
                dialogs = round(float(np.mean([entry.dialogs for entry in entries])))
                mean = _mean(cells, entries)
                rows.append(made(CurveRow, mean, policy=name, share=variant.spec.share, dialogs=dialogs))
    return rows


def _mean(cells: Sequence[Cell], entries: Sequence[TrackerValue]) -> MeanValue:
    """The value in a cell, or the mean over several."""
    values = [paired(entry) for entry in entries]
    value, low, high = _with_interval(values)
    dataset, tracker = cells[0] if len(cells) == 1 else (ALL, ALL)
    # The dialogs of a dataset count once, whatever the trackers.
    sizes = {name: len(numbers) for each in values for name, numbers in each.influence.items()}
    return MeanValue(
        dataset=dataset,
        tracker=tracker,
        estimator=entries[0].value.estimator,
        value=value,
        low=low,
        high=high,
        n=sum(sizes.values()),
        flags=tuple(dict.fromkeys(flag for entry in entries for flag in entry.value.flags)),
    )


def _with_interval(values: Sequence[Paired]) -> tuple[float | None, float | None, float | None]:
    mean = mean_of(values) if len(values) > 1 else values[0]
    low, high = mean.interval()
    return plain(mean.mean), plain(low), plain(high)
