"""From nested dictionaries, whatever file they came from, to StateSets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from operator import methodcaller

import numpy as np

from extrinsic.arrays import Ids, offsets_from_lengths
from extrinsic.corpus.state_sets import ABSENT, StateSets, state_vocabulary
from extrinsic.corpus.vocabulary import Vocabulary
from extrinsic.errors import Problem

State = Mapping[str, Mapping[str, str]]
"""{domain: {slot: value}}"""

_values = methodcaller("values")


def build_state_sets(
    name: str, dialogs: Mapping[str, Sequence[tuple[State, State]]], signature: str,
    problems: Sequence[Problem] = (),
) -> StateSets:  # fmt: skip
    """{dialog: [(gold, predicted) of each turn]} -> columns."""
    vocabulary = state_vocabulary()
    empty = vocabulary.id("")
    turns = list(chain.from_iterable(dialogs.values()))
    gold = [turn[0] for turn in turns]
    predicted = [turn[1] for turn in turns]
    slots = tuple(
        sorted(
            {(domain, slot) for state in chain(gold, predicted) for domain in state for slot in state[domain]}
        )
    )
    tables = [_columns(states, slots, vocabulary, empty) for states in (gold, predicted)]
    # A slot that only ever has an empty value is in no set at all.
    used = np.any([(table != ABSENT).any(axis=0) for table in tables], axis=0)
    return StateSets(
        name=name,
        dialogs=tuple(dialogs),
        offsets=offsets_from_lengths(list(map(len, dialogs.values()))),
        slots=tuple(slot for slot, is_used in zip(slots, used, strict=True) if is_used),
        vocabulary=vocabulary,
        gold=tables[0] if used.all() else tables[0][:, used],
        predicted=tables[1] if used.all() else tables[1][:, used],
        problems=tuple(problems),
        signature=signature,
    )


def _columns(
    states: list[State], slots: tuple[tuple[str, str], ...], vocabulary: Vocabulary, empty: int
) -> Ids:
    """(n_turns, n_slots) value ids of the states."""
    column_of: dict[str, dict[str, int]] = {}
    for column, (domain, slot) in enumerate(slots):
        column_of.setdefault(domain, {})[slot] = column
    rows: list[int] = []
    columns: list[int] = []
    values: list[str] = []
    for row, state in enumerate(states):
        for domain, assigned in state.items():
            rows.extend([row] * len(assigned))
            columns.extend(map(column_of[domain].__getitem__, assigned) if assigned else ())
            values.extend(_values(assigned))
    table = np.zeros((len(states), len(slots)), dtype=np.int32)
    identities = vocabulary.ids(values)
    table[rows, columns] = np.where(identities == empty, ABSENT, identities)
    return table
