"""Whether Lee's three findings hold here."""

from __future__ import annotations

from extrinsic.report.drawing.page_parts import Partial, Section
from extrinsic.report.drawing.terms import variant_term
from extrinsic.report.results.lee_findings import findings
from extrinsic.report.results.report_data import Study


def section(study: Study) -> Section | None:
    held = [
        (variant_term(one.variant if one.title else None), findings(one, one.group)) for one in study.evidence
    ]
    if not any(made for _, made in held):
        return None
    return Section("lee", "Lee's findings (2014), here", (Partial("lee.html", {"held": held}),))
