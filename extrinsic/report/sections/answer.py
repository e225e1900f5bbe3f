"""The answer in words, with its uncertainty; and whether Lee's three findings hold."""

from __future__ import annotations

from extrinsic.report.drawing.page_parts import Block, Partial, Section, Text
from extrinsic.report.results.answer_text import across_variants, answer
from extrinsic.report.results.lee_findings import findings
from extrinsic.report.results.report_data import Study


def section(study: Study) -> Section:
    if not study.evidence:
        nothing = "Nothing was correlated in this run: it has no target, or no metric that has a direction."
        return Section("answer", "The answer", (Text((nothing,)),))
    answers = [answer(evidence) for evidence in study.evidence]
    blocks: list[Block] = [Partial("answer.html", {"answers": answers})]
    across = across_variants(study.evidence)
    if across:
        blocks.append(Text((across,)))
    held = [
        (evidence.variant, findings(evidence), findings(evidence, "core") if evidence.has_core else [])
        for evidence in study.evidence
    ]
    if any(over_all for _, over_all, _ in held):
        blocks.append(Partial("lee.html", {"held": held}))
    return Section("answer", "The answer", tuple(blocks))
