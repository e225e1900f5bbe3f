"""The tables of a run as the report reads them, with texts that are safe to show."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from extrinsic.errors import InputError, Problems
from extrinsic.study.tables import metric_rows, value_rows
from extrinsic.study.tables.schema import TABLES
from extrinsic.study.tables.table_files import read_rows


@dataclass(frozen=True)
class Tables:
    """Every table of a run, under its name."""

    intrinsic: list[value_rows.IntrinsicRow] = field(default_factory=list)
    returns: list[value_rows.ReturnRow] = field(default_factory=list)
    correlations: list[metric_rows.CorrelationRow] = field(default_factory=list)
    partial: list[metric_rows.PartialRow] = field(default_factory=list)
    counts: list[metric_rows.CountRow] = field(default_factory=list)
    best_set: list[metric_rows.BestSetRow] = field(default_factory=list)
    decided: list[metric_rows.DecidedRow] = field(default_factory=list)
    pairs: list[metric_rows.PairRow] = field(default_factory=list)
    composite: list[metric_rows.CompositeRow] = field(default_factory=list)
    influence: list[metric_rows.InfluenceRow] = field(default_factory=list)
    stability: list[metric_rows.StabilityRow] = field(default_factory=list)
    sensitivity: list[metric_rows.SensitivityRow] = field(default_factory=list)
    trackers: list[value_rows.TrackerRow] = field(default_factory=list)
    diagnostics: list[value_rows.DiagnosticRow] = field(default_factory=list)
    fit: list[value_rows.WorldFitRow] = field(default_factory=list)
    swap: list[metric_rows.SwapRow] = field(default_factory=list)
    costs: list[metric_rows.CostRow] = field(default_factory=list)


def read_tables(folder: Path) -> Tables:
    """Every table of a run; raises InputError with everything that is missing or damaged in any of them."""
    problems = Problems()

    def read(name: str, kind: type[value_rows.Row]) -> list[Any]:
        try:
            return read_rows(folder / f"{name}.csv", kind, clean)
        except InputError as error:
            problems.extend(error.problems)
            return []

    tables = Tables(**{name: read(name, kind) for name, kind in TABLES.items()})
    problems.raise_errors()
    return tables


def clean(text: str) -> str:
    """Text that is valid in XML and fits on one line: hidden characters are replaced."""
    if text.isprintable():
        return text
    return "".join("\N{REPLACEMENT CHARACTER}" if _is_hidden(sign) else sign for sign in text)


def _is_hidden(sign: str) -> bool:
    """Control, format (such as the right-to-left override), surrogate, unassigned, line separators."""
    return unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp")
