"""Dialog acts in columns: whose they are, what they are called, and their (slot, value) pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
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


def columns_of_acts(owners: Sequence[Sequence[WrittenAct]], vocabulary: Vocabulary) -> Acts:
    """The acts of each owner as the files have them -> columns."""
    acts = list(chain.from_iterable(owners))
    pairs_of_acts = [act.slots for act in acts]
    pairs = list(chain.from_iterable(pairs_of_acts))
    return Acts(
        offsets_from_lengths(list(map(len, owners))),
        vocabulary.ids([act.act for act in acts]),
        offsets_from_lengths(list(map(len, pairs_of_acts))),
        vocabulary.ids([slot for slot, _ in pairs]),
        vocabulary.ids([value for _, value in pairs]),
    )
