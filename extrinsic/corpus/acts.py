"""Dialog acts in columns, N-best lists of them, and the vocabulary whose ids stand for their texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from extrinsic.arrays import Bools, Columns, Floats, Ids, Ints, row_of_each

# The value of a simple slot is text; of a compound one (DSTC1's date and time) its pairs, sorted by name.
Pairs = tuple[tuple[str, str], ...]
Value = str | Pairs

NONE = 0
"""The id of None: the caller's goal has not been observed."""


class _Index(dict[object, int]):
    """Assigns the next id to a value not seen before. Numbers and booleans compare as their text."""

    def __init__(self) -> None:
        super().__init__({None: NONE})
        self.values_in_order: list[Value | None] = [None]

    def __missing__(self, value: object) -> int:
        if not isinstance(value, str | tuple):
            return self[str(value)]
        self[value] = identity = len(self)
        self.values_in_order.append(value)
        return identity


class Vocabulary:
    """Value <-> id. Ids are never reassigned, so arrays made earlier stay valid while it grows.

    Ids are only for comparing within one process: their order is the order of reading.
    """

    def __init__(self) -> None:
        self._index = _Index()
        self._compounds: dict[tuple[tuple[str, ...], tuple[int, ...]], int] = {}

    def __len__(self) -> int:
        return len(self._index)

    def __getstate__(self) -> list[Value | None]:
        return self._index.values_in_order

    def __setstate__(self, values: list[Value | None]) -> None:
        self.__init__()  # type: ignore[misc]
        self.ids(values[1:])

    def id(self, value: object) -> int:
        return self._index[value]

    def ids(self, values: Sequence[object]) -> Ids:
        """(n,) ids of the values, new ones added."""
        return np.fromiter(map(self._index.__getitem__, values), dtype=np.int32, count=len(values))

    def compound_id(self, names: tuple[str, ...], parts: tuple[int, ...]) -> int:
        """The id of the compound value whose parts have these ids, NONE where a part is missing."""
        key = names, parts
        if key not in self._compounds:
            pairs = zip(names, parts, strict=False)
            self._compounds[key] = self.id(tuple((name, self.text(part)) for name, part in pairs if part))
        return self._compounds[key]

    def find(self, value: object) -> int:
        """The id of a value, or -1 if it was never seen; adds nothing."""
        key = value if isinstance(value, str | tuple) or value is None else str(value)
        return self._index.get(key, -1)

    def find_all(self, values: Iterable[object]) -> Ids:
        """The ids of the values that were seen before."""
        identities = [identity for identity in map(self.find, values) if identity >= 0]
        return np.array(identities, dtype=np.int32)

    def value(self, identity: int) -> Value | None:
        return self._index.values_in_order[identity]

    def text(self, identity: int) -> str:
        """A value in readable form."""
        value = self.value(identity)
        if isinstance(value, tuple):
            return " ".join(f"{name}={part}" for name, part in value)
        return str(value)


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


@dataclass(frozen=True, eq=False)
class Acts(Columns):
    """The acts of n owners (turns, or recogniser hypotheses).

    offsets (n + 1,): the acts of each owner.   name (m,): the name of each act.
    pair_offsets (m + 1,): the pairs of each act.   slot, value (p,): the pairs.
    Names, slots and values are ids of one vocabulary.
    """

    offsets: Ints
    name: Ids
    pair_offsets: Ints
    slot: Ids
    value: Ids

    @cached_property
    def owner_of_act(self) -> Ints:
        return row_of_each(self.offsets)

    @cached_property
    def act_of_pair(self) -> Ints:
        return row_of_each(self.pair_offsets)

    def owners_where(self, acts: Bools) -> Bools:
        """(n,) whether an owner has at least one of the flagged acts."""
        flags = np.zeros(len(self.offsets) - 1, dtype=bool)
        flags[self.owner_of_act[acts]] = True
        return flags


@dataclass(frozen=True, eq=False)
class NBest(Columns):
    """Hypotheses of n turns.

    offsets (n + 1,): the hypotheses of each turn.   score (h,): as logged.
    batch (h,): from the recogniser run offline, not from the live one.   acts: those of each hypothesis.
    """

    offsets: Ints
    score: Floats
    batch: Bools
    acts: Acts

    def turn_of_hypothesis(self) -> Ints:
        return row_of_each(self.offsets)

    def turn_of_act(self) -> Ints:
        return self.turn_of_hypothesis()[self.acts.owner_of_act]

    def turn_of_pair(self) -> Ints:
        return self.turn_of_act()[self.acts.act_of_pair]
