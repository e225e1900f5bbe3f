"""Dialog acts in columns: whose they are, what they are called, and their (slot, value) pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from extrinsic.arrays import Bools, Ids, Ints, offsets_from_lengths, row_of_each, take_rows
from extrinsic.corpus.vocabulary import Vocabulary


class WrittenAct(Protocol):
    """An act as the log files have it."""

    @property
    def act(self) -> str: ...

    @property
    def slots(self) -> list[tuple[str, str | int | float | None]]: ...


@dataclass(frozen=True)
class Acts:
    """The acts of n owners (turns, or recogniser hypotheses).

    offsets (n + 1,): the acts of each owner.   name (m,): what each act is called.
    pair_offsets (m + 1,): the pairs of each act.   slot, value (p,): the pairs.
    Names, slots and values are ids of one vocabulary.
    """

    offsets: Ints
    name: Ids
    pair_offsets: Ints
    slot: Ids
    value: Ids

    def take(self, owners: Ints) -> Acts:
        """The acts of the chosen owners."""
        offsets, acts = take_rows(self.offsets, owners)
        pair_offsets, pairs = take_rows(self.pair_offsets, acts)
        return Acts(offsets, self.name[acts], pair_offsets, self.slot[pairs], self.value[pairs])

    def owner_of_act(self) -> Ints:
        return row_of_each(self.offsets)

    def act_of_pair(self) -> Ints:
        return row_of_each(self.pair_offsets)

    def owners_where(self, acts: Bools) -> Bools:
        """(n,) whether an owner has at least one of the flagged acts."""
        flags = np.zeros(len(self.offsets) - 1, dtype=bool)
        flags[self.owner_of_act()[acts]] = True
        return flags


class ActsBuilder:
    """Gathers acts owner by owner; everything becomes an id in one go at the end."""

    def __init__(self) -> None:
        self._acts_per_owner: list[int] = []
        self._names: list[str] = []
        self._pairs_per_act: list[int] = []
        self._slots: list[str] = []
        self._values: list[object] = []

    def add(self, acts: Iterable[WrittenAct]) -> None:
        """The acts of the next owner."""
        before = len(self._names)
        for act in acts:
            self._names.append(act.act)
            pairs = act.slots
            self._pairs_per_act.append(len(pairs))
            for slot, value in pairs:
                self._slots.append(slot)
                self._values.append(value)
        self._acts_per_owner.append(len(self._names) - before)

    def build(self, vocabulary: Vocabulary) -> Acts:
        return Acts(
            offsets_from_lengths(self._acts_per_owner),
            vocabulary.ids(self._names),
            offsets_from_lengths(self._pairs_per_act),
            vocabulary.ids(self._slots),
            vocabulary.ids(self._values),
        )
