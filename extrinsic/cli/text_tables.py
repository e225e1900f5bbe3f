"""Plain tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TextIO


def print_table(rows: Sequence[object], heads: Mapping[str, str], stream: TextIO) -> None:
    """The fields named in `heads` under their headings; numbers right-aligned, missing values as a dash.

    rows: structs, dataclasses or mappings, which may lack keys.
    """
    cells = {key: [_value(row, key) for row in rows] for key in heads}
    columns = [[head, *map(_text, cells[key])] for key, head in heads.items()]
    numeric = [any(isinstance(value, int | float) for value in cells[key]) for key in heads]
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
    return f"{value:,}" if isinstance(value, int) else str(value)
