"""Which metric: each at its best, and which of them may be the best of all; behind it every combination."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from extrinsic.report.drawing.figures import MUTED, PAPER, draw, panels, put_intervals, put_legend, put_rows
from extrinsic.report.drawing.page_parts import (
    Block,
    Fold,
    Head,
    Picture,
    Section,
    Table,
    Text,
    described,
    name_term,
    table,
)
from extrinsic.report.results.report_data import Study
from extrinsic.report.results.variant_results import VariantResults
from extrinsic.study.naming import (
    COEFFICIENTS,
    FAMILIES,
    Counted,
    Name,
    family_of,
    metric_title,
    symbol,
    target_title,
)
from extrinsic.study.number_texts import NOTHING, counted, in_brackets, probability, with_interval
from extrinsic.study.tables.metric_rows import BestSetRow, CorrelationRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW = 0.2


def which_metric_section(study: Study) -> Section | None:
    blocks: list[Block] = []
    for evidence in study.evidence:
        rows = best_of_each(evidence)
        if not rows:
            continue
        every = Fold("All combinations with schedules and components", (_table(evidence),), is_aside=True)
        made = (_text(evidence, rows), _picture(study, evidence, rows), every)
        blocks += made if evidence in study.shown else [Fold(evidence.title, made)]
    return Section("metric", "Which metric?", tuple(blocks)) if blocks else None


def best_of_each(evidence: VariantResults) -> list[BestSetRow]:
    """Of every metric the schedule and component with the highest correlation; the best metric first."""
    best: dict[str, BestSetRow] = {}
    for row in evidence.judged.values():
        if row.r is not None and (row.metric not in best or row.r > (best[row.metric].r or 0.0)):
            best[row.metric] = row
    return sorted(best.values(), key=lambda row: -(row.r or 0.0))


def carried_by(evidence: VariantResults) -> dict[Name, str | None]:
    """The tracker that carries the correlation of a metric, if one does."""
    return {Name.of(row): row.carried_by for row in evidence.ranked[evidence.group]}


def in_set(evidence: VariantResults) -> set[str]:
    """The metrics that may be the best on some schedule and component."""
    return {row.metric for row in evidence.judged.values() if row.in_set}


def trackers_in_words(evidence: VariantResults) -> str:
    core = "core " if evidence.has_core and evidence.group == "core" else ""
    trackers = counted(evidence.n_trackers(evidence.group), f"{core}tracker")
    generators = evidence.n_generators
    return f"{trackers} x {counted(generators, 'generator')}" if generators else trackers


def _text(evidence: VariantResults, rows: list[BestSetRow]) -> Text:
    chosen, sign = in_set(evidence), symbol(evidence.coefficient)
    lowest = rows[-1]
    count = Counted.of(row for row in evidence.judged.values() if row.r is not None)
    may = (
        f"{len(chosen)} of {count} may be the best predictor of {target_title(evidence.target)}"
        if chosen
        else f"Which of {count} predicts {target_title(evidence.target)} best is not decided"
    )
    end = (
        f"The lowest is {metric_title(lowest.metric)}, {sign} = "
        f"{with_interval(lowest.r, lowest.low, lowest.high)} at its best."
    )
    return Text((f"{evidence.heading}{may}, over {trackers_in_words(evidence)}. {end}",))


def _picture(study: Study, evidence: VariantResults, rows: list[BestSetRow]) -> Picture:
    chosen = in_set(evidence)
    coefficient = COEFFICIENTS.get(evidence.coefficient, evidence.coefficient)
    within = "within generators" if evidence.n_generators else "within datasets"

    def paint(figure: Figure) -> None:
        (axes,) = panels(figure, 1, 1, 4.6, ROW * len(rows) + 0.1)
        _points(axes, rows, chosen, carried_by(evidence))
        put_rows(axes, [Name.of(row).title() for row in rows])
        axes.axvline(0, color=MUTED, linewidth=0.8)
        axes.set_xlabel(f"{coefficient} with {target_title(evidence.target)}, {within}")
        ends = [end for row in rows for end in (row.low, row.r) if end is not None]
        axes.set_xlim(max(-1.05, min([0.0, *ends]) - 0.08), 1.04)
        put_legend(axes, above=0.12, ncols=4)

    caption = (
        "Each metric on the schedule and component where it does best. Filled: it may be the best; hollow: "
        f"another is shown to be better. Lines are {study.level} intervals for all metrics at once, dotted "
        "where one tracker has half of the variance or more; "
        "one is missing where a metric has more noise than signal."
    )
    if len(evidence.judged) < len(evidence.sets):
        caption += " Without metrics of single slots, about which some trackers have no beliefs."
    title = f"Every metric at its best{in_brackets(evidence.title)}"
    return draw("metrics", title, caption, paint, evidence.variant)


def _points(axes: Axes, rows: list[BestSetRow], chosen: set[str], carried: dict[Name, str | None]) -> None:
    for family in FAMILIES:
        members = [(y, row) for y, row in enumerate(rows) if family_of(row.metric) is family]
        if not members:
            continue
        for style in ("solid", "dotted"):
            of_style = [
                pair for pair in members if (style == "dotted") == bool(carried.get(Name.of(pair[1])))
            ]
            intervals = [(y, row.low, row.high) for y, row in of_style]
            put_intervals(axes, intervals, color=family.colour, linewidth=1.3, alpha=0.55, linestyle=style)
        look: Any = {"color": family.colour, "markersize": 4.8}
        axes.plot([], [], family.marker, label=family.title, **look)
        for y, row in members:
            filled = family.colour if row.metric in chosen else PAPER
            axes.plot([row.r or 0.0], [y], family.marker, markerfacecolor=filled, **look)


def _table(evidence: VariantResults) -> Table:
    rows = sorted(evidence.sets.values(), key=lambda row: (row.rank or len(evidence.sets), row.metric))
    carried = carried_by(evidence)
    lines = []
    for row in (row for row in rows if row.r is not None):
        ranks = f"{row.rank_low} to {row.rank_high}" if row.rank_low else NOTHING
        needed = NOTHING if row.trackers_needed is None else str(row.trackers_needed)
        best = "yes" if row.in_set else "", ranks, probability(row.p), needed
        r = name_term(Name.of(row)), with_interval(row.r, row.low, row.high)
        lines.append((*r, *best, carried.get(Name.of(row)) or "", row.reason or ""))
    samples = "trackers, generators and dialogs" if evidence.n_generators else "trackers"
    caption = (
        f"A metric may be the best if that is not rejected, {samples} resampled: a truly best one is among "
        "them with the study's confidence. Ranks hold for each metric alone."
    )
    sign = symbol(evidence.coefficient)
    heads: list[Head] = ["metric", *described(BestSetRow, r=f"#{sign}", in_set="may be the best")]
    heads += described(BestSetRow, rank="#ranks", p="#p", trackers_needed="#trackers to rule it out")
    heads += described(CorrelationRow, carried_by="carried by")
    heads += described(BestSetRow, reason="no interval because")
    return table(caption, heads, lines, "best_set.csv")
