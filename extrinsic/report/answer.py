"""The answer: which metric to use for each target, each metric at its best, whether Lee's findings hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from extrinsic.report.figures import MUTED, PAPER, draw, panels, put_intervals, put_legend, put_rows
from extrinsic.report.page_parts import (
    Block,
    Fold,
    Head,
    Partial,
    Picture,
    Section,
    Table,
    Term,
    Text,
    by_variant,
    described,
    metric_term,
    name_term,
    table,
    target_term,
    variant_term,
)
from extrinsic.report.run_data import Study, VariantResults
from extrinsic.verdict.findings import findings
from extrinsic.verdict.names import (
    COEFFICIENTS,
    FAMILIES,
    NOTHING,
    Counted,
    Name,
    counted,
    family_of,
    in_brackets,
    metric_title,
    probability,
    symbol,
    target_title,
    with_interval,
)
from extrinsic.verdict.rows import BestSetRow, CorrelationRow, PairRow
from extrinsic.verdict.verdict import NAMED, Verdict, certainty, may_do_as_well

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW = 0.2


@dataclass(frozen=True)
class Card:
    """A verdict with its names as terms; the sentence is divided where a name stands."""

    verdict: Verdict
    target: Term
    variants: tuple[Term, ...]
    metric: Term | None
    may_do_as_well: str
    others: tuple[Term, ...]
    more: int
    certainty: str
    rest: str

    @classmethod
    def of(cls, verdict: Verdict, names_variants: bool) -> Card:
        own = verdict.metric.metric if verdict.metric else ""
        others = [other.metric for other in verdict.others if other.metric != own]
        terms = [metric_term(metric) for metric in dict.fromkeys(others)]
        return cls(
            verdict=verdict,
            target=target_term(verdict.target),
            variants=tuple(map(variant_term, verdict.variants)) if names_variants else (),
            metric=name_term(verdict.metric.name) if verdict.metric else None,
            may_do_as_well=may_do_as_well(len(terms)),
            others=tuple(terms[:NAMED]),
            more=len(terms) - len(terms[:NAMED]),
            certainty=certainty(verdict),
            # What follows the names in the sentence is the same text as in a terminal.
            rest=verdict.sentence.rpartition("Not decided: ")[2] if verdict.metric and verdict.others else "",
        )


def verdict_section(study: Study) -> Section:
    verdicts = study.verdict.verdicts
    if not study.evidence or not verdicts:
        nothing = "Nothing was correlated in this run: it has no target, or no metric that has a direction."
        return Section("verdict", "The verdict", (Text((nothing,)),))
    if len(study.verdict.sentences) == 1:
        verdicts = verdicts[:1]
    values = {
        "cards": [Card.of(verdict, len(study.evidence) > 1) for verdict in verdicts],
        "agreement": study.verdict.agreement,
        # Flags of values stand in the card of their target.
        "health": [note for note in study.verdict.health if note.kind != "flagged_values"],
    }
    return Section("verdict", "The verdict", (Partial("verdict.html", values),))


def which_metric_section(study: Study) -> Section:
    """Each metric at its best, and which of them may be the best of all; behind it every combination."""

    def of_variant(evidence: VariantResults) -> tuple[Block, ...]:
        rows = best_of_each(evidence)
        if not rows:
            return ()
        every = Fold(
            "All combinations with schedules and components", (_sets_table(evidence),), is_aside=True
        )
        return _metrics_text(evidence, rows), _metrics_picture(study, evidence, rows), every

    return Section("metric", "Which metric?", by_variant(study, of_variant))


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


def _metrics_text(evidence: VariantResults, rows: list[BestSetRow]) -> Text:
    chosen, lowest = in_set(evidence), rows[-1]
    core = "core " if len(evidence.groups) > 1 and evidence.group == "core" else ""
    sample = counted(evidence.n_trackers(evidence.group), f"{core}tracker")
    if evidence.n_generators:
        sample += f" x {counted(evidence.n_generators, 'generator')}"
    count = Counted.of(row for row in evidence.judged.values() if row.r is not None)
    may = (
        f"{len(chosen)} of {count} may be the best predictor of {target_title(evidence.target)}"
        if chosen
        else f"Which of {count} predicts {target_title(evidence.target)} best is not decided"
    )
    end = (
        f"The lowest is {metric_title(lowest.metric)}, {symbol(evidence.coefficient)} = "
        f"{with_interval(lowest.r, lowest.low, lowest.high)} at its best."
    )
    return Text((f"{evidence.heading}{may}, over {sample}. {end}",))


def _metrics_picture(study: Study, evidence: VariantResults, rows: list[BestSetRow]) -> Picture:
    chosen = in_set(evidence)
    coefficient = COEFFICIENTS.get(evidence.coefficient, evidence.coefficient)
    within = "within generators" if evidence.n_generators else "within datasets"

    def paint(figure: Figure) -> None:
        (axes,) = panels(figure, 1, 1, 4.6, ROW * len(rows) + 0.1)
        _metrics_points(axes, rows, chosen, carried_by(evidence))
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


def _metrics_points(
    axes: Axes, rows: list[BestSetRow], chosen: set[str], carried: dict[Name, str | None]
) -> None:
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


def _sets_table(evidence: VariantResults) -> Table:
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


def lee_section(study: Study) -> Section | None:
    """Whether Lee's three findings hold here."""
    held = []
    for evidence in study.evidence:
        ranked, pairs = evidence.ranked[evidence.group], evidence.rows(PairRow, evidence.group)
        held.append((variant_term(evidence.variant if evidence.title else None), findings(ranked, pairs)))
    if not any(made for _, made in held):
        return None
    return Section("lee", "Lee's findings (2014), here", (Partial("lee.html", {"held": held}),))
