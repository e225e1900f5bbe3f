"""Values as numbers: one growing list shared by a corpus and every tracker output read against it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from extrinsic.arrays import Ids

# The value of a simple slot is text; of a compound one (DSTC1's date and time) its pairs, sorted by name.
Pairs = tuple[tuple[str, str], ...]
Value = str | Pairs

NONE = 0
"""The id of None: the caller's goal has not been observed."""


class _Index(dict[object, int]):
    """Hands out the next id for a value not seen before. Numbers and booleans compare as their text."""

    def __missing__(self, value: object) -> int:
        if not isinstance(value, str | tuple):
            return self[str(value)]
        self[value] = identity = len(self)
        return identity


class Vocabulary:
    """Value <-> id. Ids are never taken back, so arrays made earlier stay valid while it grows.

    Ids are only for comparing within one process: their order is the order of reading.
    """

    def __init__(self) -> None:
        self._index = _Index()
        self._index[None] = NONE
        self._values: list[object] = []

    def __len__(self) -> int:
        return len(self._index)

    def id(self, value: object) -> int:
        return self._index[value]

    def ids(self, values: Sequence[object]) -> Ids:
        """(n,) ids of the values, new ones added."""
        return np.fromiter(map(self._index.__getitem__, values), dtype=np.int32, count=len(values))

    def find(self, value: object) -> int:
        """The id of a value, or -1 if it was never seen; adds nothing."""
        return self._index.get(value, -1)

    def find_all(self, values: Iterable[object]) -> Ids:
        """Ids of those of the values that were ever seen."""
        found = [self._index[value] for value in values if value in self._index]
        return np.array(found, dtype=np.int32)

    def value(self, identity: int) -> Value | None:
        if len(self._values) != len(self._index):
            self._values = list(self._index)
        return self._values[identity]  # type: ignore[return-value]

    def text(self, identity: int) -> str:
        """A value as a person would write it."""
        value = self.value(identity)
        if isinstance(value, tuple):
            return " ".join(f"{name}={part}" for name, part in value)
        return str(value)
