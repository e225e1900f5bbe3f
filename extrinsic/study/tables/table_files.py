"""Tables as csv files: a struct is the schema, equal rows give equal bytes, a damaged cell is reported."""

from __future__ import annotations

import csv
import io
import re
import types
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin

import msgspec

from extrinsic.errors import InputError, Problems
from extrinsic.storage import plain_cell, read_bytes, text_cell, write_atomic

R = TypeVar("R", bound=msgspec.Struct)

MOST_PROBLEMS = 20
WHOLE = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*([eE][+-]?[0-9]+)?|inf)")
OTHER_VERSION = "the table was written by another version; run the study again in this directory"


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
    try:
        text = read_bytes(path).decode()
        lines = _numbered_lines(text)
    except UnicodeDecodeError as error:
        byte, expected = f"byte {error.object[error.start]:#04x} at {error.start}", "a table in UTF-8"
        raise InputError("this is not text", path=str(path), expected=expected, found=byte) from None
    except csv.Error as error:
        raise InputError(f"the table cannot be read: {error}", path=str(path)) from None
    problems = Problems(str(path))
    heads = lines[0][1] if lines else []
    names = kind.__struct_encode_fields__
    missing = [name for name in names if name not in heads]
    for name in missing:
        problems.add(f"the column {name!r} is missing; {OTHER_VERSION}")
    for head in heads:
        if head not in names:
            close = get_close_matches(head, missing, n=1)
            advice = f"did you mean {close[0]!r}?" if close else OTHER_VERSION
            problems.add(f"there is no column {head!r} in this version; {advice}")
        elif heads.count(head) > 1:
            problems.add(f"the column {head!r} appears {heads.count(head)} times")
    problems.raise_errors()
    parsers = _parsers(kind, clean)
    rows = [_row(number, cells, heads, kind, parsers, problems) for number, cells in lines[1:]]
    problems.raise_errors()
    return [row for row in rows if row is not None]


def _numbered_lines(text: str) -> list[tuple[int, list[str]]]:
    """The lines of a csv text that are not blank, each with its number in the file."""
    reader = csv.reader(io.StringIO(text, newline=""))
    return [(reader.line_num, cells) for cells in reader if cells]


Parser = Callable[[str], Any]


def _row(
    number: int,
    cells: list[str],
    heads: list[str],
    kind: type[R],
    parsers: dict[str, Parser],
    problems: Problems,
) -> R | None:
    if len(problems) >= MOST_PROBLEMS:
        return None
    if len(cells) != len(heads):
        problems.add(f"line {number} is damaged", expected=f"{len(heads)} cells", found=str(len(cells)))
        return None
    values = {}
    for head, cell in zip(heads, cells, strict=True):
        try:
            values[head] = parsers[head](cell)
        except ValueError as error:
            problems.add(f"line {number}, column {head!r}: not {error}", found=repr(cell[:40]))
    if len(values) < len(heads):
        return None
    columns = zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)
    return kind(**{name: values[column] for name, column in columns})


def _parsers(kind: type[msgspec.Struct], clean: Callable[[str], str]) -> dict[str, Parser]:
    """How the cells of every column are read, by the type of its field."""
    return {
        field.encode_name: _parser(field.type, field.required, clean)
        for field in msgspec.structs.fields(kind)
    }


def _parser(annotation: Any, required: bool, clean: Callable[[str], str]) -> Parser:
    members = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
    optional = type(None) in members
    (plain,) = (member for member in members if member is not type(None))
    parse: Parser
    if get_origin(plain) is tuple:
        return lambda cell: tuple(clean(plain_cell(cell)).split())
    if plain is bool:
        parse = _boolean
    elif plain is int:
        parse = _whole
    elif plain is float:
        parse = _number
    else:

        def parse(cell: str) -> str:
            return clean(plain_cell(cell))

    def parse_cell(cell: str) -> Any:
        if cell:
            return parse(cell)
        if optional:
            return None
        if plain is str and not required:
            return ""
        raise ValueError(f"{_EXPECTED[plain]}, but empty")

    return parse_cell


_EXPECTED = {str: "a name", bool: "true or false", int: "a whole number", float: "a number"}


def _boolean(cell: str) -> bool:
    if cell not in ("true", "false"):
        raise ValueError(_EXPECTED[bool])
    return cell == "true"


def _whole(cell: str) -> int:
    if not WHOLE.fullmatch(cell):
        raise ValueError(_EXPECTED[int])
    return int(cell)


def _number(cell: str) -> float:
    if not NUMBER.fullmatch(cell):
        raise ValueError(_EXPECTED[float])
    return float(cell)
