"""The output of commands: lines and problems for people, rows for programs.

Whatever comes from files passes through `printable` before a terminal sees it.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TextIO

from extrinsic.errors import SEVERITIES, Problem, printable

SHOWN_PROBLEMS = 50
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
    """One line per problem, errors first, and how many more there are."""
    order = sorted(problems, key=lambda problem: SEVERITIES.index(problem.severity))
    for problem in order[:most]:
        label = "" if problem.severity == "error" else f"[{problem.severity}] "
        print(f"{indent}{label}{problem}", file=stream)
    if most is not None and len(order) > most:
        print(f"{indent}... and {len(order) - most:,} more", file=stream)


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
    from extrinsic.storage import text_cell

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
