"""What each kind of error costs, where trackers were put under the responses of several generators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from extrinsic.report.figures import (
    INK,
    draw,
    look,
    panels,
    put_intervals,
    put_legend,
    put_notes,
    put_points,
    put_rows,
)
from extrinsic.report.page_parts import Fold, Picture, Section, Text
from extrinsic.report.run_data import Study
from extrinsic.verdict.correlations import CORE
from extrinsic.verdict.item_level import KINDS
from extrinsic.verdict.names import NOTHING, share, slug, target_title
from extrinsic.verdict.rows import ErrorRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GROUPS = ("all", "search", "booking")
MOST_SLOTS = 18
"""In the picture."""

FEWEST = 0.01
"""A slot with errors in a smaller share of the dialogs is in errors.csv alone."""


def errors_section(study: Study) -> Section | None:
    """Of every outcome a picture, folded after the first."""
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
    targets = dict.fromkeys(row.target for row in rows)
    pictures = [_costs([row for row in rows if row.target == target]) for target in targets]
    folded = [
        Fold(f"The same for {target_title(target)}", (picture,))
        for target, picture in zip(list(targets)[1:], pictures[1:], strict=True)
    ]
    return Section("errors", "What errors cost", (Text((design,)), pictures[0], *folded))


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
        put_notes(axes, [_shares(by_kind, name) for name in slots])
        axes.axvline(0.0, color=INK, linewidth=0.8)
        axes.set_xlabel(f"{target_title(rows[0].target).removeprefix('the ')}: percentage points lower")
        put_legend(axes, above=0.08)

    target = rows[0].target
    caption = (
        "By how much the outcome is lower in a dialog where a slot is missed, wrong or overshot in some "
        "turn, within each generator and dialog. Lines are intervals over trackers, generators and dialogs. "
        f"At the right in which share of the dialogs it is ({', '.join(KINDS)}); errors.csv has every slot."
    )
    return draw(f"errors_{slug(target)}", f"What each error costs of {target_title(target)}", caption, paint)


def _shares(by_kind: Mapping[tuple[str, str], ErrorRow], slots: str) -> str:
    return ", ".join(
        share(row.share) if (row := by_kind.get((slots, kind))) is not None else NOTHING for kind in KINDS
    )


def _points(value: float | None) -> float | None:
    return None if value is None else 100.0 * value
