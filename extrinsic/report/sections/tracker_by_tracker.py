"""Tracker by tracker: what it measures, what its policies earn, and who it resembles."""

from __future__ import annotations

from extrinsic.report.drawing.page_parts import Block, Fold, Section, Text, table
from extrinsic.report.results.naming import Name, is_higher_better, policy_in_words
from extrinsic.report.results.numbers import amount, correlation, share
from extrinsic.report.results.report_data import Study
from extrinsic.report.results.table_columns import Row, Rows
from extrinsic.value.diagnostics import WORDS

Values = dict[Name, dict[tuple[str, str], float]]
"""By metric, then by dataset and tracker."""


def section(study: Study) -> Section | None:
    if not study.trackers:
        return None
    values = telling_values(study)
    folds = tuple(_fold(study, row, values) for row in study.tables["trackers"])
    told = Text(
        (
            "Places are among all trackers on that dataset, 1 for the best. Every metric on its first "
            "component and schedule; all others are in intrinsic.csv.",
        )
    )
    return Section("trackers", "Tracker by tracker", (told, *folds))


def telling_values(study: Study) -> Values:
    """Each metric on the first component and schedule it is measured on: a page cannot hold everything."""
    first: dict[str, Name] = {}
    values: Values = {}
    for row in study.tables["intrinsic"]:
        name = Name.of(row)
        if first.setdefault(row["metric"], name) == name and row["value"] is not None:
            values.setdefault(name, {})[row["dataset"], row["tracker"]] = row["value"]
    return values


def _fold(study: Study, tracker: Row, values: Values) -> Fold:
    name = tracker["tracker"]
    blocks: list[Block] = [Text((_who(tracker),))]
    returns = [row for row in study.tables["returns"] if row["tracker"] == name]
    if returns:
        blocks.append(_returns(returns))
    blocks.append(_metrics(study, name, values))
    marks = [word for word in ("degenerate", "recalibrated") if tracker[word]]
    marks += ["near-duplicate"] if tracker["near_duplicate_of"] else []
    return Fold(f"{name}{f' ({chr(44).join(marks)})' if marks else ''}", tuple(blocks), is_aside=True)


def _who(tracker: Row) -> str:
    if tracker["degenerate"]:
        told = "Degenerate on purpose or by declaration; not among the core trackers."
    elif tracker["recalibrated"]:
        told = "A recalibrated copy of another tracker; not among the core trackers."
    elif tracker["near_duplicate_of"]:
        told = f"Nearly the same as {tracker['near_duplicate_of']}, which stands for both in the core."
    else:
        told = "One of the core trackers."
    if tracker["nearest"]:
        told += (
            f" It resembles {tracker['nearest']} most: their beliefs agree by {share(tracker['agreement'])}."
        )
    return told


def _returns(rows: Rows) -> Block:
    lines = [
        (
            row["variant"],
            row["dataset"],
            policy_in_words(row["policy"]),
            row["estimator"],
            amount(row["value"], 1),
            _interval(row),
            row["flags"] and "; ".join(_words(row["flags"])),
        )
        for row in rows
    ]
    heads = ("variant", "dataset", "policy", "estimator", "#value", "#interval", "flagged")
    return table("What it is worth", heads, lines, "returns.csv")


def _interval(row: Row) -> str:
    known = row["low"] is not None and row["high"] is not None
    return f"[{amount(row['low'], 1)}, {amount(row['high'], 1)}]" if known else ""


def _words(flags: str) -> list[str]:
    return [WORDS.get(flag, flag) for flag in flags.split()]


def _metrics(study: Study, tracker: str, values: Values) -> Block:
    lines = []
    for name, of in values.items():
        cells = []
        for dataset in study.datasets:
            value = of.get((dataset, tracker))
            cells += ["", ""] if value is None else [_value(value), _place(name, of, dataset, value)]
        lines.append((name.metric, name.component, str(name.schedule), *cells))
    heads = ["metric", "component", "#schedule"]
    for dataset in study.datasets:
        heads += [f"#{dataset}", "#place"]
    return table("What it measures", heads, lines, "intrinsic.csv")


def _value(value: float) -> str:
    return correlation(value, 3) if abs(value) <= 1 else amount(value, 2)


def _place(name: Name, of: dict[tuple[str, str], float], dataset: str, value: float) -> str:
    others = [other for (where, _), other in of.items() if where == dataset]
    higher = is_higher_better(name.metric)
    return str(1 + sum(other > value if higher else other < value for other in others))
