"""Tables that users write (.csv, .csv.gz), read strictly: a row that does not fit its head is refused."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from extrinsic.errors import InputError, Problems, did_you_mean, shown
from extrinsic.storage import read_bytes

LARGEST = 1e100
"""Of numbers: squares and sums of them must stay finite."""

LONGEST_CELL = 100_000
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class CsvRow:
    """A row with the number of its line; cells by the name of their column, without outer blanks."""

    line: int
    cells: dict[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells[column]


def read_csv(path: str | Path, columns: Sequence[str], problems: Problems) -> list[CsvRow]:
    """The rows of a table that must have these columns; every row that does not fit is reported.

    Empty lines are no rows, but they count as lines.
    """
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("this is not text", path=str(path), expected="a table in UTF-8") from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[CsvRow] = []
    try:
        heads = [head.strip() for head in next(reader, [])]
        _check_heads(heads, columns, problems)
        for cells in reader:
            line = reader.line_num
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(heads):
                problems.add(
                    f"line {line}: {'more' if len(cells) > len(heads) else 'fewer'} cells than columns",
                    expected=str(len(heads)),
                    found=str(len(cells)),
                )
                continue
            too_long = [head for head, cell in zip(heads, cells, strict=True) if len(cell) > LONGEST_CELL]
            if too_long:
                problems.add(
                    f"line {line}: {too_long[0]} is too long", expected=f"at most {LONGEST_CELL:,} characters"
                )
                continue
            rows.append(CsvRow(line, {head: cell.strip() for head, cell in zip(heads, cells, strict=True)}))
    except csv.Error as error:
        problems.add(f"line {reader.line_num}: this is no table: {error}", expected="comma-separated values")
    return rows


def _check_heads(heads: Sequence[str], columns: Sequence[str], problems: Problems) -> None:
    for head, times in Counter(heads).items():
        if times > 1:
            problems.add(f"line 1: {times} columns are called {head!r}")
    for column in columns:
        if column not in heads:
            problems.add(f"there is no column {column!r}; {did_you_mean(column, heads)}")


def number_in(text: str) -> float | None:
    """The number that a cell holds, written with ASCII digits and no separators; None for anything else."""
    number = float(text) if _NUMBER.fullmatch(text) else None
    return None if number is None or abs(number) > LARGEST else number


def report_number(problems: Problems, row: CsvRow, column: str) -> float | None:
    """The number of a cell, or a problem."""
    number = number_in(row[column])
    if number is None:
        problems.add(
            f"line {row.line}: {column} is no number",
            expected=f"a finite number of at most {LARGEST:g}",
            found=shown(row[column]).removeprefix("text ") if row[column] else "nothing",
        )
    return number
