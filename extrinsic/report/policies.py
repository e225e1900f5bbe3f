"""The page of a grid of policies: which earns most, by how much, how it grows with dialogs, what to trust."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from extrinsic.report.figures import (
    INK,
    draw,
    look,
    panels,
    put_intervals,
    put_legend,
    put_points,
    put_rows,
    short,
)
from extrinsic.report.page_parts import Block, Fold, Picture, Section, Table, Text, described, table
from extrinsic.report.run_data import Study, read_run
from extrinsic.report.trust import trust_section
from extrinsic.study.run import Run
from extrinsic.study.tables import POLICY_TABLES, CurveRow, PolicyRow
from extrinsic.study.variants import LOGGED_BASELINE
from extrinsic.verdict.names import NOTHING, amount, counted, listing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, ROW_HEIGHT = 5.2, 0.27


@dataclass(frozen=True)
class Grid:
    """A run of `extrinsic policies`.

    rows: of the mean over all datasets and trackers first.   overall: these.   estimator: that orders the
    policies, as the grid has it: live by default, else the first.   ranked: the best first, without the
    logged one.
    """

    study: Study
    rows: list[PolicyRow]
    overall: list[PolicyRow]
    estimators: list[str]
    estimator: str
    ranked: list[PolicyRow]

    @property
    def facts(self) -> str:
        cells = {(row.dataset, row.tracker) for row in self.rows if row.dataset != "all"}
        datasets, trackers = (sorted({cell[place] for cell in cells}) for place in (0, 1))
        parts = (
            counted(len({row.policy for row in self.ranked}), "policy", "policies"),
            counted(len(datasets), "dataset") + f" ({listing(datasets, 6)})",
            counted(len(trackers), "tracker") + f" ({listing(trackers, 6)})",
        )
        return f"{', '.join(parts)}; estimators: {listing(self.estimators)}."


def read_grid(run: Run, folder: str = "") -> Grid:
    """Everything the page needs; raises InputError for a run that is not complete or is damaged."""
    study = read_run(run, folder, POLICY_TABLES)
    rows = study.tables[PolicyRow]
    overall = [row for row in rows if (row.dataset, row.tracker) == (rows[0].dataset, rows[0].tracker)]
    learned = [row for row in overall if row.policy.partition(",")[0] != LOGGED_BASELINE]
    names = list(dict.fromkeys(row.estimator for row in learned))
    wanted = (tomllib.loads(study.config).get("grid", {}).get("estimator"), "live", names[0])
    estimator = next(name for name in wanted if name in names)
    of_it = [row for row in learned if row.estimator == estimator]
    ranked = sorted(of_it, key=lambda row: -(row.value if row.value is not None else math.inf))
    return Grid(study, rows, overall, names, estimator, ranked)


def policy_sections(grid: Grid) -> list[Section]:
    made = [
        Section("answer", "The answer", (Text(_answer(grid)), _differences(grid))),
        Section("values", "Every policy, by every estimator", _tables(grid)),
        _curve_section(grid.study.tables[CurveRow]),
        trust_section(grid.study),
    ]
    return [section for section in made if section is not None]


def _answer(grid: Grid) -> tuple[str, ...]:
    ranked = grid.ranked
    best = ranked[0]
    value = f"{amount(best.value, 1)} {_interval(best.low, best.high)}"
    text = f"By {grid.estimator}, {best.policy} earns most: {value}"
    if best.baseline:
        ends = _interval(best.difference_low, best.difference_high)
        text += f", which is {amount(best.difference, 1)} {ends} more than {best.baseline}"
    better = [row.policy for row in ranked if row.difference_low is not None and row.difference_low > 0]
    worse = [row.policy for row in ranked if row.difference_high is not None and row.difference_high < 0]
    compared = [row for row in ranked if row.baseline]
    second = (
        f"Of {counted(len(compared), 'policy', 'policies')} with a baseline, {len(better)} "
        f"{'earns' if len(better) == 1 else 'earn'} more than it, {len(worse)} less; of the other "
        f"{len(compared) - len(better) - len(worse)} the interval of the difference contains 0."
    )
    return (f"{text}.", second)


def _interval(low: float | None, high: float | None) -> str:
    return NOTHING if low is None or high is None else f"[{amount(low, 1)}, {amount(high, 1)}]"


def _differences(grid: Grid) -> Picture:
    """Each policy's difference to its baseline, by every estimator."""
    names = [row.policy for row in grid.ranked if row.baseline] or [row.policy for row in grid.ranked]
    compares = any(row.baseline for row in grid.ranked)
    keys = ("difference", "difference_low", "difference_high") if compares else ("value", "low", "high")

    def paint(figure: Figure) -> None:
        (axes,) = panels(figure, 1, 1, WIDTH, ROW_HEIGHT * max(3, len(names)))
        put_rows(axes, [short(name, 48) for name in names])
        for number, estimator in enumerate(grid.estimators):
            rows = {row.policy: row for row in grid.overall if row.estimator == estimator}
            offset = (number - (len(grid.estimators) - 1) / 2) * 0.6 / max(1, len(grid.estimators))
            shown = [(y + offset, rows[name]) for y, name in enumerate(names) if name in rows]
            points = [(y, *(getattr(row, key) for key in keys)) for y, row in shown]
            whole = [point for point in points if None not in point]
            colour, marker = look(number)
            put_intervals(axes, [(y, low, high) for y, _, low, high in whole], color=colour, linewidth=1.1)
            values = [(value, y) for y, value, _, _ in whole]
            put_points(axes, values, marker, color=colour, markersize=4.2, label=estimator)
        if compares:
            axes.axvline(0.0, color=INK, linewidth=0.8)
        axes.set_xlabel("return of a dialog, less the baseline's" if compares else "return of a dialog")
        put_legend(axes)

    caption = (
        "Points with 95 % intervals over dialogs; the policies in the order of the estimator "
        f"{grid.estimator}. An estimator that favours one kind of learner disagrees with live play here."
    )
    title = "Differences to the baseline" if compares else "Values"
    return draw("differences", title, caption, paint)


def _tables(grid: Grid) -> tuple[Block, ...]:
    first = grid.overall
    blocks: list[Block] = [_table(first)]
    for cell in dict.fromkeys((row.dataset, row.tracker) for row in grid.rows):
        rows = [row for row in grid.rows if (row.dataset, row.tracker) == cell]
        if rows != first:
            blocks.append(Fold(f"{cell[0]}, {cell[1]}", (_table(rows),), is_aside=True))
    return tuple(blocks)


def _table(rows: Sequence[PolicyRow]) -> Table:
    heads = described(
        PolicyRow, "policy", "estimator", value="#value", low="#interval", n="#n", baseline="baseline"
    )
    heads += described(PolicyRow, difference="#difference", difference_low="#its interval")
    heads += described(PolicyRow, placebo_gain="#placebo", flags="flags")
    lines = []
    for row in rows:
        value = amount(row.value, 1), _interval(row.low, row.high), f"{row.n:,}"
        difference = amount(row.difference, 1), _interval(row.difference_low, row.difference_high)
        rest = amount(row.placebo_gain, 1), " ".join(row.flags)
        lines.append((row.policy, row.estimator, *value, row.baseline, *difference, *rest))
    where = f"Dataset {rows[0].dataset}, tracker {rows[0].tracker}."
    caption = "The mean over all datasets and trackers." if rows[0].dataset == "all" else where
    return table(caption, heads, lines, "policies.csv")


def _curve_section(curve: list[CurveRow]) -> Section | None:
    if not curve:
        return None
    first = curve[0]
    rows = [row for row in curve if (row.dataset, row.tracker) == (first.dataset, first.tracker)]

    def paint(figure: Figure) -> None:
        (axes,) = panels(figure, 1, 1, WIDTH, 3.0)
        for number, name in enumerate(dict.fromkeys(row.policy for row in rows)):
            own = sorted((row for row in rows if row.policy == name), key=lambda row: row.dialogs)
            whole = [row for row in own if None not in (row.value, row.low, row.high)]
            if not whole:
                continue
            colour, marker = look(number)
            points = [(row.dialogs, row.value or 0.0) for row in whole]
            put_points(axes, points, f"{marker}-", color=colour, markersize=4, linewidth=1.1, label=name)
            intervals = [(row.dialogs, row.low, row.high) for row in whole]
            put_intervals(axes, intervals, upright=True, color=colour, linewidth=0.9)
        axes.set_xlabel("training dialogs")
        axes.set_ylabel(f"return of a dialog, {first.estimator}")
        put_legend(axes, ncols=3)

    caption = (
        "Each policy learned from a part of the training dialogs; a smaller part is within a larger one. "
        "Where lines still rise at the right, more dialogs would help. Intervals are over test dialogs; a "
        "line that goes up and down shows how much the choice of training dialogs matters."
    )
    picture = draw("learning_curve", "What more training dialogs bring", caption, paint)
    return Section("curve", "Learning curve", (picture,))
