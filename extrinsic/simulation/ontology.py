"""The values of a world's slots, and which of them sound alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from extrinsic.arrays import Bools, Ids, Ints, offsets_from_lengths
from extrinsic.corpus.vocabulary import Value, Vocabulary
from extrinsic.domain import Domain

N_NEIGHBOURS = 8
"""How many other values a value may be confused with."""


@dataclass(frozen=True, eq=False)
class Values:
    """All values of all slots, numbered slot by slot.

    slot, identity (n_values,): the slot's column, and the value's id in the vocabulary.
    begin (n_slots + 1,): the values of each slot.
    pair_offsets, pair_slot, pair_value: the pairs that acts write a value as.
    neighbour (n_values, N_NEIGHBOURS): the values it may be confused with, most similar first.
    elsewhere (n_values, 2): the same words in the other direction (from, to), and the most similar value of
    another slot of the same group; itself where there is none.
    number (n_slots, n_words): the value with a given id of the vocabulary, -1 for none.
    group (n_slots,): the group of each slot, an index into domain.groups; -1 for none.
    usual (n_values,): whether callers want it more often than other values of the slot.
    """

    domain: Domain
    vocabulary: Vocabulary
    slot: Ints
    identity: Ids
    begin: Ints
    pair_offsets: Ints
    pair_slot: Ids
    pair_value: Ids
    neighbour: Ints
    elsewhere: Ints
    number: Ints
    group: Ints
    usual: Bools

    def __len__(self) -> int:
        return len(self.slot)

    @property
    def by_slot(self) -> list[Ids]:
        """The ids of the values of each slot."""
        return [self.identity[begin:end] for begin, end in pairwise(self.begin)]


def values_of_slots(domain: Domain, vocabulary: Vocabulary, lists: Sequence[Sequence[Value]]) -> Values:
    """The values of every slot, given in the domain's order."""
    slots = np.repeat(np.arange(len(lists)), [len(values) for values in lists])
    pairs = [
        list(value) if isinstance(value, tuple) else [(name, value)]
        for name, values in zip(domain.slot_names, lists, strict=True)
        for value in values
    ]
    flat = [pair for of_value in pairs for pair in of_value]
    pair_slot = vocabulary.ids([name for name, _ in flat])
    pair_value = vocabulary.ids([value for _, value in flat])
    identity = vocabulary.ids([value for values in lists for value in values])
    begin = offsets_from_lengths([len(values) for values in lists])
    number = np.full((len(lists), len(vocabulary)), -1, dtype=np.int64)
    number[slots, identity] = np.arange(len(slots))
    groups = list(domain.groups.values())
    group = [
        next((i for i, of_group in enumerate(groups) if slot in of_group), -1) for slot in domain.slot_names
    ]
    return Values(
        domain=domain,
        vocabulary=vocabulary,
        slot=slots,
        identity=identity,
        begin=begin,
        pair_offsets=offsets_from_lengths(list(map(len, pairs))),
        pair_slot=pair_slot,
        pair_value=pair_value,
        neighbour=np.concatenate(
            [first + _neighbours(of_slot) for first, of_slot in zip(begin, lists, strict=False)]
        ),
        elsewhere=np.tile(np.arange(len(slots))[:, None], (1, 2)),
        number=number,
        group=np.array(group),
        usual=np.zeros(len(slots), dtype=bool),
    )


def _neighbours(values: Sequence[Value]) -> Ints:
    """(n, N_NEIGHBOURS) the other values, most similar first; of few values, the same ones again."""
    alike = likeness(values, values)
    np.fill_diagonal(alike, -1.0)
    others = np.argsort(-alike, axis=1, kind="stable")[:, : max(len(values) - 1, 1)]
    return others[:, np.arange(N_NEIGHBOURS) % others.shape[1]]


def likeness(first: Sequence[Value], second: Sequence[Value]) -> np.ndarray:
    """(n_first, n_second) share of common letter pairs (Dice): a crude but deterministic similarity."""
    texts = [_spoken(value) for value in (*first, *second)]
    pairs = [{f" {text} "[i : i + 2] for i in range(len(text) + 1)} for text in texts]
    index = {pair: i for i, pair in enumerate(sorted(set().union(*pairs)))}
    table = np.zeros((len(texts), len(index)))
    for row, of_text in enumerate(pairs):
        table[row, [index[pair] for pair in of_text]] = 1.0
    sizes = table.sum(axis=1)
    left, right = table[: len(first)], table[len(first) :]
    # Counts are whole numbers: the product is exact, whatever order it is added in.
    return np.asarray(2.0 * (left @ right.T) / (sizes[: len(first), None] + sizes[len(first) :]))


def _spoken(value: Value) -> str:
    return " ".join(part for _, part in value) if isinstance(value, tuple) else value
