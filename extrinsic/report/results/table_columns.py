"""The tables of a run as the report reads them: every column of its kind, or a problem with its place."""

from __future__ import annotations

import csv
import io
import math
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from extrinsic.errors import InputError, Problems
from extrinsic.storage import read_bytes

Row = dict[str, Any]
Rows = list[Row]
Tables = dict[str, Rows]

BOOLEANS = {"core", "degenerate", "recalibrated", "converged"}
TEXTS = {
    "dataset",
    "tracker",
    "component",
    "metric",
    "label_scheme",
    "policy",
    "estimator",
    "flags",
    "variant",
    "target",
    "scope",
    "coefficient",
    "trackers",
    "reason",
    "metric_a",
    "component_a",
    "metric_b",
    "component_b",
    "method",
    "weights",
    "parameter",
    "setting",
    "near_duplicate_of",
    "nearest",
}
"""All other columns are numbers."""

NEEDED: dict[str, tuple[str, ...]] = {
    "intrinsic": ("dataset", "tracker", "component", "metric", "schedule", "value"),
    "returns": (
        "dataset",
        "tracker",
        "policy",
        "estimator",
        "value",
        "low",
        "high",
        "flags",
        "variant",
    ),
    "correlations": (
        "target",
        "metric",
        "schedule",
        "component",
        "scope",
        "coefficient",
        "r",
        "low",
        "high",
        "p_adjusted",
        "n",
        "trackers",
        "cluster",
        "variant",
        "reason",
    ),
    "pairs": (
        "target",
        "metric_a",
        "schedule_a",
        "component_a",
        "metric_b",
        "schedule_b",
        "component_b",
        "scope",
        "difference",
        "low",
        "high",
        "p",
        "trackers",
        "variant",
    ),
    "composite": (
        "target",
        "scope",
        "method",
        "r",
        "low",
        "high",
        "r_in_sample",
        "above_best_single",
        "above_low",
        "above_high",
        "trackers",
        "variant",
        "weights",
    ),
    "influence": (
        "target",
        "metric",
        "schedule",
        "component",
        "scope",
        "coefficient",
        "r",
        "lowest",
        "highest",
        "tracker",
        "r_without",
        "trackers",
        "variant",
    ),
    "stability": (
        "target",
        "scope",
        "n_trackers",
        "agreement",
        "low",
        "high",
        "same_winner",
        "loss",
        "trackers",
        "variant",
    ),
    "sensitivity": (
        "parameter",
        "setting",
        "trackers",
        "metric",
        "schedule",
        "component",
        "r",
        "low",
        "high",
        "usual_winner_r",
        "usual_winner_rank",
        "agreement",
        "n_metrics",
        "variant",
    ),
    "trackers": (
        "tracker",
        "core",
        "degenerate",
        "recalibrated",
        "near_duplicate_of",
        "nearest",
        "agreement",
    ),
    "diagnostics": (
        "dataset",
        "tracker",
        "policy",
        "estimator",
        "kernels",
        "condition",
        "zero_kernel",
        "largest_q",
        "feasible_low",
        "feasible_high",
        "effective_size",
        "on_policy_gap",
        "flags",
        "variant",
    ),
}
"""The columns that the report reads; others may come and go with the versions that made a run."""

NEVER_EMPTY = {"tracker", "metric", "target", "trackers", "scope", "coefficient", "metric_a", "metric_b"}
MOST_PROBLEMS = 20


def read_tables(folder: Path) -> Tables:
    """Every table of a run; raises InputError with all that is missing or damaged."""
    problems = Problems()
    tables = {name: _read(folder / f"{name}.csv", heads, problems) for name, heads in NEEDED.items()}
    problems.raise_errors()
    return tables


def _read(path: Path, heads: Sequence[str], problems: Problems) -> Rows:
    try:
        text = read_bytes(path).decode()
    except InputError as error:
        problems.extend(error.problems)
        return []
    except UnicodeDecodeError as error:
        problems.add(
            "this is not text",
            path=str(path),
            expected="a table in UTF-8",
            found=f"byte {error.object[error.start]:#04x} at {error.start}",
        )
        return []
    try:
        lines = list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error as error:
        problems.add(f"the table cannot be read: {error}", path=str(path))
        return []
    found = lines[0] if lines else []
    missing = [head for head in heads if head not in found]
    for head in missing:
        problems.add(f"the column {head!r} is missing", path=str(path))
    return [] if missing else list(_rows(path, found, lines[1:], heads, problems))


def _rows(
    path: Path, found: list[str], lines: list[list[str]], heads: Sequence[str], problems: Problems
) -> Iterator[Row]:
    places = [(head, found.index(head), _kind(head)) for head in heads]
    for number, cells in enumerate(lines, start=2):
        if len(problems) >= MOST_PROBLEMS:
            return
        if len(cells) != len(found):
            problems.add(
                f"line {number} is damaged",
                path=str(path),
                expected=f"{len(found)} cells",
                found=str(len(cells)),
            )
            continue
        row = {}
        for head, place, kind in places:
            try:
                row[head] = kind(cells[place])
            except ValueError:
                problems.add(
                    f"column {head!r}, line {number}: not {_EXPECTED[kind]}",
                    path=str(path),
                    found=repr(cells[place][:40]),
                )
        yield row


def _kind(head: str) -> Callable[[str], Any]:
    if head in BOOLEANS:
        return _boolean
    if head in NEVER_EMPTY:
        return _name
    return clean if head in TEXTS else _number


def _number(text: str) -> int | float | None:
    if text == "":
        return None
    if text.isdigit():
        return int(text)
    value = float(text)
    return None if math.isnan(value) else value


def _boolean(text: str) -> bool | None:
    if text not in ("true", "false", ""):
        raise ValueError(text)
    return None if text == "" else text == "true"


def _name(text: str) -> str:
    if text == "":
        raise ValueError(text)
    return clean(text)


def clean(text: str) -> str:
    """Text that can stand in XML and on one line: control characters and the like become a sign."""
    if text.isprintable():
        return text
    return "".join("\N{REPLACEMENT CHARACTER}" if _is_hidden(sign) else sign for sign in text)


def _is_hidden(sign: str) -> bool:
    """Control, format (such as the one that turns text round), surrogate, unassigned, line separators."""
    return unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp")


_EXPECTED: dict[Callable[[str], Any], str] = {
    _number: "a number",
    _boolean: "true or false",
    _name: "a name",
    clean: "text",
}
