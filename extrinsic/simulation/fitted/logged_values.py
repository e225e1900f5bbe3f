"""The values that logs mention, numbered, with the concepts that they are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Ids, Ints, offsets_from_lengths, take_rows
from extrinsic.corpus.vocabulary import NONE, Vocabulary
from extrinsic.domain import Domain
from extrinsic.simulation.utterance import NOTHING

DONTCARE = "dontcare"
"""The value of a caller who has no preference."""


@dataclass(frozen=True, eq=False)
class LoggedValues:
    """All values of all slots in some logs, sorted by slot.

    A concept is a group of the domain; a slot of no group is one of its own, after the groups.
    slot, identity, concept (n_values,): the slot's column, the id in the vocabulary, the concept.
    begin (n_slots + 1,): the values of each slot.   key (n_values,): by which a value is found, ascending.
    pair_offsets, pair_slot, pair_value: the pairs that acts write a value as.
    columns: the slots of each concept.   concept_of_slot (n_slots,).
    dontcare: the id of DONTCARE, -1 where nobody says it.
    """

    vocabulary: Vocabulary
    slots: tuple[str, ...]
    columns: tuple[tuple[int, ...], ...]
    slot: Ints
    identity: Ids
    concept: Ints
    begin: Ints
    key: Ints
    n_words: int
    pair_offsets: Ints
    pair_slot: Ids
    pair_value: Ids
    concept_of_slot: Ints
    dontcare: int

    def __len__(self) -> int:
        return len(self.slot)

    @property
    def n_concepts(self) -> int:
        return len(self.columns)

    def number(self, slot: Ints, identity: Ids) -> Ints:
        """Elementwise: the number of a value of a slot, NOTHING if the logs do not have it."""
        if not len(self.key):
            return np.full(np.shape(slot), NOTHING, dtype=np.int64)
        keys = slot.astype(np.int64) * self.n_words + identity
        position = np.minimum(np.searchsorted(self.key, keys), len(self.key) - 1)
        exists = (self.key[position] == keys) & (slot >= 0) & (identity < self.n_words) & (identity != NONE)
        return np.where(exists, position, NOTHING)

    def is_dontcare(self, number: Ints) -> Bools:
        """Elementwise: whether a value says that any will do."""
        return np.asarray((number != NOTHING) & (self.identity[number] == self.dontcare))

    def named(self, number: Ints, facts: Ids) -> Bools:
        """(m, n_facts) whether one of the values (m, n_concepts) is of the slot that a fact names."""
        slots = self.vocabulary.find_all(self.slots)
        table = np.zeros((len(number), len(facts)), dtype=bool)
        for column, fact in enumerate(facts.tolist()):
            slot = np.flatnonzero(slots == fact)
            if len(slot):
                of_concept = number[:, self.concept_of_slot[slot[0]]]
                table[:, column] = (of_concept != NOTHING) & (self.slot[of_concept] == slot[0])
        return table

    def pairs(self, numbers: Ints) -> tuple[Ints, Ids, Ids]:
        """The pairs of each value: offsets (k + 1,), slots and values."""
        offsets, flat = take_rows(self.pair_offsets, numbers)
        return offsets, self.pair_slot[flat], self.pair_value[flat]


def concept_columns(domain: Domain, slots: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """The slots of each concept: those of the groups, then every other slot alone."""
    groups = [tuple(columns) for columns in domain.group_columns(slots)]
    alone = sorted(set(range(len(slots))).difference(*groups))
    return (*groups, *((column,) for column in alone))


def number_values(
    domain: Domain, slots: tuple[str, ...], vocabulary: Vocabulary, mentioned: Sequence[tuple[Ints, Ids]]
) -> LoggedValues:
    """The values of given (slots, identities), each once; NONE is no value."""
    n_words = len(vocabulary)
    slot = np.concatenate([np.ravel(columns) for columns, _ in mentioned]).astype(np.int64)
    identity = np.concatenate([np.ravel(values) for _, values in mentioned]).astype(np.int64)
    key = np.unique((slot * n_words + identity)[(identity != NONE) & (slot >= 0)])
    slot, identity = key // n_words, key % n_words
    columns = concept_columns(domain, slots)
    concept_of_slot = np.full(len(slots), NOTHING, dtype=np.int64)
    for concept, of_concept in enumerate(columns):
        concept_of_slot[list(of_concept)] = concept
    pairs = []
    for column, value in zip(slot.tolist(), identity.tolist(), strict=True):
        whole = vocabulary.value(value)
        pairs.append(list(whole) if isinstance(whole, tuple) else [(slots[column], whole)])
    flat = [pair for of_value in pairs for pair in of_value]
    return LoggedValues(
        vocabulary=vocabulary,
        slots=slots,
        columns=columns,
        slot=slot,
        identity=identity.astype(np.int32),
        concept=concept_of_slot[slot],
        begin=np.searchsorted(slot, np.arange(len(slots) + 1)),
        key=key,
        n_words=n_words,
        pair_offsets=offsets_from_lengths(list(map(len, pairs))),
        pair_slot=vocabulary.ids([name for name, _ in flat]),
        pair_value=vocabulary.ids([value for _, value in flat]),
        concept_of_slot=concept_of_slot,
        dontcare=vocabulary.find(DONTCARE),
    )
