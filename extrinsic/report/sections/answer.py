"""The answer, first of all: in words, with its uncertainty; and what became of Lee's three findings."""

from __future__ import annotations

from extrinsic.report.drawing.page_parts import Block, Partial, Section, Text
from extrinsic.report.results.answer_text import across_variants, answer
from extrinsic.report.results.lee_findings import findings
from extrinsic.report.results.report_data import Study


def section(study: Study) -> Section:
    if not study.evidence:
        told = "Nothing was correlated in this run: it has no target, or no metric that has a direction."
        return Section("answer", "The answer", (Text((told,)),))
    blocks: list[Block] = [Partial("answer.html", {"answers": [answer(one) for one in study.evidence]})]
    across = across_variants(study.evidence)
    if across:
        blocks.append(Text((across,)))
    held = [
        (one.variant, findings(one), findings(one, "core") if one.has_core else []) for one in study.evidence
    ]
    if any(found for _, found, _ in held):
        blocks.append(Partial("lee.html", {"held": held}))
    return Section("answer", "The answer", tuple(blocks))
