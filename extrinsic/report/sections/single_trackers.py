"""What a correlation owes to single trackers, and how the order of metrics settles as trackers are added."""

from __future__ import annotations

from typing import TYPE_CHECKING

from extrinsic.report.drawing.figures import (
    INK,
    PAPER,
    SERIES,
    draw,
    panels,
    put_legend,
    put_notes,
    put_rows,
    short,
)
from extrinsic.report.drawing.page_parts import Block, Picture, Section
from extrinsic.report.results.naming import COEFFICIENTS, Name, family_of, slug
from extrinsic.report.results.numbers import correlation
from extrinsic.report.results.report_data import Study
from extrinsic.report.results.variant_results import VariantResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 25


def section(study: Study) -> Section | None:
    blocks: list[Block] = [made for one in study.evidence if (made := _influence(one)) is not None]
    settled = _stability(study)
    blocks += [settled] if settled else []
    return Section("influence", "What single trackers do to it", tuple(blocks)) if blocks else None


def _influence(evidence: VariantResults) -> Picture | None:
    rows = [
        row
        for row in evidence.of_group(evidence.influence, "all")
        if row["r"] is not None and row["lowest"] is not None and row["highest"] is not None
    ]
    if not rows:
        return None
    rows = sorted(rows, key=lambda row: -row["r"])[:MOST]
    title = f"Correlations without each tracker in turn, the {len(rows)} best metrics"
    title += f" ({evidence.variant})" if evidence.variant else ""

    def paint(figure: Figure) -> None:
        (axes,) = panels(figure, 1, 1, 4.3, 0.19 * len(rows) + 0.1)
        put_rows(axes, [Name.of(row).label(50) for row in rows])
        put_notes(
            axes, [f"without {short(row['tracker'], 22)}: {correlation(row['r_without'])}" for row in rows]
        )
        for colour in dict.fromkeys(family_of(row["metric"]).colour for row in rows):
            mine = [
                (place, row) for place, row in enumerate(rows) if family_of(row["metric"]).colour == colour
            ]
            places = [place for place, _ in mine]
            axes.hlines(
                places,
                [row["lowest"] for _, row in mine],
                [row["highest"] for _, row in mine],
                color=colour,
                linewidth=2.6,
                alpha=0.45,
            )
            axes.plot([row["r"] for _, row in mine], places, "o", color=colour, markersize=4.6)
            moved = [(place, row["r_without"]) for place, row in mine if row["r_without"] is not None]
            axes.plot(
                [r for _, r in moved],
                [place for place, _ in moved],
                "|",
                color=colour,
                markersize=8,
                markeredgewidth=1.6,
            )
        low = min(row["lowest"] for row in rows)
        axes.set_xlim(max(-1.0, low - 0.06), 1.01)
        axes.set_xlabel(COEFFICIENTS.get(evidence.coefficient, evidence.coefficient))

    caption = (
        "The dot is the correlation over all trackers, the bar its range when any one of them is left out; "
        "the tick and the words at the right are of the tracker that moves it most. A correlation that one "
        "tracker makes is no finding about metrics."
    )
    return draw("_".join(filter(None, ("influence", slug(evidence.variant)))), title, caption, paint)


def _stability(study: Study) -> Picture | None:
    known = [one for one in study.evidence if one.stability]
    if not known:
        return None
    title = "How the order of the metrics settles as trackers are added"

    def paint(figure: Figure) -> None:
        width = 7.4 / len(known) - 0.2 if len(known) > 1 else 5.0
        every = panels(figure, 1, len(known), width, 2.6, across=0.25, sharey=True)
        for axes, evidence in zip(every, known, strict=True):
            for group, style, marker in (("all", "-", "o"), ("core", "--", "s")):
                rows = [
                    row
                    for row in evidence.of_group(evidence.stability, group)
                    if row["agreement"] is not None
                ]
                if not rows or group not in evidence.groups:
                    continue
                x = [row["n_trackers"] for row in rows]
                if group == "all":
                    axes.fill_between(
                        x,
                        [row["low"] for row in rows],
                        [row["high"] for row in rows],
                        color=SERIES[0],
                        alpha=0.14,
                        linewidth=0,
                    )
                axes.plot(
                    x,
                    [row["agreement"] for row in rows],
                    style,
                    marker=marker,
                    color=SERIES[0],
                    markersize=4,
                    linewidth=1.5,
                    label=f"order agrees (τ), {group}",
                )
                axes.plot(
                    x,
                    [row["same_winner"] for row in rows],
                    style,
                    marker=marker,
                    color=SERIES[1],
                    markersize=4,
                    linewidth=1.5,
                    markerfacecolor=PAPER,
                    label=f"same winner (share), {group}",
                )
            axes.set_xlabel("trackers in the subset")
            axes.set_ylim(
                min([-0.05, *(row["low"] - 0.05 for row in evidence.stability if row["low"] is not None)]),
                1.05,
            )
            axes.locator_params(axis="x", integer=True)
            axes.set_title(evidence.variant, color=INK)
        every[0].set_ylabel("agreement with all trackers")
        put_legend(every[0], above=0.26, ncols=4)

    caption = (
        "Random subsets of the trackers against all of them: Kendall's τ between the two orders of metrics "
        "(the band holds 90 % of the subsets), and how often the same metric wins. At the right end "
        "everything is 1 by definition; a curve that only gets there at the last step has not settled."
    )
    return draw("stability", title, caption, paint)
