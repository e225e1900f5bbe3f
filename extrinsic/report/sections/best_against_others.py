"""The best metric against the others, and which metrics may be the best."""

from __future__ import annotations

from typing import TYPE_CHECKING

from extrinsic.report.drawing.figures import MUTED, PAPER, draw, panels, put_notes, put_rows
from extrinsic.report.drawing.page_parts import Block, Fold, Head, Picture, Section, described, table
from extrinsic.report.results.naming import Name, family_of, slug
from extrinsic.report.results.numbers import probability, with_interval
from extrinsic.report.results.report_data import Study
from extrinsic.report.results.variant_results import Difference, VariantResults
from extrinsic.study.tables.schema import BestSetRow, CorrelationRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 40


def section(study: Study) -> Section | None:
    blocks: list[Block] = []
    for evidence in study.evidence:
        best = evidence.best()
        if best is None:
            continue
        others = sorted(evidence.differences(Name.of(best)), key=lambda other: other.difference)
        if others:
            blocks.append(_picture(study, evidence, best, others))
            chosen = _best_set(evidence)
            if chosen:
                title = f"Metrics that may be the best{f', {evidence.variant}' if evidence.variant else ''}"
                blocks.append(Fold(title, (chosen,)))
    return Section("pairs", "The best against the others", tuple(blocks)) if blocks else None


def _picture(
    study: Study, evidence: VariantResults, best: CorrelationRow, others: list[Difference]
) -> Picture:
    shown = others[:MOST]
    name = Name.of(best)
    title = f"{name.label(50)} against the others" + (f" ({evidence.variant})" if evidence.variant else "")

    def paint(figure: Figure) -> None:
        (axes,) = panels(figure, 1, 1, 4.8, 0.175 * len(shown) + 0.1)
        put_rows(axes, [other.other.label(50) for other in shown])
        put_notes(axes, [f"p {_p(other.p)}" for other in shown])
        colours = [family_of(other.other.metric).colour for other in shown]
        for colour in dict.fromkeys(colours):
            of_colour = [(y, other) for y, other in enumerate(shown) if colours[y] == colour]
            intervals = [
                (y, other.low, other.high)
                for y, other in of_colour
                if other.low is not None and other.high is not None
            ]
            axes.hlines(
                [y for y, _, _ in intervals],
                [low for _, low, _ in intervals],
                [high for _, _, high in intervals],
                color=colour,
                linewidth=1.4,
                alpha=0.55,
            )
            for clear in (True, False):
                dots = [(other.difference, y) for y, other in of_colour if other.is_clear is clear]
                axes.plot(
                    [x for x, _ in dots],
                    [y for _, y in dots],
                    "o",
                    color=colour,
                    markersize=4.8,
                    markerfacecolor=colour if clear else PAPER,
                )
        axes.axvline(0, color=MUTED, linewidth=0.9)
        axes.set_xlabel("by how much the best correlates more (difference of Pearson's r)")

    n_left = len(others) - len(shown)
    rest = f" The {n_left} farthest behind are left out." if n_left else ""
    caption = (
        f"Differences of dependent correlations with {study.level} intervals over dialogs and trackers; p by "
        "swapping the two metrics tracker by tracker. Filled: a clear difference (the interval excludes 0 "
        f"and p is under .05). Hollow: no clear difference.{rest}"
    )
    return draw("_".join(filter(None, ("pairs", slug(evidence.variant)))), title, caption, paint)


def _p(value: float | None) -> str:
    text = probability(value)
    return text if text.startswith("<") else f"= {text}"


def _best_set(evidence: VariantResults) -> Block | None:
    rows = [
        (
            group,
            Name.of(row).label(),
            with_interval(row.r, row.low, row.high),
            f"{row.rank_low} to {row.rank_high}",
            probability(row.p),
        )
        for group in evidence.groups
        for row in evidence.may_be_best(group)
    ]
    caption = (
        "The metrics for which 'it is the best' is not rejected, trackers resampled: a truly best one is "
        "among them with the study's confidence. Intervals hold for all metrics at once; ranks for each "
        "metric alone."
    )
    heads: tuple[Head, ...] = (
        *described(BestSetRow, trackers="trackers"),
        "metric",
        *described(BestSetRow, r="#r", rank="#ranks", p="#p"),
    )
    return table(caption, heads, rows, "best_set.csv") if rows else None
