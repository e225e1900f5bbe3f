"""What came of dialogs, from a user's own table: success, ratings, one number a system or a dialog."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

import numpy as np

from extrinsic.errors import InputError, Problems, did_you_mean
from extrinsic.storage import read_bytes
from extrinsic.study.configuration.settings import OutcomesTable
from extrinsic.study.correlating.panel import TargetValue

Cell = tuple[str, str]


def read_outcomes(
    table: OutcomesTable,
    systems: Sequence[str],
    dialogs: Mapping[str, Sequence[str]],
    identities: Mapping[str, str],
) -> dict[Cell, dict[str, TargetValue]]:
    """By (dataset, system), the targets `outcome.<name>`; dialogs: the ids of each dataset's dialogs.

    Every problem is reported: columns and systems that are missing, dialogs without a row, what is no number.
    """
    problems = Problems(table.file)
    rows = _rows(table, problems)
    problems.raise_errors()
    numbers = _numbers(table, rows, list(dialogs), problems)
    problems.raise_errors()
    values: dict[Cell, dict[str, TargetValue]] = {}
    for dataset, ids in dialogs.items():
        for system in systems:
            found = numbers.get((dataset, system))
            if found is None:
                there = sorted({name for _, name in numbers})
                problems.add(f"no row of system {system!r} on {dataset}; {did_you_mean(system, there)}")
                continue
            values[dataset, system] = _values(table, system, found, ids, identities[dataset], problems)
    problems.raise_errors()
    return values


def _rows(table: OutcomesTable, problems: Problems) -> list[dict[str, str]]:
    try:
        text = read_bytes(table.file).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("this is not text", path=table.file, expected="a table in UTF-8") from None
    reader = csv.DictReader(io.StringIO(text, newline=""))
    heads = list(reader.fieldnames or ())
    for column in filter(None, (table.system, table.dialog, table.dataset, *table.names)):
        if column not in heads:
            problems.add(f"there is no column {column!r}; {did_you_mean(column, heads)}")
    return list(reader)


def _numbers(
    table: OutcomesTable, rows: Sequence[Mapping[str, str]], datasets: Sequence[str], problems: Problems
) -> dict[Cell, dict[str, list[float]]]:
    """By (dataset, system), by dialog id ("" for whole systems), the outcomes in order."""
    found: dict[Cell, dict[str, list[float]]] = {}
    for line, row in enumerate(rows, start=2):
        numbers = []
        for name in table.names:
            try:
                number = float(row[name])
            except (TypeError, ValueError):
                number = np.nan
            if not np.isfinite(number):
                problems.add(
                    f"line {line}: {name} is no number", expected="a finite number", found=repr(row[name])
                )
            numbers.append(number)
        dialog = row[table.dialog] if table.dialog else ""
        for dataset in [row[table.dataset]] if table.dataset else datasets:
            of = found.setdefault((dataset, row[table.system]), {})
            if dialog in of and dialog:
                problems.add(f"line {line}: {row[table.system]} has a second row", session=dialog)
            elif dialog in of:
                problems.add(
                    f"line {line}: {row[table.system]} has a second row; name the column of dialogs",
                    expected='outcomes.dialog = "..."',
                )
            of[dialog] = numbers
    return found


def _values(
    table: OutcomesTable,
    system: str,
    found: Mapping[str, Sequence[float]],
    ids: Sequence[str],
    identity: str,
    problems: Problems,
) -> dict[str, TargetValue]:
    if table.dialog is None:
        # Of whole systems nothing is known about single dialogs: their outcome stays as it is.
        return {
            f"outcome.{name}": TargetValue(found[""][i], np.zeros(len(ids)), identity)
            for i, name in enumerate(table.names)
        }
    missing = [dialog for dialog in ids if dialog not in found]
    for dialog in missing:
        problems.add(f"system {system!r} has no outcome", session=dialog)
    if missing:
        return {}
    columns = np.array([found[dialog] for dialog in ids]).T
    return {
        f"outcome.{name}": TargetValue(float(of.mean()), (of - of.mean()) / len(of), identity)
        for name, of in zip(table.names, columns, strict=True)
    }
