"""The verdict: which metric to use for each target, and how sure that is; whether Lee's findings hold."""

from __future__ import annotations

from dataclasses import dataclass

from extrinsic.report.drawing.page_parts import (
    Partial,
    Section,
    Term,
    Text,
    metric_term,
    name_term,
    target_term,
    variant_term,
)
from extrinsic.report.results.lee_findings import findings
from extrinsic.report.results.report_data import Study
from extrinsic.study.verdict_types import NAMED, Verdict, certainty, may_do_as_well


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


def lee_section(study: Study) -> Section | None:
    """Whether Lee's three findings hold here."""
    held = [
        (variant_term(one.variant if one.title else None), findings(one, one.group)) for one in study.evidence
    ]
    if not any(made for _, made in held):
        return None
    return Section("lee", "Lee's findings (2014), here", (Partial("lee.html", {"held": held}),))
