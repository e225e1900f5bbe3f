"""Tables of a run as files: the same rows give the same bytes."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from extrinsic.storage import read_bytes, write_atomic


def write_table(path: Path, rows: Sequence[Mapping[str, Any]], heads: Sequence[str]) -> bytes:
    """Write rows under their heads; returns the bytes."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(heads)
    for row in rows:
        writer.writerow([_cell(row.get(head)) for head in heads])
    data = stream.getvalue().encode()
    write_atomic(path, data)
    return data


def _cell(value: Any) -> str:
    """Numbers with all their digits; nothing for what is missing."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return repr(value) if isinstance(value, float) else str(value)


def read_table(path: Path) -> list[dict[str, Any]]:
    """Rows as they were written: numbers are numbers again, nothing is None."""
    reader = csv.DictReader(io.StringIO(read_bytes(path).decode(), newline=""))
    return [{key: _value(key, text) for key, text in row.items()} for row in reader]


TEXTS = {"tracker", "dataset", "metric", "component", "target", "variant", "name", "stage", "key", "value_of"}
"""Columns whose entries stay text, even one that looks like a number: a tracker may be called 24."""


def _value(key: str, text: str) -> Any:
    if text == "":
        return None
    if key in TEXTS:
        return text
    if text in ("true", "false"):
        return text == "true"
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text
