"""Tables by themselves: several metrics together, other settings, worlds fitted to the logs."""

from __future__ import annotations

import re

from extrinsic.report.drawing.page_parts import Section, described, name_term, table, variant_term
from extrinsic.report.results.report_data import Study
from extrinsic.study.naming import Name
from extrinsic.study.number_texts import amount, correlation, with_interval
from extrinsic.study.tables.metric_rows import CompositeRow, SensitivityRow
from extrinsic.study.tables.value_rows import WorldFitRow

METHODS = {
    "best_single": "best single metric",
    "mean": "mean of all metrics",
    "ridge": "ridge regression",
    "nonnegative": "regression, no negative weight",
    "behaviour": "return of the logged dialogs alone",
}


def combined_metrics_section(study: Study) -> Section | None:
    """Whether a combination of metrics predicts better than one, on trackers that were left out."""
    rows = []
    for evidence in study.evidence:
        for row in evidence.composite:
            if row.trackers != evidence.group or row.target != evidence.target:
                continue
            method = variant_term(evidence.variant), METHODS.get(row.method, row.method)
            r = with_interval(row.r, row.low, row.high), correlation(row.r_in_sample)
            rows.append((*method, *r, _lead(row), _made_of(row)))
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
    heads = described(CompositeRow, "variant", method="predictor", r="#r on trackers left out")
    heads += described(CompositeRow, r_in_sample="#r in sample")
    heads += described(
        CompositeRow, above_best_single="#lead over the best single", weights="what it is made of"
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


def other_settings_section(study: Study) -> Section | None:
    """Whether the answer depends on settings that papers seldom report."""
    rows = study.tables.sensitivity
    if not study.has_policies or len({row.variant for row in rows}) < 2:
        return None
    shown = []
    for row in rows:
        best = name_term(Name.of(row)), with_interval(row.r, row.low, row.high)
        usual = correlation(row.usual_winner_r), f"{row.usual_winner_rank} of {row.n_metrics}"
        setting = row.parameter, row.setting or "", row.trackers
        shown.append((*setting, *best, *usual, correlation(row.agreement)))
    caption = (
        "One setting is changed at a time. The last three columns show how the metric that wins in the "
        "study's own setting does under this one, and how much the two orders of metrics agree (Kendall's τ)."
    )
    heads = described(SensitivityRow, "parameter", "setting", "trackers", metric="best metric", r="#r")
    heads += described(SensitivityRow, usual_winner_r="#r of the usual winner")
    heads += described(SensitivityRow, usual_winner_rank="#its rank", agreement="#agreement τ")
    return Section("sensitivity", "Other settings", (table(caption, heads, shown, "sensitivity.csv"),))


def world_fit_section(study: Study) -> Section | None:
    """How well the worlds that were fitted to the logs fit them."""
    rows = study.tables.fit
    if not rows:
        return None
    shown = []
    for row in rows:
        logged = f"{amount(row.logged, 2)} [{amount(row.low, 2)}, {amount(row.high, 2)}]"
        misfit = "misfit" if row.misfit else ""
        shown.append((row.dataset, row.measure, logged, amount(row.fitted, 2), misfit))
    caption = (
        "Policies were also valued in worlds fitted to the logs. A measure that lies clearly outside the "
        "interval of the log is a misfit, and values in that world carry a flag."
    )
    heads = described(WorldFitRow, "dataset", "measure", logged="#in the log")
    heads += described(WorldFitRow, fitted="#in the fitted world", misfit="misfit")
    return Section("fit", "Worlds fitted to the logs", (table(caption, heads, shown, "fit.csv"),))
