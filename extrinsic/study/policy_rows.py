"""The rows of a grid of policies: values, paired differences to a baseline, the learning curve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.study.planning.plan import Plan
from extrinsic.study.planning.variants import Variant
from extrinsic.study.stages.policy_spec import LEARNED, LOGGED, PolicyValue
from extrinsic.study.stages.store import Store, plain
from extrinsic.study.stages.variant_values import paired, variant_values
from extrinsic.study.tables.value_rows import CurveRow, PolicyRow
from extrinsic.value.paired import Paired, mean_of

ALL = "all"
"""Instead of a dataset's and a tracker's name: the mean over all of them."""

OBSERVED = "observed"

Cell = tuple[str, str]
"""Dataset and tracker."""


@dataclass(frozen=True, eq=False)
class Valued:
    """A stored value with its influence; dialogs: how many its policy was learned from."""

    value: PolicyValue
    paired: Paired
    dialogs: int


@dataclass(frozen=True)
class GridValues:
    """Every stored value of a grid, by variant, cell, policy and estimator."""

    cells: tuple[Cell, ...]
    values: dict[tuple[str, Cell, str, str], Valued]

    @staticmethod
    def read(plan: Plan, store: Store) -> GridValues:
        values: dict[tuple[str, Cell, str, str], Valued] = {}
        for variant, by_tracker in plan.learned.items():
            for tracker, of_tracker in variant_values(store, by_tracker).items():
                for entry in of_tracker:
                    value = entry.value
                    place = (variant, (value.dataset, tracker), value.policy, value.estimator)
                    values[place] = Valued(value, paired(entry), entry.dialogs)
        cells = tuple((dataset, tracker) for dataset in plan.datasets for tracker in plan.tracker_names)
        return GridValues(cells, values)

    def of(self, variant: str, cell: Cell, estimator: str) -> Valued:
        return self.values[variant, cell, LEARNED, estimator]

    def logged(self, variant: str, cell: Cell, estimator: str = OBSERVED) -> Valued:
        """The logged policy: of live play its value with the same callers, where it can be played."""
        played = self.values.get((variant, cell, LOGGED, estimator))
        return self.values[variant, cell, LOGGED, OBSERVED] if played is None else played


def policy_rows(plan: Plan, values: GridValues) -> list[PolicyRow]:
    """Of every cell and of their mean: the logged policy, and each policy by every estimator."""
    variants = [variant for variant in plan.variants if not variant.brief]
    rows: list[PolicyRow] = []
    for cells in _cells_and_all(values.cells):
        for name, variant in {variant.logged: variant for variant in reversed(variants)}.items():
            for estimator in dict.fromkeys((OBSERVED, *variant.spec.estimators)):
                logged = [values.logged(variant.name, cell, estimator) for cell in cells]
                if all(entry.value.estimator == estimator for entry in logged):
                    rows.append(_policy_row(cells, name, logged))
        for variant in variants:
            for estimator in variant.spec.estimators:
                chosen = [values.of(variant.name, cell, estimator) for cell in cells]
                if variant.baseline == variant.logged:
                    others = [values.logged(variant.name, cell, estimator) for cell in cells]
                else:
                    others = [values.of(variant.baseline, cell, estimator) for cell in cells]
                is_own = variant.baseline == variant.name
                rows.append(
                    _policy_row(cells, variant.name, chosen, "" if is_own else variant.baseline, others)
                )
    return rows


def _cells_and_all(cells: Sequence[Cell]) -> Iterator[Sequence[Cell]]:
    """The mean of all first, where there are several."""
    if len(cells) > 1:
        yield cells
    for cell in cells:
        yield [cell]


def _policy_row(
    cells: Sequence[Cell],
    name: str,
    valued: Sequence[Valued],
    baseline: str = "",
    others: Sequence[Valued] = (),
) -> PolicyRow:
    value, low, high = _with_interval([entry.paired for entry in valued])
    difference: tuple[float | None, float | None, float | None] = (None, None, None)
    if baseline:
        pairs = zip(valued, others, strict=True)
        difference = _with_interval([entry.paired.minus(other.paired) for entry, other in pairs])
    diagnostics = [entry.value.diagnostics for entry in valued]
    gains = [numbers["placebo_gain"] for numbers in diagnostics if "placebo_gain" in numbers]
    dataset, tracker = cells[0] if len(cells) == 1 else (ALL, ALL)
    return PolicyRow(
        dataset=dataset,
        tracker=tracker,
        policy=name,
        estimator=valued[0].value.estimator,
        value=value,
        low=low,
        high=high,
        n=_n(valued),
        baseline=baseline,
        difference=difference[0],
        difference_low=difference[1],
        difference_high=difference[2],
        placebo_gain=plain(np.mean(gains)) if gains else None,
        flags=_flags(valued),
    )


def _with_interval(values: Sequence[Paired]) -> tuple[float | None, float | None, float | None]:
    mean = mean_of(values) if len(values) > 1 else values[0]
    low, high = mean.interval()
    return plain(mean.mean), plain(low), plain(high)


def _n(valued: Sequence[Valued]) -> int:
    """The dialogs that a value rests on: those of a dataset count once, whatever the trackers."""
    sizes = {name: len(numbers) for entry in valued for name, numbers in entry.paired.influence.items()}
    return sum(sizes.values())


def _flags(valued: Sequence[Valued]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(flag for entry in valued for flag in entry.value.flags))


def curve_rows(plan: Plan, values: GridValues) -> list[CurveRow]:
    """Every policy by the number of dialogs it was learned from; none where there is no curve."""
    points: dict[str, list[Variant]] = {}
    for variant in plan.variants:
        if variant.brief:
            points.setdefault(variant.policy, []).append(variant)
    full = {variant.name: variant for variant in plan.variants if not variant.brief}
    return [
        _curve_row(cells, name, variant, values, shares[0].spec.estimators[0])
        for cells in _cells_and_all(values.cells)
        for name, shares in points.items()
        for variant in (*shares, full[name])
    ]


def _curve_row(
    cells: Sequence[Cell], name: str, variant: Variant, values: GridValues, estimator: str
) -> CurveRow:
    valued = [values.of(variant.name, cell, estimator) for cell in cells]
    value, low, high = _with_interval([entry.paired for entry in valued])
    dataset, tracker = cells[0] if len(cells) == 1 else (ALL, ALL)
    return CurveRow(
        dataset=dataset,
        tracker=tracker,
        policy=name,
        estimator=estimator,
        share=variant.spec.share,
        dialogs=round(float(np.mean([entry.dialogs for entry in valued]))),
        value=value,
        low=low,
        high=high,
        n=_n(valued),
        flags=_flags(valued),
    )
