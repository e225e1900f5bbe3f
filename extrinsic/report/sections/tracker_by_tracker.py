"""Tracker by tracker: its metrics, the returns of its policies, and the tracker it resembles."""

from __future__ import annotations

from bisect import bisect_left

from extrinsic.report.drawing.page_parts import (
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
from extrinsic.report.results.report_data import Study
from extrinsic.study.health import TRACKER_FLAGS
from extrinsic.study.naming import Name, is_higher_better
from extrinsic.study.number_texts import amount, correlation, listing, share
from extrinsic.study.tables.value_rows import IntrinsicRow, ReturnRow, TrackerRow
from extrinsic.value.diagnostics import WORDS

Values = dict[Name, dict[tuple[str, str], float]]
"""By metric, then by dataset and tracker."""

_Metric = tuple[Name, dict[tuple[str, str], float], dict[str, list[float]]]
"""A metric, its values, and those of every dataset the best first."""

MOST_LINES = 15
"""More trackers are behind a line of their own."""


def tracker_by_tracker_section(study: Study) -> Section | None:
    if not study.trackers:
        return None
    values = chosen_values(study)
    shown: list[_Metric] = [
        (name, scores, {dataset: _ordered(name, scores, dataset) for dataset in study.datasets})
        for name, scores in values.items()
    ]
    returns: dict[str, list[ReturnRow]] = {}
    for row in study.tables.returns:
        returns.setdefault(row.tracker, []).append(row)
    folds = tuple(_fold(study, row, shown, returns.get(row.tracker, [])) for row in study.tables.trackers)
    note = (
        "Ranks are among all trackers on that dataset, 1 for the best. Every metric on its first component "
        "and schedule; all others are in intrinsic.csv."
    )
    if len(folds) > MOST_LINES:
        folds = (Fold(f"All {len(folds)} trackers", folds, is_aside=True),)
    return Section("trackers", "Tracker by tracker", (Text((note,)), *folds))


def chosen_values(study: Study) -> Values:
    """Each metric on the first component and schedule it is measured on: a page cannot hold everything."""
    first: dict[str, Name] = {}
    values: Values = {}
    for row in study.tables.intrinsic:
        name = Name.of(row)
        if first.setdefault(row.metric, name) == name and row.value is not None:
            values.setdefault(name, {})[row.dataset, row.tracker] = row.value
    return values


def _fold(study: Study, tracker: TrackerRow, metrics: list[_Metric], returns: list[ReturnRow]) -> Fold:
    name = tracker.tracker
    blocks: list[Block] = [Text((_description(tracker),))]
    if returns:
        blocks.append(_returns(returns))
    blocks.append(_metrics(study, name, metrics))
    kinds = (
        ("degenerate", tracker.degenerate),
        ("recalibrated", tracker.recalibrated),
        ("near-duplicate", tracker.near_duplicate_of),
        ("flagged", tracker.flags),
    )
    marks = ",".join(word for word, applies in kinds if applies)
    return Fold(f"{name}{f' ({marks})' if marks else ''}", tuple(blocks), is_aside=True)


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


def _metrics(study: Study, tracker: str, metrics: list[_Metric]) -> Block:
    lines = []
    for name, scores, ordered in metrics:
        cells = []
        for dataset in study.datasets:
            value = scores.get((dataset, tracker))
            shown = "" if value is None else correlation(value, 3) if abs(value) <= 1 else amount(value, 2)
            ahead = None if value is None else bisect_left(ordered[dataset], _order(name, value))
            cells += [shown, "" if ahead is None else str(1 + ahead)]
        lines.append((name_term(name), *cells))
    heads: list[Head] = [*described(IntrinsicRow, "metric")]
    for dataset in study.datasets:
        heads += [f"#{dataset}", "#rank"]
    return table("Metrics", heads, lines, "intrinsic.csv")


def _ordered(name: Name, scores: dict[tuple[str, str], float], dataset: str) -> list[float]:
    """The values of all trackers on a dataset, the best first."""
    return sorted(_order(name, value) for (measured_on, _), value in scores.items() if measured_on == dataset)


def _order(name: Name, value: float) -> float:
    """Lower for a better value."""
    return -value if is_higher_better(name.metric) else value
