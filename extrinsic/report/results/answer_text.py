"""The answer of a study in words: which metric predicts best, and how sure that is. Functions of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from extrinsic.report.results.caveats import caveats
from extrinsic.report.results.naming import COEFFICIENTS, Name, symbol, target_in_words
from extrinsic.report.results.numbers import correlation, counted, listing, with_interval
from extrinsic.report.results.table_columns import Row, Rows
from extrinsic.report.results.variant_results import VariantResults

NAMED = 3
"""So many of the metrics that cannot be told from the best are named."""


@dataclass(frozen=True)
class Answer:
    """What one variant says: a heading and a figure to remember, then sentences, then what to mind.

    The first sentence says what metric, figure and about say, for who shows only text.
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
    sentences += [core_sentence(evidence, best), worst_sentence(evidence, best)]
    return Answer(
        heading,
        Name.of(best).in_words(),
        f"{symbol(evidence.coefficient)} = {with_interval(best['r'], best['low'], best['high'])}",
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


def best_sentence(evidence: VariantResults, best: Row) -> str:
    name = Name.of(best).in_words()
    begin = f"Under {evidence.variant}, {name}" if evidence.variant else f"{name[0].upper()}{name[1:]}"
    return (
        f"{begin} correlates best with {target_in_words(evidence.target)}: "
        f"{symbol(evidence.coefficient)} = {with_interval(best['r'], best['low'], best['high'])} "
        f"{sample(evidence)}."
    )


def apart_sentence(evidence: VariantResults, best: Row, group: str = "all") -> str:
    """From how many others the best cannot be told apart, and which."""
    found = evidence.differences(Name.of(best), group)
    if not found:
        return ""
    alike = sorted((one for one in found if not one.is_clear), key=lambda one: one.difference)
    by = "" if evidence.coefficient == "pearson" else f" by {COEFFICIENTS['pearson']}"
    if not alike:
        return (
            f"It is clearly better{by} than each of the {len(found)} others."
            if len(found) > 1
            else (f"It is clearly better{by} than {found[0].other.in_words()}, the only other one.")
        )
    if len(alike) == len(found):
        every = (
            f"any of the {len(found)} others"
            if len(found) > 1
            else f"{found[0].other.in_words()}, the only other one"
        )
        return f"It cannot be told apart{by} from {every}."
    names = [one.other.in_words() for one in alike]
    if len(names) <= NAMED:
        return f"Of {len(found)} others it cannot be told apart{by} from {listing(names)}."
    return (
        f"It cannot be told apart{by} from {len(names)} of the {len(found)} others, "
        f"among them {listing(names[:NAMED])}."
    )


def left_out(evidence: VariantResults) -> str:
    """`the degenerate tracker (last_turn) and the recalibrated one (focus_overconfident)`."""
    kinds: dict[str, list[str]] = {"degenerate": [], "recalibrated": [], "near-duplicate": []}
    for row in evidence.trackers:
        kind = (
            "degenerate" if row["degenerate"] else "recalibrated" if row["recalibrated"] else "near-duplicate"
        )
        if not row["core"]:
            kinds[kind].append(row["tracker"])
    parts = [
        f"{kind} {'tracker' if len(names) == 1 else 'trackers'} ({listing(names, most=6)})"
        for kind, names in kinds.items()
        if names
    ]
    return f"the {listing(parts)}" if parts else "the trackers outside the core"


def core_sentence(evidence: VariantResults, best: Row) -> str:
    """What remains when trackers that can carry a correlation alone are left out."""
    if not evidence.has_core:
        return ""
    core = evidence.best("core")
    if core is None:
        return f"Without {left_out(evidence)} too few trackers are left to correlate anything."
    numbers = f"{symbol(evidence.coefficient)} = {with_interval(core['r'], core['low'], core['high'])}"
    if Name.of(core) == Name.of(best):
        told = f"it stays the best, {numbers} {sample(evidence, 'core')}"
    else:
        told = f"the best is {Name.of(core).in_words()}, {numbers} {sample(evidence, 'core')}"
        before = next((row for row in evidence.ranked["core"] if Name.of(row) == Name.of(best)), None)
        if before is not None:
            rank = 1 + evidence.ranked["core"].index(before)
            told += f"; {Name.of(best).in_words()} is then at {correlation(before['r'])}, place {rank}"
    alike = apart_sentence(evidence, core, "core")
    return f"Without {left_out(evidence)} {told}. {alike}".strip()


def worst_sentence(evidence: VariantResults, best: Row) -> str:
    rows = evidence.ranked["all"]
    if len(rows) < 3:
        return ""
    worst = rows[-1]
    return (
        f"At the other end is {Name.of(worst).in_words()}, {symbol(evidence.coefficient)} = "
        f"{with_interval(worst['r'], worst['low'], worst['high'])}."
    )


def across_variants(every: Sequence[VariantResults]) -> str:
    """Whether the winner depends on the fill rule, which the literature does not name."""
    known = [(one, best) for one in every if (best := one.best()) is not None]
    if len(known) < 2:
        return ""
    winners = {Name.of(best) for _, best in known}
    if len(winners) == 1:
        return (
            "The winner is the same whenever a concept counts as filled: "
            f"{known[0][1]['metric']} under each of {listing([one.variant for one, _ in known])}."
        )
    told = listing([f"{Name.of(best).in_words()} under {one.variant}" for one, best in known])
    places = [_place_elsewhere(best, other) for one, best in known for other, _ in known if other is not one]
    return (
        f"The winner depends on when a concept counts as filled: {told}. " + " ".join(filter(None, places))
    ).strip()


def _place_elsewhere(best: Row, other: VariantResults) -> str:
    rows: Rows = other.ranked["all"]
    for place, row in enumerate(rows, start=1):
        if Name.of(row) == Name.of(best):
            return (
                f"{Name.of(best).in_words()} comes {_ordinal(place)} of {len(rows)} under {other.variant} "
                f"({symbol(other.coefficient)} = {correlation(row['r'])})."
            )
    return ""


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"
