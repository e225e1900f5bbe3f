"""Scores of one's own: a table with a row for every system and dialog or turn; its columns become metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from extrinsic.corpus.state_sets import StateSets
from extrinsic.csv_files import CsvRow, read_csv, report_number
from extrinsic.errors import Problems, did_you_mean
from extrinsic.metrics.state_metrics import OwnScore
from extrinsic.study.configuration.settings import ScoresTable
from extrinsic.study.stages.stored_scores import OwnScores

Unit = tuple[str, str, int]
"""System, dialog, turn (0 where dialogs were scored)."""

SHOWN = 10
"""Holes of a system that are named."""


def read_own_scores(
    table: ScoresTable | None, systems: Mapping[str, StateSets], dialogs: Sequence[str]
) -> dict[str, tuple[OwnScores, ...]]:
    """By system, its scores on the study's dialogs; every hole and every bad row is reported."""
    if table is None:
        return {}
    problems = Problems(table.file)
    columns = (table.system, table.dialog, *([table.turn] if table.turn else []), *table.names)
    rows = read_csv(table.file, columns, problems)
    problems.raise_errors()
    turns = {
        name: dict(zip(states.dialogs, np.diff(states.offsets).tolist(), strict=True))
        for name, states in systems.items()
    }
    numbers: dict[Unit, list[float]] = {}
    for row in rows:
        unit = _unit(table, row, turns, problems)
        values = [report_number(problems, row, name) for name in table.names]
        if unit is None:
            continue
        if unit in numbers:
            problems.add(f"line {row.line}: {unit[0]} has a second row", session=unit[1])
        numbers[unit] = [np.nan if value is None else value for value in values]
    scores = {}
    for name, lengths in turns.items():
        units = [
            [(name, dialog, turn) for turn in range(lengths[dialog] if table.turn else 1)]
            for dialog in dialogs
        ]
        holes = [unit for of_dialog in units for unit in of_dialog if unit not in numbers]
        for _, dialog, turn in holes[:SHOWN]:
            problems.add(f"system {name!r} has no scores", session=dialog, turn=turn if table.turn else None)
        if len(holes) > SHOWN:
            problems.add(f"system {name!r} has no scores in {len(holes) - SHOWN:,} further places")
        if holes:
            continue
        sums = np.array([np.sum([numbers[unit] for unit in of_dialog], axis=0) for of_dialog in units])
        counts = tuple(float(len(of_dialog)) for of_dialog in units)
        scores[name] = tuple(
            OwnScores(_form(table, column), tuple(sums[:, number].tolist()), counts)
            for number, column in enumerate(table.names)
        )
    problems.raise_errors()
    return scores


def _form(table: ScoresTable, column: str) -> str:
    return str(OwnScore(column, "lower" if column in table.lower_is_better else "higher"))


def _unit(
    table: ScoresTable, row: CsvRow, turns: Mapping[str, Mapping[str, int]], problems: Problems
) -> Unit | None:
    system, dialog = row[table.system], row[table.dialog]
    if system not in turns:
        problems.add(f"line {row.line}: there is no system {system!r}; {did_you_mean(system, turns)}")
        return None
    if dialog not in turns[system]:
        hint = did_you_mean(dialog, turns[system], limit=5)
        problems.add(f"line {row.line}: there is no dialog {dialog!r}; {hint}")
        return None
    if table.turn is None:
        return system, dialog, 0
    text, n_turns = row[table.turn], turns[system][dialog]
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) < n_turns):
        message, expected = f"line {row.line}: the dialog has no such turn", f"0 to {n_turns - 1}"
        problems.add(message, session=dialog, expected=expected, found=repr(text[:40]))
        return None
    return system, dialog, int(text)
