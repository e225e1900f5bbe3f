"""Converting names and texts to numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeVar

import numpy as np

from extrinsic.arrays import Ints

T = TypeVar("T")


def columns_of(names: Iterable[str], columns: tuple[str, ...]) -> Ints:
    """(n,) the index of each name among the columns; KeyError for an unknown name."""
    column_of = {name: column for column, name in enumerate(columns)}
    return np.fromiter(map(column_of.__getitem__, names), dtype=np.int64)


def distinct(items: Iterable[T]) -> tuple[list[T], Ints]:
    """The distinct items in order of appearance, and the index of each item among them."""
    index: dict[T, int] = defaultdict(lambda: len(index))
    each = np.fromiter(map(index.__getitem__, items), dtype=np.int64)
    return list(index), each
