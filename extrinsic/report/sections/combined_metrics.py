"""Whether a combination of metrics predicts better than one, on trackers that were left out."""

from __future__ import annotations

from extrinsic.report.drawing.page_parts import Section, described, table
from extrinsic.report.drawing.terms import variant_term
from extrinsic.report.results.report_data import Study
from extrinsic.study.number_texts import correlation, with_interval
from extrinsic.study.tables.schema import CompositeRow

METHODS = {
    "best_single": "best single metric",
    "mean": "mean of all metrics",
    "ridge": "ridge regression",
    "nonnegative": "regression, no negative weight",
    "behaviour": "return of the logged dialogs alone",
}


def section(study: Study) -> Section | None:
    rows = []
    for evidence in study.evidence:
        for row in evidence.composite:
            if row.trackers not in evidence.groups or row.target != evidence.target:
                continue
            rows.append(
                (
                    variant_term(evidence.variant),
                    row.trackers,
                    METHODS.get(row.method, row.method),
                    with_interval(row.r, row.low, row.high),
                    correlation(row.r_in_sample),
                    _lead(row),
                    row.weights,
                )
            )
    if not rows:
        return None
    caption = (
        "Each is learned on some trackers and tested on those left out; “in sample” is its r on the "
        "trackers it was learned on. The return of the logged dialogs needs no metric at all: it is what "
        "they earn by the tracker's own beliefs. A combination is worth using only where its lead over "
        "the best single metric has an interval above 0."
    )
    heads = described(
        CompositeRow,
        variant="variant",
        trackers="trackers",
        method="predictor",
        r="#r on trackers left out",
        r_in_sample="#r in sample",
        above_best_single="#lead over the best single",
        weights="what it is made of",
    )
    return Section("composite", "Several metrics together", (table(caption, heads, rows, "composite.csv"),))


def _lead(row: CompositeRow) -> str:
    """By how much it beats the best single metric."""
    if row.method == "best_single" or row.above_best_single is None:
        return ""
    sign = "+" if row.above_best_single > 0 else ""
    return f"{sign}{with_interval(row.above_best_single, row.above_low, row.above_high)}"
