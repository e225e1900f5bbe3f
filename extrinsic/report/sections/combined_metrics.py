"""Whether a combination of metrics predicts better than one, on trackers that were left out."""

from __future__ import annotations

import re

from extrinsic.report.drawing.page_parts import Section, described, table
from extrinsic.report.drawing.terms import variant_term
from extrinsic.report.results.report_data import Study
from extrinsic.study.naming import Name
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
            if row.trackers != evidence.group or row.target != evidence.target:
                continue
            rows.append(
                (
                    variant_term(evidence.variant),
                    METHODS.get(row.method, row.method),
                    with_interval(row.r, row.low, row.high),
                    correlation(row.r_in_sample),
                    _lead(row),
                    _made_of(row),
                )
            )
    if not rows:
        return None
    caption = (
        "Over the core trackers. Each is learned on some and tested on those left out; “in sample” is its r "
        "on the trackers it was learned on. A combination is worth using only where its lead over the best "
        "single metric has an interval above 0."
    )
    if study.has_policies:
        caption += (
            " The return of the logged dialogs needs no metric at all: it is what they earn by the tracker's "
            "own beliefs."
        )
    heads = described(
        CompositeRow,
        variant="variant",
        method="predictor",
        r="#r on trackers left out",
        r_in_sample="#r in sample",
        above_best_single="#lead over the best single",
        weights="what it is made of",
    )
    return Section("composite", "Several metrics together", (table(caption, heads, rows, "composite.csv"),))


WEIGHT = re.compile(r"(?P<share>[+-][\d.]+) (?P<metric>.+) (?P<component>\S+) schedule (?P<schedule>\d+)")


def _made_of(row: CompositeRow) -> str:
    """The weights with the titles of their metrics: `+.30 slot F1, last turn`."""
    if row.method == "mean":
        return "every metric, schedule and component alike"
    if row.method == "behaviour":
        return "no metric"
    parts = []
    for weight in row.weights.split("; "):
        match = WEIGHT.fullmatch(weight)
        title = match and Name(match["metric"], int(match["schedule"]), match["component"]).title()
        parts.append(f"{_signed(float(match['share']))} {title}" if match else weight)
    return "; ".join(parts)


def _signed(value: float) -> str:
    return f"{'+' if value > 0 else ''}{correlation(value)}"


def _lead(row: CompositeRow) -> str:
    """By how much it beats the best single metric."""
    if row.method == "best_single" or row.above_best_single is None:
        return ""
    sign = "+" if row.above_best_single > 0 else ""
    return f"{sign}{with_interval(row.above_best_single, row.above_low, row.above_high)}"
