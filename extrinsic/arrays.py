"""Ragged arrays: rows of different lengths laid end to end, with the offset at which each begins.

Row i of a ragged array is `flat[offsets[i]:offsets[i + 1]]`; offsets has one entry more than rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import Field, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Ids = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def offsets_from_lengths(lengths: Sequence[int] | Ints) -> Ints:
    """(n,) lengths -> (n + 1,) offsets."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def row_of_each(offsets: Ints) -> Ints:
    """(n + 1,) offsets -> (total,) the row that each flat element belongs to."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def position_in_row(offsets: Ints) -> Ints:
    """(n + 1,) offsets -> (total,) 0, 1, 2, ... from the start of each row."""
    return np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))


def take_rows(offsets: Ints, rows: Ints | Bools) -> tuple[Ints, Ints]:
    """(k,) rows -> their (k + 1,) offsets, and (total,) the flat elements they consist of, in order."""
    # Only the chosen rows are looked at: a long corpus is taken apart chunk by chunk.
    return take_spans(offsets[:-1][rows], offsets[1:][rows])


def take_spans(begin: Ints, end: Ints) -> tuple[Ints, Ints]:
    """(k,) where spans begin and end -> (k + 1,) their offsets, and (total,) their elements, in order."""
    lengths = end - begin
    offsets = offsets_from_lengths(lengths)
    return offsets, np.repeat(begin - offsets[:-1], lengths) + np.arange(offsets[-1])


def turns_in_step(offsets: Ints, dialogs: Ints) -> Iterator[tuple[Ints, Ints]]:
    """For the first turn of all dialogs, then the second, ...: the dialogs that have it, and its index.

    Dialogs are given as positions in `dialogs`, turns as those of the corpus.
    """
    lengths = np.diff(offsets)[dialogs]
    for number in range(int(lengths.max(initial=0))):
        active = np.flatnonzero(lengths > number)
        yield active, offsets[dialogs[active]] + number


class Columns:
    """Base of dataclasses whose arrays have one row for each of n things.

    A field whose name ends in `offsets` delimits the elements of each row, and the fields after it have one
    row for each element. Fields that are neither arrays nor columns are the same for all rows.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def take(self, rows: Ints | Bools) -> Self:
        """The chosen rows, in the order given."""
        taken: dict[str, Any] = {}
        for field in fields(self):
            column = getattr(self, field.name)
            if field.name.endswith("offsets"):
                taken[field.name], rows = take_rows(column, rows)
            elif isinstance(column, np.ndarray):
                taken[field.name] = column[rows]
            elif isinstance(column, Columns):
                taken[field.name] = column.take(rows)
        return replace(self, **taken)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The rows of the first part, of the second, ..."""
        joined: dict[str, Any] = {}
        for field in fields(parts[0]):
            columns = [getattr(part, field.name) for part in parts]
            if field.name.endswith("offsets"):
                joined[field.name] = offsets_from_lengths(np.concatenate([np.diff(part) for part in columns]))
            elif isinstance(columns[0], np.ndarray):
                joined[field.name] = np.concatenate(columns)
            elif isinstance(columns[0], Columns):
                joined[field.name] = type(columns[0]).joined(columns)
        return replace(parts[0], **joined)


def count_per_row(flags: Bools, offsets: Ints) -> Ints:
    """How many of the flags are set in each row."""
    running = np.zeros(len(flags) + 1, dtype=np.int64)
    np.cumsum(flags, out=running[1:])
    return running[offsets[1:]] - running[offsets[:-1]]


def add_in_order(values: Floats, offsets: Ints, start: float = 0.0, sign: float = 1.0) -> Floats:
    """start + sign * v0 + sign * v1 + ... of each row, added strictly from left to right.

    numpy's own sums add in pairs; the challenges' scorers add in order, and the last bit decides ties.
    """
    lengths = np.diff(offsets)
    totals = np.full(len(lengths), start)
    rows = np.flatnonzero(lengths)
    position = 0
    while len(rows):
        with np.errstate(over="ignore"):
            totals[rows] += sign * values[offsets[rows] + position]
        position += 1
        rows = rows[lengths[rows] > position]
    return totals


def is_among(numbers: Ids | Ints, few: Iterable[int]) -> Bools:
    """Elementwise: whether a number is one of a few; np.isin takes longer to begin than this to end."""
    among = np.zeros(numbers.shape, dtype=bool)
    for number in few:
        among |= numbers == number
    return among
