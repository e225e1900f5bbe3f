"""Plain tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TextIO


def print_table(rows: Sequence[Mapping[str, Any]], heads: Mapping[str, str], stream: TextIO) -> None:
    """The columns named in `heads` under their headings; numbers to the right, what is missing as a dash."""
    columns = [[head, *(_cell(row.get(key)) for row in rows)] for key, head in heads.items()]
    numeric = [any(isinstance(row.get(key), int | float) for row in rows) for key in heads]
    widths = [max(map(len, column)) for column in columns]
    for line in zip(*columns, strict=True):
        cells = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        )
        print("  ".join(cells).rstrip(), file=stream)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 1 else f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
