"""Tables: csv files of which a struct is the schema, those that users write, and rows in notebooks.

Equal rows give equal bytes. Whatever does not fit is a problem with its line: a damaged cell of a table that
was written here, a row of a user's table that does not fit its head.
"""

from __future__ import annotations

import csv
import io
import re
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Union, get_args, get_origin

import msgspec
import numpy as np

from extrinsic.errors import InputError, Problems, UsageError, did_you_mean, shown
from extrinsic.storage import read_bytes, write_atomic

if TYPE_CHECKING:
    import pandas

R = TypeVar("R", bound=msgspec.Struct)

MOST_PROBLEMS = 20
"""Of a table that was written here: one that is damaged further is not worth reading."""

LARGEST = 1e100
"""Of numbers in users' tables: squares and sums of them must stay finite."""

LONGEST_CELL = 100_000
MOST_ROWS = 20
"""Of a table in a notebook."""

NUMBER = re.compile(r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|inf)")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")
OTHER_VERSION = "the table was written by another version; run the study again in this directory"


def plain(value: float | np.floating | np.ndarray) -> float | None:
    """A number as the cell of a row: None for one that is not finite."""
    return float(value) if np.isfinite(value) else None


def text_cell(text: str) -> str:
    """A text as the cell of a csv file: a spreadsheet would execute one that begins as a formula does.

    Such a text gets an apostrophe in front, which `plain_cell` takes away; so does one that begins with it.
    """
    return f"'{text}" if text.startswith(FORMULA) and not NUMBER.fullmatch(text) else text


def plain_cell(cell: str) -> str:
    """The inverse of `text_cell`."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA) else cell


def table_bytes(rows: Sequence[R], kind: type[R], decimals: int | None = None) -> bytes:
    """Rows under the names of their fields; decimals: to round to; None keeps every digit.

    A field that a struct renames (`rename=`) is a column of that other name.
    """
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(kind.__struct_encode_fields__)
    for row in rows:
        writer.writerow([_written(getattr(row, name), decimals) for name in kind.__struct_fields__])
    return stream.getvalue().encode()


def write_rows(path: Path, rows: Sequence[R], kind: type[R], decimals: int | None = None) -> bytes:
    """Write a table whole or not at all; returns its bytes."""
    data = table_bytes(rows, kind, decimals)
    write_atomic(path, data)
    return data


def _written(value: Any, decimals: int | None) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return text_cell(" ".join(value))
    if isinstance(value, float):
        return repr(value) if decimals is None else f"{value:.{decimals}f}"
    return text_cell(value) if isinstance(value, str) else str(value)


def read_rows(path: Path, kind: type[R], clean: Callable[[str], str] = str) -> list[R]:
    """The rows of a table, or InputError with every column and cell that does not fit the schema.

    clean: applied to texts, for display.
    """
    problems = Problems(str(path))
    lines = _lines(path, problems)
    heads = next(lines)[1]
    columns = kind.__struct_encode_fields__
    missing = [column for column in columns if column not in heads]
    for column in missing:
        problems.add(f"the column {column!r} is missing; {OTHER_VERSION}")
    for head in heads:
        if head not in columns:
            close = get_close_matches(head, missing, n=1)
            advice = f"did you mean {close[0]!r}?" if close else OTHER_VERSION
            problems.add(f"there is no column {head!r} in this version; {advice}")
    problems.raise_errors()
    readers = {field.encode_name: _reader(field, clean) for field in msgspec.structs.fields(kind)}
    names = dict(zip(columns, kind.__struct_fields__, strict=True))
    rows = []
    for line, cells in lines:
        values = {}
        for head, cell in zip(heads, cells, strict=True):
            try:
                values[names[head]] = readers[head](cell)
            except ValueError as error:
                problems.add(f"line {line}, column {head!r}: not {error}", found=repr(cell[:40]))
        if len(problems) >= MOST_PROBLEMS:
            break
        if len(values) == len(heads):
            rows.append(kind(**values))
    problems.raise_errors()
    return rows


_CELLS: dict[Any, tuple[str, re.Pattern[str], Callable[[str], Any]]] = {
    bool: ("true or false", re.compile("true|false"), "true".__eq__),
    int: ("a whole number", re.compile("[+-]?[0-9]+"), int),
    float: ("a number", NUMBER, float),
}
"""By the type of a field: what its cells are in words, how they are written, how they are read."""


def _reader(field: msgspec.structs.FieldInfo, clean: Callable[[str], str]) -> Callable[[str], Any]:
    """How the cells of a column are read; ValueError says what they are not."""
    is_union = get_origin(field.type) in (Union, types.UnionType)
    members = get_args(field.type) if is_union else (field.type,)
    (plain,) = (member for member in members if member is not type(None))

    def text(cell: str) -> str:
        return clean(plain_cell(cell))

    if get_origin(plain) is tuple:
        return lambda cell: tuple(text(cell).split())
    words, form, parse = _CELLS.get(plain, ("a name", re.compile(".+", re.DOTALL), text))

    def read(cell: str) -> Any:
        if form.fullmatch(cell):
            return parse(cell)
        if cell:
            raise ValueError(words)
        if type(None) in members:
            return None
        if plain is str and not field.required:
            return ""
        raise ValueError(f"{words}, but empty")

    return read


class CsvRow(NamedTuple):
    """A row of a user's table with the number of its line; cells by column, without outer blanks."""

    line: int
    cells: dict[str, str]


def read_csv(path: str | Path, columns: Sequence[str], problems: Problems) -> list[CsvRow]:
    """The rows of a user's table that must have these columns; every row that does not fit is reported."""
    lines = _lines(path, problems)
    heads = next(lines)[1]
    for column in columns:
        if column not in heads:
            problems.add(f"there is no column {column!r}; {did_you_mean(column, heads)}")
    rows = []
    for line, cells in lines:
        row = CsvRow(line, {head: cell.strip() for head, cell in zip(heads, cells, strict=True)})
        too_long = [head for head in heads if len(row.cells[head]) > LONGEST_CELL]
        if too_long:
            expected = f"at most {LONGEST_CELL:,} characters"
            problems.add(f"line {line}: {too_long[0]} is too long", expected=expected)
        elif any(row.cells.values()):
            rows.append(row)
    return rows


def report_number(problems: Problems, row: CsvRow, column: str) -> float | None:
    """The number of a cell, in ASCII digits without separators, or a problem."""
    cell = row.cells[column]
    number = float(cell) if NUMBER.fullmatch(cell) else None
    if number is not None and abs(number) <= LARGEST:
        return number
    expected = f"a finite number of at most {LARGEST:g}"
    found = shown(cell).removeprefix("text ") if cell else "nothing"
    problems.add(f"line {row.line}: {column} is no number", expected=expected, found=found)
    return None


def _lines(path: str | Path, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """The head of a csv file, then the lines that fit it, with their numbers; every other one is reported.

    Empty lines are no rows, but they count as lines.
    """
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte, expected = f"byte {error.object[error.start]:#04x} at {error.start}", "a table in UTF-8"
        raise InputError("this is not text", path=str(path), expected=expected, found=byte) from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    heads: list[str] | None = None
    try:
        heads = [head.strip() for head in next(reader, [])]
        for head, times in Counter(heads).items():
            if times > 1:
                problems.add(f"{times} columns are called {head!r}")
        yield reader.line_num, heads
        for cells in reader:
            if cells and len(cells) == len(heads):
                yield reader.line_num, cells
            elif any(cell.strip() for cell in cells):
                more = "more" if len(cells) > len(heads) else "fewer"
                message = f"line {reader.line_num}: {more} cells than columns"
                problems.add(message, expected=str(len(heads)), found=str(len(cells)))
    except csv.Error as error:
        problems.add(f"line {reader.line_num}: this is no table: {error}", expected="comma-separated values")
        if heads is None:
            problems.raise_errors()


def html_table(caption: str, rows: Sequence[Mapping[str, object]]) -> str:
    """The first rows as an HTML table under a caption; all rows have the same keys."""
    heads = list(rows[0]) if rows else []
    lines = [_line("td", row.values()) for row in rows[:MOST_ROWS]]
    more = f"<p>... {len(rows) - MOST_ROWS:,} more rows</p>" if len(rows) > MOST_ROWS else ""
    table = f"<table>{_line('th', heads)}{''.join(lines)}</table>" if rows else ""
    return f"<p><b>{escape(caption)}</b></p>{table}{more}"


def _line(cell: str, values: Iterable[object]) -> str:
    return "<tr>" + "".join(f"<{cell}>{escape(_text(value))}</{cell}>" for value in values) + "</tr>"


def _text(value: object) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def dataframe(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pandas.DataFrame:
    """Rows as a pandas DataFrame."""
    try:
        import pandas
    except ImportError:
        raise UsageError("to_dataframe needs pandas: pip install pandas") from None
    return pandas.DataFrame([[row[name] for name in columns] for row in rows], columns=list(columns))


def write_parquet(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], path: str | Path) -> Path:
    """Rows as a Parquet file; returns where it is."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UsageError("Parquet needs pyarrow: pip install pyarrow") from None
    # A tuple of names (flags) is a list of texts there.
    values = {
        name: [list(row[name]) if isinstance(row[name], tuple) else row[name] for row in rows]
        for name in columns
    }
    pyarrow.parquet.write_table(pyarrow.table(values), str(path))
    return Path(path)
