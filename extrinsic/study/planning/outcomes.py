"""Outcomes of dialogs from a user's own table: success, ratings, one number per system or dialog."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.errors import InputError, Problems, did_you_mean
from extrinsic.storage import content_hash, encode_json, read_bytes
from extrinsic.study.configuration.settings import OutcomesTable
from extrinsic.study.planning.plan import Keys, Plan
from extrinsic.study.stages.learning import PolicyValue, PolicyValues
from extrinsic.study.stages.store import Result, StageKey
from extrinsic.study.stages.task import encoded
from extrinsic.study.stages.versions import code_version

OUTCOME = "outcome"
"""In place of a policy: an outcome from the user's own file."""

Cell = tuple[str, str]


def outcome_results(
    table: OutcomesTable, plan: Plan, dialogs: Mapping[str, Sequence[str]]
) -> tuple[Keys, dict[StageKey, bytes]]:
    """The outcomes of every tracker as a result that can be stored: their keys, and their bytes."""
    values = read_outcomes(table, plan.tracker_names, dialogs)
    keys: Keys = {}
    stored: dict[StageKey, bytes] = {}
    for tracker in plan.tracker_names:
        parts = (plan.inputs[table.file], encoded(table), tracker, encode_json(dialogs))
        key = StageKey("outcomes", content_hash("outcomes", code_version(__name__), *parts))
        outcomes = [outcome for outcome in values if outcome.system == tracker]
        influences = {f"influence{number}": outcome.influence for number, outcome in enumerate(outcomes)}
        result = Result(PolicyValues(tuple(outcome.value for outcome in outcomes), {}), influences)
        keys[tracker], stored[key] = (key,), result.encode(key)
    return keys, stored


@dataclass(frozen=True, eq=False)
class Outcome:
    """An outcome of a system on a dataset, with the influence (n_dialogs,) of every dialog."""

    system: str
    value: PolicyValue
    influence: Floats


def read_outcomes(
    table: OutcomesTable, systems: Sequence[str], dialogs: Mapping[str, Sequence[str]]
) -> list[Outcome]:
    """The targets `outcome.<name>` of every dataset and system; dialogs: the ids of each dataset's dialogs.

    Every problem is reported: missing columns and systems, dialogs without a row, cells that are not numbers.
    """
    problems = Problems(table.file)
    rows = _rows(table, problems)
    problems.raise_errors()
    numbers = _numbers(table, rows, list(dialogs), problems)
    problems.raise_errors()
    outcomes: list[Outcome] = []
    for dataset, ids in dialogs.items():
        for system in systems:
            by_dialog = numbers.get((dataset, system))
            if by_dialog is None:
                listed = sorted({name for _, name in numbers})
                problems.add(f"no row of system {system!r} on {dataset}; {did_you_mean(system, listed)}")
                continue
            outcomes += _outcomes(table, dataset, system, by_dialog, ids, problems)
    problems.raise_errors()
    return outcomes


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
    numbers_of: dict[Cell, dict[str, list[float]]] = {}
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
            by_dialog = numbers_of.setdefault((dataset, row[table.system]), {})
            if dialog in by_dialog and dialog:
                problems.add(f"line {line}: {row[table.system]} has a second row", session=dialog)
            elif dialog in by_dialog:
                problems.add(
                    f"line {line}: {row[table.system]} has a second row; name the column of dialogs",
                    expected='outcomes.dialog = "..."',
                )
            by_dialog[dialog] = numbers
    return numbers_of


def _outcomes(
    table: OutcomesTable,
    dataset: str,
    system: str,
    by_dialog: Mapping[str, Sequence[float]],
    ids: Sequence[str],
    problems: Problems,
) -> list[Outcome]:
    if table.dialog is None:
        # An outcome of a whole system does not change with single dialogs: they have no influence.
        return [
            _outcome(dataset, system, name, number, np.zeros(len(ids)))
            for name, number in zip(table.names, by_dialog[""], strict=True)
        ]
    missing = [dialog for dialog in ids if dialog not in by_dialog]
    for dialog in missing:
        problems.add(f"system {system!r} has no outcome", session=dialog)
    if missing:
        return []
    columns = np.array([by_dialog[dialog] for dialog in ids]).T
    return [
        _outcome(dataset, system, name, float(column.mean()), (column - column.mean()) / len(column))
        for name, column in zip(table.names, columns, strict=True)
    ]


def _outcome(dataset: str, system: str, name: str, mean: float, influence: Floats) -> Outcome:
    value = PolicyValue(dataset=dataset, policy=OUTCOME, estimator=name, mean=mean, n=len(influence))
    return Outcome(system, value, influence)
