"""Tracker by tracker: its metrics, the returns of its policies, and the tracker it resembles."""

from __future__ import annotations

from bisect import bisect_left, insort

from extrinsic.report.page_parts import (
    Block,
    Fold,
    Head,
    Section,
    Text,
    described,
    estimator_term,
    name_term,
    policy_term,
    table,
    variant_term,
)
from extrinsic.report.run_data import Study
from extrinsic.study.tables import IntrinsicRow, ReturnRow
from extrinsic.value.diagnostics import WORDS
from extrinsic.verdict.health import TRACKER_FLAGS
from extrinsic.verdict.names import Name, amount, correlation, is_higher_better, listing, share
from extrinsic.verdict.rows import TrackerRow

Ranked = dict[tuple[str, str], tuple[float, int]]
"""By dataset and tracker, the value of a metric and its rank among all trackers there, 1 for the best."""

MOST_LINES = 15
"""More trackers are behind a line of their own."""


def tracker_by_tracker_section(study: Study) -> Section | None:
    if not study.trackers:
        return None
    metrics = ranked_metrics(study)
    returns: dict[str, list[ReturnRow]] = {}
    for row in study.tables[ReturnRow]:
        returns.setdefault(row.tracker, []).append(row)
    folds = tuple(
        _fold(study, row, metrics, returns.get(row.tracker, [])) for row in study.tables[TrackerRow]
    )
    note = (
        "Ranks are among all trackers on that dataset, 1 for the best. Every metric on its first component "
        "and schedule; all others are in intrinsic.csv."
    )
    if len(folds) > MOST_LINES:
        folds = (Fold(f"All {len(folds)} trackers", folds, is_aside=True),)
    return Section("trackers", "Tracker by tracker", (Text((note,)), *folds))


def ranked_metrics(study: Study) -> dict[Name, Ranked]:
    """Each metric on the first component and schedule it is measured on: a page cannot hold everything."""
    first: dict[str, Name] = {}
    scores: dict[Name, dict[tuple[str, str], float]] = {}
    for row in study.tables[IntrinsicRow]:
        name = Name.of(row)
        if first.setdefault(row.metric, name) == name and row.value is not None:
            scores.setdefault(name, {})[row.dataset, row.tracker] = row.value
    ranked: dict[Name, Ranked] = {}
    for name, values in scores.items():
        sign = -1.0 if is_higher_better(name.metric) else 1.0
        ordered: dict[str, list[float]] = {}
        for (dataset, _), value in values.items():
            insort(ordered.setdefault(dataset, []), sign * value)
        ranked[name] = {
            place: (value, 1 + bisect_left(ordered[place[0]], sign * value))
            for place, value in values.items()
        }
    return ranked


def _fold(study: Study, tracker: TrackerRow, metrics: dict[Name, Ranked], returns: list[ReturnRow]) -> Fold:
    name = tracker.tracker
    values = [_returns(returns)] if returns else []
    blocks = (Text((_description(tracker),)), *values, _metrics(study, name, metrics))
    kinds = (
        ("degenerate", tracker.degenerate),
        ("recalibrated", tracker.recalibrated),
        ("near-duplicate", tracker.near_duplicate_of),
        ("flagged", tracker.flags),
    )
    marks = ",".join(word for word, applies in kinds if applies)
    return Fold(f"{name}{f' ({marks})' if marks else ''}", blocks, is_aside=True)


def _description(tracker: TrackerRow) -> str:
    if tracker.degenerate:
        text = "Degenerate on purpose or by declaration; not among the core trackers."
    elif tracker.recalibrated:
        text = "A recalibrated copy of another tracker; not among the core trackers."
    elif tracker.flags and not tracker.core:
        rules = listing([TRACKER_FLAGS.get(flag, flag) for flag in tracker.flags])
        text = f"Not among the core trackers, for these reasons: they {rules}."
    elif tracker.near_duplicate_of:
        text = f"Nearly the same as {tracker.near_duplicate_of}, which stands for both in the core."
    else:
        text = "One of the core trackers."
    if tracker.nearest:
        text += f" It resembles {tracker.nearest} most: their beliefs agree by {share(tracker.agreement)}."
    return text


def _returns(rows: list[ReturnRow]) -> Block:
    lines = []
    for row in rows:
        terms = variant_term(row.variant), row.dataset, policy_term(row.policy), estimator_term(row.estimator)
        ends = f"[{amount(row.low, 1)}, {amount(row.high, 1)}]" if None not in (row.low, row.high) else ""
        flags = "; ".join(WORDS.get(flag, flag) for flag in row.flags)
        lines.append((*terms, amount(row.value, 1), ends, flags))
    same = ("variant", "dataset", "policy", "estimator")
    heads = described(ReturnRow, *same, value="#value", low="#interval", flags="flagged")
    return table("Returns", heads, lines, "returns.csv")


def _metrics(study: Study, tracker: str, metrics: dict[Name, Ranked]) -> Block:
    lines = []
    for name, ranked in metrics.items():
        cells = []
        for dataset in study.datasets:
            value, rank = ranked.get((dataset, tracker), (None, ""))
            shown = "" if value is None else correlation(value, 3) if abs(value) <= 1 else amount(value, 2)
            cells += [shown, str(rank)]
        lines.append((name_term(name), *cells))
    heads: list[Head] = [*described(IntrinsicRow, "metric")]
    for dataset in study.datasets:
        heads += [f"#{dataset}", "#rank"]
    return table("Metrics", heads, lines, "intrinsic.csv")
