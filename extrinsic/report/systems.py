"""System by system: what its policy earns, the metrics that were declared, and whether it is of the core."""

from __future__ import annotations

import math

import numpy as np

from extrinsic.report.page_parts import Fold, Head, Section, described, name_term, table, target_term
from extrinsic.report.run_data import Study
from extrinsic.verdict.health import TRACKER_FLAGS
from extrinsic.verdict.names import Name, amount, correlation, is_share, listing, share
from extrinsic.verdict.rows import TrackerRow

MOST_METRICS, MOST_LINES = 8, 20


def systems_section(study: Study) -> Section | None:
    """A line each, the best by the primary target first; numbers are means over datasets."""
    panel = study.view
    if not panel.names:
        return None
    judged = dict.fromkeys((verdict.target, verdict.variant) for verdict in study.verdict.verdicts)
    targets = [k for k, target in enumerate(panel.targets) if (target.name, target.variant) in judged]
    declared = study.verdict.verdicts[0].choices if study.verdict.verdicts else ()
    keys = [Name.of(key) for key in panel.metrics]
    metrics = [keys.index(choice.name) for choice in declared[:MOST_METRICS]]
    values, scores = panel.values.mean(axis=1), panel.scores.mean(axis=1)
    by_name = {row.tracker: row for row in study.tables[TrackerRow]}
    first = values[targets[0]] if targets else np.zeros(len(panel.names))
    lines = []
    for s in sorted(
        range(len(panel.names)), key=lambda s: -first[s] if math.isfinite(first[s]) else math.inf
    ):
        earned = [_value(float(values[k, s]), 3 if is_share(panel.targets[k].name) else 1) for k in targets]
        scored = [_value(float(scores[m, s])) for m in metrics]
        row = by_name[panel.names[s]]
        alike = f"{row.nearest}, {share(row.agreement)}" if row.nearest else ""
        lines.append((panel.names[s], *earned, *scored, _standing(row), alike))
    heads: list[Head] = [*described(TrackerRow, "tracker")]
    several = len(study.variants) > 1
    for k in targets:
        term = target_term(panel.targets[k].name)
        under = f", {study.variant_title(panel.targets[k].variant)}" if several else ""
        heads.append(f"#{term.removeprefix('the ')}{under}")
    heads += [f"#{name_term(keys[m])}" for m in metrics]
    heads += described(TrackerRow, core="core", nearest="resembles most")
    caption = "Means over datasets; every number by dataset is in intrinsic.csv and returns.csv."
    made = table(caption, heads, lines, "trackers.csv")
    if len(lines) <= MOST_LINES:
        return Section("trackers", "Tracker by tracker", (made,))
    return Section("trackers", "Tracker by tracker", (Fold(f"All {len(lines)} trackers", (made,), True),))


def _value(value: float, digits: int | None = None) -> str:
    if not math.isfinite(value):
        return ""
    return correlation(value, 3) if digits is None and abs(value) <= 1.0 else amount(value, digits or 2)


def _standing(row: TrackerRow) -> str:
    """`yes`, or why it is not among the core."""
    if row.core:
        return "yes"
    if row.near_duplicate_of:
        return f"nearly the same as {row.near_duplicate_of}"
    kinds = (("degenerate", row.degenerate), ("recalibrated", row.recalibrated))
    reasons = [kind for kind, holds in kinds if holds]
    return listing(reasons or [TRACKER_FLAGS.get(flag, flag) for flag in row.flags]) or "no"
