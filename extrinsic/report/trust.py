"""Whether to trust the values (flags, diagnostics), several metrics together, and other settings."""

from __future__ import annotations

import re
from collections import Counter
from statistics import median

from extrinsic.report.page_parts import (
    Block,
    Fold,
    Section,
    Text,
    described,
    estimator_term,
    name_term,
    policy_term,
    table,
    target_term,
    variant_term,
)
from extrinsic.report.run_data import Study
from extrinsic.study.tables import DiagnosticRow, SensitivityRow
from extrinsic.verdict.correlations import CORE
from extrinsic.verdict.names import (
    NO_RETURNS,
    Name,
    amount,
    correlation,
    counted,
    in_unit,
    is_outcome,
    unit_title,
    with_interval,
)
from extrinsic.verdict.rows import CompositeRow


def trust_section(study: Study) -> Section | None:
    """Which values carry a flag, and the range of every diagnostic."""
    blocks = _flags(study)
    diagnostics = _ranges(study)
    if diagnostics:
        blocks.append(Fold("Every diagnostic", (diagnostics,), is_aside=True))
    return Section("diagnostics", "Whether to trust the values", tuple(blocks)) if blocks else None


def _flags(study: Study) -> list[Block]:
    panel = study.panel
    valued = [
        k
        for k, target in enumerate(panel.targets)
        if not is_outcome(target.name) and target.name.partition(".")[2] not in NO_RETURNS
    ]
    if not valued:
        return []
    notes = [note for note in panel.notes if note.target in valued and note.flags]
    total = len(panel.datasets) * len(panel.systems)
    if not notes:
        return [Text((f"Nothing was flagged among {counted(len(valued) * total, 'value')}.",))]
    counts = Counter((flag, panel.targets[note.target].name) for note in notes for flag in note.flags)
    totals = Counter(panel.targets[k].name for k in valued)
    lines = [
        (flag, panel.words.get(flag, ""), target_term(target), f"{n} of {totals[target] * total}")
        for (flag, target), n in counts.most_common()
    ]
    caption = (
        f"{counted(len(notes), 'value')} of {len(valued) * total:,} carry a flag, and should not be trusted "
        "as they are."
    )
    return [table(caption, ("flag", "what it means", "value", "#values"), lines, "returns.csv")]


def _ranges(study: Study) -> Block | None:
    """Of learners and estimators, over trackers and datasets."""
    groups: dict[tuple[str | None, str, str, str], list[float]] = {}
    for row in study.tables[DiagnosticRow]:
        if row.value is not None:
            key = row.variant, row.policy, row.estimator, row.diagnostic
            groups.setdefault(key, []).append(row.value)
    lines = []
    for (variant, policy, estimator, diagnostic), values in groups.items():
        names = variant_term(variant), policy_term(policy), estimator_term(estimator), diagnostic
        spread = (amount(part) for part in (min(values), median(values), max(values)))
        lines.append((*names, str(len(values)), *spread))
    if not lines:
        return None
    heads = [*described(DiagnosticRow, "variant", "policy", "estimator", "diagnostic")]
    caption = (
        "Over all trackers and datasets; 1 and 0 stand for yes and no. Zero_kernel is the share of decisions "
        "that no kernel covers, on_policy_gap the estimated value of the logged policy less its observed "
        "return; Q (lowest_q, highest_q) should stay within what a dialog can earn."
    )
    return table(caption, [*heads, "#values", "#least", "#median", "#most"], lines, "diagnostics.csv")


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
    for row in study.tables[CompositeRow]:
        if (row.target, row.scope, row.trackers) == (study.target, "within", CORE):
            method = variant_term(row.variant), METHODS.get(row.method, row.method)
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
        if match:
            share, name = (
                float(match["share"]),
                Name(match["metric"], int(match["schedule"]), match["component"]),
            )
            weight = f"{'+' if share > 0 else ''}{correlation(share)} {name.title()}"
        parts.append(weight)
    return "; ".join(parts)


def _lead(row: CompositeRow) -> str:
    """By how much it beats the best single metric."""
    if row.method == "best_single" or row.above_best_single is None:
        return ""
    sign = "+" if row.above_best_single > 0 else ""
    return f"{sign}{with_interval(row.above_best_single, row.above_low, row.above_high)}"


def other_settings_section(study: Study) -> Section | None:
    """Whether the answer depends on settings that papers seldom report."""
    rows = study.tables[SensitivityRow]
    if not study.has_policies or len({row.variant for row in rows}) < 2:
        return None
    shown = []
    unit = next((target.unit for target in study.panel.targets if target.name == study.target), "points")
    for row in rows:
        lost = f"{in_unit(row.lost, unit)} of {in_unit(row.possible, unit)}"
        usual = in_unit(row.usual_winner_lost, unit), f"{row.usual_winner_rank} of {row.n_metrics}"
        setting = row.parameter, row.setting or "", row.trackers
        shown.append((*setting, name_term(Name.of(row)), lost, *usual, correlation(row.agreement)))
    caption = (
        f"In {unit_title(unit)}, one setting changed at a time. The last three columns are about the metric "
        "that loses least in the study's own setting, and how much the two orders of metrics agree "
        "(Kendall's τ)."
    )
    heads = described(SensitivityRow, "parameter", "setting", "trackers", metric="metric that loses least")
    heads += described(SensitivityRow, lost="#loses, of a coin's", usual_winner_lost="#the usual one loses")
    heads += described(SensitivityRow, usual_winner_rank="#its rank", agreement="#agreement τ")
    return Section("sensitivity", "Other settings", (table(caption, heads, shown, "sensitivity.csv"),))
