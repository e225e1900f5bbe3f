"""Plain tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TextIO

from extrinsic.errors import printable

LONGEST_CELL = 200


def print_table(
    rows: Sequence[object], heads: Mapping[str, str], stream: TextIO, markdown: bool = False
) -> None:
    """The fields named in `heads` under their headings; numbers right-aligned, missing values as a dash.

    rows: structs, dataclasses or mappings, which may lack keys.
    """
    cells = {key: [_value(row, key) for row in rows] for key in heads}
    columns = [[_plain(head), *map(_text, cells[key])] for key, head in heads.items()]
    numeric = [any(isinstance(value, int | float) for value in cells[key]) for key in heads]
    if markdown:
        escaped = [[text.replace("|", "\\|") for text in column] for column in columns]
        lines = list(zip(*escaped, strict=True))
        rule = tuple("---:" if right else "---" for right in numeric)
        for line in (lines[0], rule, *lines[1:]):
            print(f"| {' | '.join(line)} |", file=stream)
        return
    widths = [max(map(len, column)) for column in columns]
    for line in zip(*columns, strict=True):
        padded = (
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(line, widths, numeric, strict=True)
        )
        print("  ".join(padded).rstrip(), file=stream)


def _value(row: object, key: str) -> object:
    return row.get(key) if isinstance(row, Mapping) else getattr(row, key)


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
