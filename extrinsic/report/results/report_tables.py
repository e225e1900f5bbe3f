"""The tables of a run as the report reads them, with texts that are safe to show."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from extrinsic.errors import InputError, Problems
from extrinsic.study.tables import schema
from extrinsic.study.tables.table_files import read_rows


@dataclass(frozen=True)
class Tables:
    """Every table of a run, under its name."""

    intrinsic: list[schema.IntrinsicRow] = field(default_factory=list)
    returns: list[schema.ReturnRow] = field(default_factory=list)
    correlations: list[schema.CorrelationRow] = field(default_factory=list)
    partial: list[schema.PartialRow] = field(default_factory=list)
    counts: list[schema.CountRow] = field(default_factory=list)
    best_set: list[schema.BestSetRow] = field(default_factory=list)
    decided: list[schema.DecidedRow] = field(default_factory=list)
    pairs: list[schema.PairRow] = field(default_factory=list)
    composite: list[schema.CompositeRow] = field(default_factory=list)
    influence: list[schema.InfluenceRow] = field(default_factory=list)
    stability: list[schema.StabilityRow] = field(default_factory=list)
    sensitivity: list[schema.SensitivityRow] = field(default_factory=list)
    trackers: list[schema.TrackerRow] = field(default_factory=list)
    diagnostics: list[schema.DiagnosticRow] = field(default_factory=list)
    fit: list[schema.WorldFitRow] = field(default_factory=list)
    swap: list[schema.SwapRow] = field(default_factory=list)
    costs: list[schema.CostRow] = field(default_factory=list)


def read_tables(folder: Path) -> Tables:
    """Every table of a run; raises InputError with everything that is missing or damaged in any of them."""
    problems = Problems()

    def read(name: str, kind: type[schema.Row]) -> list[Any]:
        try:
            return read_rows(folder / f"{name}.csv", kind, clean)
        except InputError as error:
            problems.extend(error.problems)
            return []

    tables = Tables(**{name: read(name, kind) for name, kind in schema.TABLES.items()})
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
