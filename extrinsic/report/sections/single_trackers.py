"""The influence of single trackers, and how the order of metrics settles as trackers are added."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from extrinsic.report.drawing.figures import (
    INK,
    MARKERS,
    SERIES,
    draw,
    panels,
    put_legend,
    put_notes,
    put_rows,
    short,
)
from extrinsic.report.drawing.page_parts import Picture
from extrinsic.report.results.report_data import Study
from extrinsic.report.results.variant_results import VariantResults, rows_of_group
from extrinsic.study.naming import COEFFICIENTS, Name, family_of, slug
from extrinsic.study.number_texts import correlation
from extrinsic.study.tables.schema import InfluenceRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 25


class Shown(NamedTuple):
    """A line of the figure: a correlation, and its range when trackers are left out."""

    row: InfluenceRow
    r: float
    lowest: float
    highest: float


def influence_picture(evidence: VariantResults) -> Picture | None:
    shown = [
        Shown(row, row.r, row.lowest, row.highest)
        for row in rows_of_group(evidence.influence, evidence.group)
        if row.r is not None and row.lowest is not None and row.highest is not None
    ]
    if not shown:
        return None
    shown = sorted(shown, key=lambda line: -line.r)[:MOST]
    title = f"Correlations without each tracker in turn, the {len(shown)} best metrics"
    title += f" ({evidence.title})" if evidence.title else ""

    def paint(figure: Figure) -> None:
        (axes,) = panels(figure, 1, 1, 4.3, 0.19 * len(shown) + 0.1)
        put_rows(axes, [Name.of(line.row).title() for line in shown])
        notes = [(short(line.row.tracker, 22), correlation(line.row.r_without)) for line in shown]
        put_notes(axes, [f"without {tracker}: {r}" for tracker, r in notes])
        colours = [family_of(line.row.metric).colour for line in shown]
        for colour in dict.fromkeys(colours):
            of_colour = [(y, line) for y, line in enumerate(shown) if colours[y] == colour]
            heights = [y for y, _ in of_colour]
            axes.hlines(
                heights,
                [line.lowest for _, line in of_colour],
                [line.highest for _, line in of_colour],
                color=colour,
                linewidth=2.6,
                alpha=0.45,
            )
            axes.plot([line.r for _, line in of_colour], heights, "o", color=colour, markersize=4.6)
            moved = [(r, y) for y, line in of_colour if (r := line.row.r_without) is not None]
            axes.plot(
                [r for r, _ in moved],
                [y for _, y in moved],
                "|",
                color=colour,
                markersize=8,
                markeredgewidth=1.6,
            )
        low = min(line.lowest for line in shown)
        axes.set_xlim(max(-1.0, low - 0.06), 1.01)
        axes.set_xlabel(COEFFICIENTS.get(evidence.coefficient, evidence.coefficient))

    caption = (
        f"The dot is the correlation over {evidence.group} trackers, the bar its range when any one is left "
        "out; the tick and the note at the right show the tracker that changes it most. A correlation that "
        "one tracker makes is not a finding about metrics."
    )
    return draw("_".join(filter(None, ("influence", slug(evidence.variant)))), title, caption, paint)


def stability_picture(study: Study) -> Picture | None:
    every_variant = [evidence for evidence in study.evidence if evidence.stability]
    if not every_variant:
        return None
    title = "How the order of the metrics settles as trackers are added"

    def paint(figure: Figure) -> None:
        n = len(every_variant)
        width = 7.4 / n - 0.2 if n > 1 else 5.0
        every = panels(figure, 1, n, width, 2.6, across=0.25, sharey=True)
        for axes, evidence in zip(every, every_variant, strict=True):
            rows = rows_of_group(evidence.stability, evidence.group)
            band = [
                (row.n_trackers, row.low, row.high)
                for row in rows
                if row.low is not None and row.high is not None
            ]
            axes.fill_between(
                [n for n, _, _ in band],
                [low for _, low, _ in band],
                [high for _, _, high in band],
                color=SERIES[0],
                alpha=0.14,
                linewidth=0,
            )
            agreements = [(row.n_trackers, row.agreement) for row in rows if row.agreement is not None]
            winners = [(row.n_trackers, row.same_winner) for row in rows if row.same_winner is not None]
            for number, (label, points) in enumerate(
                (("order agrees (τ)", agreements), ("same metric first (share)", winners))
            ):
                axes.plot(
                    [n for n, _ in points],
                    [value for _, value in points],
                    marker=MARKERS[number],
                    color=SERIES[number],
                    markersize=4,
                    linewidth=1.5,
                    label=label,
                )
            axes.set_xlabel("trackers in the subset")
            axes.set_ylim(
                min([-0.05, *(row.low - 0.05 for row in evidence.stability if row.low is not None)]),
                1.05,
            )
            axes.locator_params(axis="x", integer=True)
            axes.set_title(evidence.title, color=INK)
        every[0].set_ylabel("agreement with all trackers")
        put_legend(every[0], above=0.26)

    caption = (
        "Random subsets of the trackers against all of them: Kendall's τ between the two orders of metrics "
        "(the band holds 90 % of the subsets), and how often the same metric wins. At the right end "
        "everything is 1 by definition; a curve that only gets there at the last step has not settled."
    )
    return draw("stability", title, caption, paint)
