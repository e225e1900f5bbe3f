"""The answer of a study in words: which metric predicts best, and how sure that is. Functions of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from extrinsic.report.results.caveats import caveats
from extrinsic.report.results.naming import Name, symbol, target_in_words
from extrinsic.report.results.numbers import correlation, counted, listing, with_interval
from extrinsic.report.results.variant_results import VariantResults, rows_of_group
from extrinsic.study.tables.schema import CorrelationRow

NOT_THE_RETURN = ("rl.gain", "rl.completed", "expert.live", "expert.completed")
"""Targets that a metric of right concepts is not near by construction, or that another policy earns."""

NAMED = 3
"""How many of the metrics that may be the best are named."""


@dataclass(frozen=True)
class Answer:
    """The answer of one variant: a heading and a figure to remember, then sentences, then caveats.

    The first sentence repeats metric, figure and about, for readers of the text alone.
    """

    heading: str
    metric: str | None
    figure: str
    about: str
    sentences: tuple[str, ...]
    caveats: tuple[str, ...]


def answer(evidence: VariantResults) -> Answer:
    best = evidence.best()
    heading = evidence.variant or "The answer"
    if best is None:
        return Answer(heading, None, "", "", (no_answer(evidence),), ())
    sentences = [best_sentence(evidence, best), apart_sentence(evidence, best)]
    sentences += [core_sentence(evidence, best), targets_sentence(evidence), worst_sentence(evidence, best)]
    return Answer(
        heading,
        Name.of(best).in_words(),
        f"{symbol(evidence.coefficient)} = {with_interval(best.r, *evidence.simultaneous(best))}",
        f"with {target_in_words(evidence.target)}, {sample(evidence)}",
        tuple(filter(None, sentences)),
        tuple(caveats(evidence, best)),
    )


def no_answer(evidence: VariantResults) -> str:
    under = f"Under {evidence.variant}, no" if evidence.variant else "No"
    why = f": {evidence.reason}" if evidence.reason else ""
    return f"{under} metric could be correlated with {target_in_words(evidence.target)}{why}."


def sample(evidence: VariantResults, group: str = "all") -> str:
    """`over 12 trackers on 2 datasets`."""
    trackers = counted(evidence.n_trackers(group), "tracker")
    return f"over {trackers} on {counted(len(evidence.datasets), 'dataset')}"


def best_sentence(evidence: VariantResults, best: CorrelationRow) -> str:
    name = Name.of(best).in_words()
    begin = f"Under {evidence.variant}, {name}" if evidence.variant else f"{name[0].upper()}{name[1:]}"
    return (
        f"{begin} correlates best with {target_in_words(evidence.target)}: "
        f"{symbol(evidence.coefficient)} = {with_interval(best.r, *evidence.simultaneous(best))} "
        f"{sample(evidence)}."
    )


def apart_sentence(evidence: VariantResults, best: CorrelationRow, group: str = "all") -> str:
    """How many other metrics may be the best one too, and which."""
    rows = [row for row in rows_of_group(evidence.best_set, group) if row.r is not None]
    if rows and not any(row.in_set for row in rows):
        return f"Which metric is the best is {rows[0].reason or 'not decided'}."
    n_others = len(rows) - 1
    if n_others < 1:
        return ""
    others = [Name.of(row) for row in evidence.may_be_best(group) if Name.of(row) != Name.of(best)]
    if not others:
        return "No other metric may be the best." if n_others > 1 else "The only other metric is worse."
    if len(others) == n_others:
        every = f"any of the {n_others} others" if n_others > 1 else "the only other one"
        return f"The best may as well be {every}."
    names = [name.in_words() for name in others]
    if len(names) <= NAMED:
        return f"Of {n_others} others {listing(names)} may be the best too."
    return f"{len(names)} of the {n_others} others may be the best too, among them {listing(names[:NAMED])}."


def left_out(evidence: VariantResults) -> str:
    """`the degenerate tracker (last_turn) and the recalibrated one (focus_overconfident)`."""
    kinds: dict[str, list[str]] = {"degenerate": [], "recalibrated": [], "near-duplicate": []}
    for row in evidence.trackers:
        kind = "degenerate" if row.degenerate else "recalibrated" if row.recalibrated else "near-duplicate"
        if not row.core:
            kinds[kind].append(row.tracker)
    parts = [
        f"{kind} {'tracker' if len(names) == 1 else 'trackers'} ({listing(names, most=6)})"
        for kind, names in kinds.items()
        if names
    ]
    return f"the {listing(parts)}" if parts else "the trackers outside the core"


def core_sentence(evidence: VariantResults, best: CorrelationRow) -> str:
    """The best metric when trackers that could make a correlation by themselves are left out."""
    if not evidence.has_core:
        return ""
    core = evidence.best("core")
    if core is None:
        return f"Without {left_out(evidence)} too few trackers are left to correlate anything."
    numbers = f"{symbol(evidence.coefficient)} = {with_interval(core.r, *evidence.simultaneous(core))}"
    if Name.of(core) == Name.of(best):
        text = f"it stays the best, {numbers} {sample(evidence, 'core')}"
    else:
        text = f"the best is {Name.of(core).in_words()}, {numbers} {sample(evidence, 'core')}"
        before = next((row for row in evidence.ranked["core"] if Name.of(row) == Name.of(best)), None)
        if before is not None:
            rank = 1 + evidence.ranked["core"].index(before)
            text += f"; {Name.of(best).in_words()} is then at {correlation(before.r)}, rank {rank}"
    alike = apart_sentence(evidence, core, "core")
    return f"Without {left_out(evidence)} {text}. {alike}".strip()


def targets_sentence(evidence: VariantResults) -> str:
    """What else the best metric predicts: the return pays for right concepts, so metrics of them are near."""
    group = "core" if evidence.has_core and evidence.best("core") is not None else "all"
    best = evidence.best(group)
    if best is None:
        return ""
    name, sign = Name.of(best), symbol(evidence.coefficient)
    others: list[tuple[str, str, float | None]] = [
        (target_in_words(row.target), f"{sign} = {with_interval(row.r, row.low, row.high)}", row.low)
        for row in rows_of_group(evidence.elsewhere, group)
        if Name.of(row) == name and row.r is not None and row.target in NOT_THE_RETURN
    ]
    others += [
        (
            "the return beyond what the logged policy earned",
            f"partial r = {with_interval(row.partial, row.low, row.high)}",
            row.low,
        )
        for row in rows_of_group(evidence.partial, group)
        if Name.of(row) == name
    ]
    shown = [f"{words} ({numbers})" for words, numbers, low in others if low is not None and low > 0.0]
    open_ = [f"{words} ({numbers})" for words, numbers, low in others if low is None or low <= 0.0]
    trackers = "core trackers" if group == "core" else "all trackers"
    text = f"Over {trackers} {name.in_words()} also predicts {listing(shown)}" if shown else ""
    if open_:
        begin = "; it" if shown else f"Over {trackers} {name.in_words()}"
        text += f"{begin} is not shown to predict {listing(open_)}"
    return f"{text}." if text else ""


def worst_sentence(evidence: VariantResults, best: CorrelationRow) -> str:
    rows = evidence.ranked["all"]
    if len(rows) < 3:
        return ""
    worst = rows[-1]
    return (
        f"At the other end is {Name.of(worst).in_words()}, {symbol(evidence.coefficient)} = "
        f"{with_interval(worst.r, worst.low, worst.high)}."
    )


def across_variants(every: Sequence[VariantResults]) -> str:
    """Whether the winner depends on the fill rule, which papers do not report."""
    answered = [(evidence, best) for evidence in every if (best := evidence.best()) is not None]
    if len(answered) < 2:
        return ""
    winners = {Name.of(best) for _, best in answered}
    if len(winners) == 1:
        variants = listing([evidence.variant for evidence, _ in answered])
        return (
            "The winner does not depend on when a concept counts as filled: "
            f"{answered[0][1].metric} under each of {variants}."
        )
    named = listing([f"{Name.of(best).in_words()} under {evidence.variant}" for evidence, best in answered])
    ranks = [
        _rank_elsewhere(best, other)
        for evidence, best in answered
        for other, _ in answered
        if other is not evidence
    ]
    return (
        f"The winner depends on when a concept counts as filled: {named}. " + " ".join(filter(None, ranks))
    ).strip()


def _rank_elsewhere(best: CorrelationRow, other: VariantResults) -> str:
    rows = other.ranked["all"]
    for rank, row in enumerate(rows, start=1):
        if Name.of(row) == Name.of(best):
            return (
                f"{Name.of(best).in_words()} comes {_ordinal(rank)} of {len(rows)} under {other.variant} "
                f"({symbol(other.coefficient)} = {correlation(row.r)})."
            )
    return ""


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"
