"""Which tables a run has, each with the struct of its rows, and the help of their columns.

The types of a struct drive the reader and the writer; the lines `column: meaning` of its docstring are the
help that the site and the page show.
"""

from __future__ import annotations

import inspect
import re

from extrinsic.study.tables import metric_rows, value_rows

TABLES: dict[str, type[value_rows.Row]] = {
    "intrinsic": value_rows.IntrinsicRow,
    "returns": value_rows.ReturnRow,
    "correlations": metric_rows.CorrelationRow,
    "partial": metric_rows.PartialRow,
    "counts": metric_rows.CountRow,
    "best_set": metric_rows.BestSetRow,
    "decided": metric_rows.DecidedRow,
    "pairs": metric_rows.PairRow,
    "composite": metric_rows.CompositeRow,
    "influence": metric_rows.InfluenceRow,
    "stability": metric_rows.StabilityRow,
    "sensitivity": metric_rows.SensitivityRow,
    "trackers": value_rows.TrackerRow,
    "diagnostics": value_rows.DiagnosticRow,
    "fit": value_rows.WorldFitRow,
    "swap": metric_rows.SwapRow,
    "costs": metric_rows.CostRow,
}
"""The tables whose bytes the manifest records; `timings` is not among them."""

POLICY_TABLES: dict[str, type[value_rows.Row]] = {
    "policies": value_rows.PolicyRow,
    "learning_curve": value_rows.CurveRow,
    "returns": value_rows.ReturnRow,
    "diagnostics": value_rows.DiagnosticRow,
    "fit": value_rows.WorldFitRow,
}
"""The same of a run of `extrinsic policies`."""

WORLDS_TABLE: dict[str, type[value_rows.Row]] = {"worlds": value_rows.WorldRow}
"""Of a study that draws worlds, besides."""

HELP_LINE = re.compile(r"(?P<columns>\w+(?:, \w+)*): (?P<help>.+)")
ELSEWHERE = re.compile(r"as in `(?P<table>\w+)`\.")


def summary(kind: type[value_rows.Row]) -> str:
    """One line about a table."""
    return (inspect.getdoc(kind) or "").partition("\n")[0]


def column_help(kind: type[value_rows.Row]) -> dict[str, str]:
    """The meaning of every column of a table, from the docstrings of its struct and of those it extends."""
    texts: dict[str, str] = {}
    columns: list[str] = []
    documents = [
        inspect.cleandoc(each.__doc__ or "")
        for each in reversed(kind.__mro__)
        if issubclass(each, value_rows.Row)
    ]
    for line in (line for document in documents for line in document.splitlines()[1:]):
        match = HELP_LINE.match(line)
        if match:
            columns = match["columns"].split(", ")
            texts |= dict.fromkeys(columns, match["help"])
        elif line.strip():
            texts |= {column: f"{texts[column]} {line.strip()}" for column in columns}
    return {column: _resolved(column, text) for column, text in texts.items()}


def _resolved(column: str, text: str) -> str:
    """Replace a reference to another table by the text of that table."""
    reference = ELSEWHERE.fullmatch(text)
    return column_help((TABLES | POLICY_TABLES)[reference["table"]])[column] if reference else text
