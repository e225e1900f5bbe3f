"""Whether the answer depends on settings that papers seldom report."""

from __future__ import annotations

from extrinsic.report.drawing.page_parts import Section, described, table
from extrinsic.report.drawing.terms import name_term
from extrinsic.report.results.report_data import Study
from extrinsic.study.naming import Name
from extrinsic.study.number_texts import correlation, with_interval
from extrinsic.study.tables.schema import SensitivityRow


def section(study: Study) -> Section | None:
    rows = study.tables.sensitivity
    if not study.has_policies or len({row.variant for row in rows}) < 2:
        return None
    shown = [
        (
            row.parameter,
            row.setting or "",
            row.trackers,
            name_term(Name.of(row)),
            with_interval(row.r, row.low, row.high),
            correlation(row.usual_winner_r),
            f"{row.usual_winner_rank} of {row.n_metrics}",
            correlation(row.agreement),
        )
        for row in rows
    ]
    caption = (
        "One setting is changed at a time. The last three columns show how the metric that wins in the "
        "study's own setting does under this one, and how much the two orders of metrics agree (Kendall's τ)."
    )
    heads = described(
        SensitivityRow,
        parameter="parameter",
        setting="setting",
        trackers="trackers",
        metric="best metric",
        r="#r",
        usual_winner_r="#r of the usual winner",
        usual_winner_rank="#its rank",
        agreement="#agreement τ",
    )
    return Section("sensitivity", "Other settings", (table(caption, heads, shown, "sensitivity.csv"),))
