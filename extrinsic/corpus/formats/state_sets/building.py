"""From nested dictionaries, whatever their file format, to StateSets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import methodcaller

import numpy as np

from extrinsic.arrays import Ints, offsets_from_lengths, take_rows
from extrinsic.corpus.formats.columns import distinct
from extrinsic.corpus.state_sets import GIVEN_NONE, StateSets, state_vocabulary
from extrinsic.corpus.vocabulary import Vocabulary
from extrinsic.errors import Problem

State = Mapping[str, Mapping[str, str]]
"""{domain: {slot: value}}"""

Turns = list[tuple[State, State]]
"""The gold and the predicted state of each turn."""

_values = methodcaller("values")


@dataclass(frozen=True, eq=False)
class WrittenStates:
    """States as written in a file: the gold states of all turns, then the predicted states of all turns.

    domains_per_state (n_states): how many domains each has.   domains: their names, concatenated.
    parts: the distinct {slot: value}.   part_of_domain: the index of each domain's part.
    """

    dialogs: tuple[str, ...]
    turns_per_dialog: list[int]
    domains_per_state: list[int]
    domains: list[str]
    parts: Sequence[Mapping[str, str]]
    part_of_domain: Ints


def gather_states(dialogs: Mapping[str, Turns]) -> WrittenStates:
    """Collect states that were built one by one."""
    turns = list(chain.from_iterable(dialogs.values()))
    states = [turn[0] for turn in turns] + [turn[1] for turn in turns]
    parts = list(chain.from_iterable(map(_values, states)))
    return WrittenStates(
        dialogs=tuple(dialogs),
        turns_per_dialog=list(map(len, dialogs.values())),
        domains_per_state=list(map(len, states)),
        domains=list(chain.from_iterable(states)),
        parts=parts,
        part_of_domain=np.arange(len(parts)),
    )


def build_state_sets(
    name: str, written: WrittenStates, signature: str, problems: Sequence[Problem] = ()
) -> StateSets:
    """Written states -> columns. Triples with an empty value are dropped.

    Gathered with chains and maps: a Python loop over the triples would cost more than decoding them.
    """
    vocabulary = state_vocabulary()
    part_offsets, part_slot, slot_names, part_value = _columns_of_parts(written.parts, vocabulary)
    domain_names, domain = distinct(written.domains)
    offsets, flat = take_rows(part_offsets, written.part_of_domain)
    lengths = np.diff(offsets)
    state = np.repeat(np.arange(len(written.domains_per_state)), written.domains_per_state)
    slot, value = part_slot[flat], part_value[flat]
    kept = value != vocabulary.id("")
    key = (np.repeat(domain, lengths) * len(slot_names) + slot)[kept]
    slots, column = _sorted_slots(key, domain_names, slot_names)
    n_turns = len(written.domains_per_state) // 2
    table = np.zeros((2 * n_turns, len(slots)), dtype=np.int32)
    table[np.repeat(state, lengths)[kept], column] = value[kept]
    return StateSets(
        name=name,
        dialogs=written.dialogs,
        offsets=offsets_from_lengths(written.turns_per_dialog),
        slots=slots,
        vocabulary=vocabulary,
        gold=table[:n_turns],
        predicted=table[n_turns:],
        in_gold=np.asarray((table[:n_turns] > GIVEN_NONE).any(axis=0)),
        problems=tuple(problems),
        signature=signature,
    )


def _columns_of_parts(
    parts: Sequence[Mapping[str, str]], vocabulary: Vocabulary
) -> tuple[Ints, Ints, list[str], Ints]:
    """Offsets of the parts, the slot of each of their pairs (and the slots' names), the value of each."""
    offsets = offsets_from_lengths(list(map(len, parts)))
    names, slot = distinct(chain.from_iterable(parts))
    value = vocabulary.ids(list(chain.from_iterable(map(_values, parts))))
    return offsets, slot, names, value.astype(np.int64)


def _sorted_slots(
    key: Ints, domain_names: list[str], slot_names: list[str]
) -> tuple[tuple[tuple[str, str], ...], Ints]:
    """The (domain, slot) pairs that occur, sorted, and the column of each triple."""
    keys, pair = np.unique(key, return_inverse=True)
    names = [(domain_names[k // len(slot_names)], slot_names[k % len(slot_names)]) for k in keys.tolist()]
    order = sorted(range(len(names)), key=names.__getitem__)
    column_of_pair = np.empty(len(names), dtype=np.int64)
    column_of_pair[order] = np.arange(len(names))
    return tuple(names[i] for i in order), column_of_pair[pair]
