"""The output of commands: lines, problems and tables for people, rows for programs.

Whatever comes from files passes through `printable` before a terminal sees it.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TextIO

from extrinsic.errors import SEVERITIES, Problem, distinct_lines, printable

SHOWN_PROBLEMS = 50
LONGEST_CELL = 200
HIDDEN = re.compile("[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
"""Characters that JSON may contain as they are, and a terminal may obey."""


def put(text: str) -> None:
    """A line on stdout."""
    print(printable(text))


def say(text: str) -> None:
    """A line on stderr. Long work does not stop because nobody reads how it goes."""
    with suppress(OSError):
        print(printable(text), file=sys.stderr, flush=True)


def print_problems(problems: Sequence[Problem], stream: TextIO, most: int | None, indent: str = "") -> None:
    """One line per distinct problem, errors first, and how many more there are."""
    lines = []
    for severity in SEVERITIES:
        label = "" if severity == "error" else f"[{severity}] "
        of_severity = (problem for problem in problems if problem.severity == severity)
        lines += [f"{indent}{label}{line}" for line in distinct_lines(of_severity)]
    for line in lines[:most]:
        print(line, file=stream)
    if most is not None and len(lines) > most:
        print(f"{indent}... and {len(lines) - most:,} more", file=stream)


def print_rows(signature: str, rows: Iterable[object], stream: TextIO, **more: object) -> None:
    """The one form of --json: {"signature": ..., "rows": [...]}; rows: structs or mappings.

    more: what stands before the rows.
    """
    import msgspec

    from extrinsic.storage import encode_json

    plain = msgspec.to_builtins({"signature": signature, **more, "rows": list(rows)})
    text = encode_json(plain, indent=2).decode()
    stream.write(HIDDEN.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text))


def print_data(
    form: str | None, rows: Sequence[Mapping[str, object]], signature: str, stream: TextIO, **more: object
) -> bool:
    """Print rows as json or csv, if that is the form; in csv the signature is a column of every row."""
    from extrinsic.tables import text_cell

    if form == "json":
        print_rows(signature, rows, stream, **more)
        return True
    if form != "csv":
        return False
    writer = csv.DictWriter(stream, [*rows[0], "signature"], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        cells = {**row, "signature": signature}.items()
        writer.writerow(
            {name: text_cell(printable(cell)) if isinstance(cell, str) else cell for name, cell in cells}
        )
    return True


def print_table(rows: Sequence[object], heads: Mapping[str, str], stream: TextIO) -> None:
    """The fields named in `heads` under their headings; numbers right-aligned, missing values as a dash.

    rows: structs, dataclasses or mappings, which may lack keys.
    """
    cells = {
        key: [row.get(key) if isinstance(row, Mapping) else getattr(row, key) for row in rows]
        for key in heads
    }
    columns = [[_plain(head), *map(_text, cells[key])] for key, head in heads.items()]
    numeric = [any(isinstance(value, int | float) for value in cells[key]) for key in heads]
    print_aligned(columns, numeric, stream)


def print_aligned(columns: Sequence[Sequence[str]], right: Sequence[bool], stream: TextIO) -> None:
    """Columns of texts beside each other, each aligned to the left or to the right."""
    widths = [max(map(len, column)) for column in columns]
    for line in zip(*columns, strict=True):
        padded = (
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(line, widths, right, strict=True)
        )
        print("  ".join(padded).rstrip(), file=stream)


def _text(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 1 else f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else _plain(str(value))


def _plain(text: str) -> str:
    return printable(text, LONGEST_CELL)
