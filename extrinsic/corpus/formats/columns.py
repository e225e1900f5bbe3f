"""From names and texts to numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeVar

import numpy as np

from extrinsic.arrays import Ints

T = TypeVar("T")


def columns_of(names: Iterable[str], columns: tuple[str, ...]) -> Ints:
    """(n,) where each name stands among the known ones; KeyError if one does not."""
    column_of = {name: column for column, name in enumerate(columns)}
    return np.fromiter(map(column_of.__getitem__, names), dtype=np.int64)


def distinct(items: Iterable[T]) -> tuple[list[T], Ints]:
    """The distinct ones in order of appearance, and which of them each is."""
    index: dict[T, int] = defaultdict(lambda: len(index))
    each = np.fromiter(map(index.__getitem__, items), dtype=np.int64)
    return list(index), each
