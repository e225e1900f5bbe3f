"""What each kind of error costs, where trackers were put under the responses of several generators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from extrinsic.report.figures import INK, draw, look, panels, put_intervals, put_legend, put_points, put_rows
from extrinsic.report.page_parts import Block, Fold, Picture, Section, Table, Text, described, table
from extrinsic.report.run_data import Study
from extrinsic.verdict.correlations import CORE
from extrinsic.verdict.item_level import KINDS
from extrinsic.verdict.names import NOTHING, in_unit, share, target_title
from extrinsic.verdict.rows import ErrorRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GROUPS = ("all", "search", "booking")
MOST_SLOTS = 18
"""In the picture."""

FEWEST = 0.01
"""A slot with errors in a smaller share of the dialogs is in errors.csv alone."""


def errors_section(study: Study) -> Section | None:
    """Of the primary outcome a picture and a table, of the others a table."""
    rows = [row for row in study.tables[ErrorRow] if row.cost is not None and row.error in KINDS]
    groups = {row.systems for row in rows}
    systems = CORE if CORE in groups else next(iter(groups), "")
    rows = [row for row in rows if row.systems == systems and (row.share >= FEWEST or row.slots in GROUPS)]
    if not rows:
        return None
    n = sum(dataset.sampled for dataset in study.panel.datasets)
    design = (
        f"The states of the trackers were put under the responses of {n} generators in the same dialogs: the "
        "tracker is all that differs."
    )
    blocks: list[Block] = [Text((design,))]
    for target in dict.fromkeys(row.target for row in rows):
        own = [row for row in rows if row.target == target]
        made: tuple[Block, ...] = (_costs(own), _table(own))
        blocks += made[:1] if len(blocks) == 1 else []
        rest = made[1:] if len(blocks) == 2 else made
        blocks.append(Fold(f"In numbers, for {target_title(target)}", rest))
    return Section("errors", "What errors cost", tuple(blocks))


def _slots(rows: Sequence[ErrorRow]) -> list[str]:
    """Groups first, then single slots, the dearest first."""
    dearest: dict[str, float] = {}
    for row in rows:
        dearest[row.slots] = max(dearest.get(row.slots, -1.0), row.cost or 0.0)
    groups = [name for name in GROUPS if name in dearest]
    return groups + sorted((name for name in dearest if name not in GROUPS), key=lambda name: -dearest[name])


def _costs(rows: Sequence[ErrorRow]) -> Picture:
    slots, by_kind = _slots(rows)[:MOST_SLOTS], {(row.slots, row.error): row for row in rows}

    def paint(figure: Figure) -> None:
        (axes,) = panels(figure, 1, 1, 5.2, 0.3 * len(slots) + 0.1)
        groups = [y for y, name in enumerate(slots) if name in GROUPS]
        put_rows(axes, [f"{name} slots" if name in GROUPS else name for name in slots], groups)
        for number, kind in enumerate(KINDS):
            colour, marker = look(number)
            places = [(y + 0.22 * (number - 1), by_kind.get((name, kind))) for y, name in enumerate(slots)]
            shown = [(y, row) for y, row in places if row is not None]
            ends = [(y, _points(row.low), _points(row.high)) for y, row in shown]
            put_intervals(axes, ends, color=colour, linewidth=1.2)
            points = [(_points(row.cost) or 0.0, y) for y, row in shown]
            put_points(axes, points, marker, color=colour, markersize=4.6, label=kind)
        axes.axvline(0.0, color=INK, linewidth=0.8)
        axes.set_xlabel(f"{target_title(rows[0].target).removeprefix('the ')}: percentage points lower")
        put_legend(axes, above=0.08)

    caption = (
        "By how much the outcome is lower in a dialog where a slot is missed, wrong or overshot in some "
        "turn, within each generator and dialog. Lines are intervals over trackers, generators and dialogs."
    )
    return draw("errors", "What each kind of error costs", caption, paint)


def _points(value: float | None) -> float | None:
    return None if value is None else 100.0 * value


def _table(rows: Sequence[ErrorRow]) -> Table:
    by_kind = {(row.slots, row.error): row for row in rows}
    lines = []
    for name in _slots(rows):
        cells = [by_kind.get((name, kind)) for kind in KINDS]
        lines.append((name, *(part for row in cells for part in _cells(row))))
    heads = described(ErrorRow, "slots")
    for kind in KINDS:
        heads += described(ErrorRow, cost=f"#{kind}", low="#interval", share="#of dialogs")
    caption = f"Percentage points of {target_title(rows[0].target)}, over the {rows[0].systems} trackers."
    return table(caption, heads, lines, "errors.csv")


def _cells(row: ErrorRow | None) -> tuple[str, str, str]:
    if row is None:
        return NOTHING, NOTHING, NOTHING
    return (
        in_unit(row.cost, "share"),
        f"{in_unit(row.low, 'share')} to {in_unit(row.high, 'share')}",
        share(row.share),
    )
