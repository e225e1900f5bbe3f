"""Every metric and schedule in descending order of its correlation (Lee 2014, Fig. 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from extrinsic.report.drawing.figures import MUTED, draw, panels, put_legend, put_rows
from extrinsic.report.drawing.page_parts import Block, Fold, Picture, Section
from extrinsic.report.results.naming import COEFFICIENTS, FAMILIES, Name, family_of, slug, target_in_words
from extrinsic.report.results.report_data import Study
from extrinsic.report.results.variant_results import VariantResults
from extrinsic.study.tables.schema import CorrelationRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW = 0.165
LONGEST = 50


def section(study: Study) -> Section | None:
    blocks: list[Block] = []
    for evidence in study.evidence:
        for group in evidence.groups:
            if not evidence.ranked[group]:
                continue
            picture = _picture(study, evidence, group)
            trackers = "all trackers" if group == "all" else "core trackers only"
            title = (
                f"{evidence.variant}: {trackers}" if evidence.variant else trackers[0].upper() + trackers[1:]
            )
            blocks.append(picture if not blocks else Fold(title, (picture,)))
    return Section("ranking", "Every metric, best first", tuple(blocks)) if blocks else None


def _picture(study: Study, evidence: VariantResults, group: str) -> Picture:
    rows = evidence.ranked[group]
    name = "_".join(filter(None, ("ranking", group, slug(evidence.variant))))
    variant = f", {evidence.variant}" if evidence.variant else ""
    title = f"{len(rows)} metrics by their correlation, {group} trackers{variant}"
    coefficient = COEFFICIENTS.get(evidence.coefficient, evidence.coefficient)

    def paint(figure: Figure) -> None:
        (axes,) = panels(figure, 1, 1, 5.4, ROW * len(rows) + 0.1)
        _points(axes, rows)
        put_rows(axes, [Name.of(row).label(LONGEST) for row in rows])
        axes.axvline(0, color=MUTED, linewidth=0.8)
        axes.set_xlabel(f"{coefficient} with {target_in_words(evidence.target)}, within datasets")
        axes.xaxis.set_label_position("bottom")
        axes.tick_params(top=True, labeltop=True, axis="x")
        ends = [end for row in rows for end in (row.low, row.r) if end is not None]
        axes.set_xlim(max(-1.05, min([0.0, *ends]) - 0.08), 1.04)
        put_legend(axes, above=0.3)

    caption = (
        f"Dots are correlations, lines {study.level} intervals over trackers for a metric named in advance, "
        "with the dialogs' noise removed, which may move a line off its dot; a metric is named with its "
        "component and schedule. Which metrics may be the best is in best_set.csv."
    )
    return draw(name, title, caption, paint)


def _points(axes: Axes, rows: list[CorrelationRow]) -> None:
    for family in FAMILIES:
        members = [(y, row) for y, row in enumerate(rows) if family_of(row.metric) is family]
        if not members:
            continue
        intervals = [
            (y, row.low, row.high) for y, row in members if row.low is not None and row.high is not None
        ]
        axes.hlines(
            [y for y, _, _ in intervals],
            [low for _, low, _ in intervals],
            [high for _, _, high in intervals],
            color=family.colour,
            linewidth=1.3,
            alpha=0.55,
        )
        dots = [(row.r, y) for y, row in members if row.r is not None]
        axes.plot(
            [r for r, _ in dots],
            [y for _, y in dots],
            family.marker,
            color=family.colour,
            markersize=4.6,
            label=family.title,
        )
