"""From nested dictionaries, whatever file they came from, to StateSets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import methodcaller

import numpy as np

from extrinsic.arrays import Ints, offsets_from_lengths
from extrinsic.corpus.state_sets import GIVEN_NONE, StateSets, state_vocabulary
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
    turns = list(chain.from_iterable(dialogs.values()))
    triples = _Triples([turn[0] for turn in turns] + [turn[1] for turn in turns], vocabulary)
    slots, column = triples.columns()
    table = np.zeros((2 * len(turns), len(slots)), dtype=np.int32)
    table[triples.state, column] = triples.value
    return StateSets(
        name=name,
        dialogs=tuple(dialogs),
        offsets=offsets_from_lengths(list(map(len, dialogs.values()))),
        slots=slots,
        vocabulary=vocabulary,
        gold=table[: len(turns)],
        predicted=table[len(turns) :],
        in_gold=np.asarray((table[: len(turns)] > GIVEN_NONE).any(axis=0)),
        problems=tuple(problems),
        signature=signature,
    )


class _Triples:
    """The triples of some states in columns; those with an empty value, which are in no set, left out.

    Gathered with chains and maps: a Python loop over the triples would cost more than decoding them.
    """

    def __init__(self, states: list[State], vocabulary: Vocabulary) -> None:
        assigned = list(chain.from_iterable(map(_values, states)))
        lengths = np.fromiter(map(len, assigned), dtype=np.int64, count=len(assigned))
        domain = self._names(chain.from_iterable(states))
        slot = self._names(chain.from_iterable(assigned))
        state = np.repeat(np.arange(len(states)), list(map(len, states)))
        value = vocabulary.ids(list(chain.from_iterable(map(_values, assigned))))
        kept = np.flatnonzero(value != vocabulary.id(""))
        self.domains, self.slots = domain[0], slot[0]
        self.domain = np.repeat(domain[1], lengths)[kept]
        self.slot = slot[1][kept]
        self.state = np.repeat(state, lengths)[kept]
        self.value = value[kept]

    @staticmethod
    def _names(names: Iterable[str]) -> tuple[list[str], Ints]:
        """The distinct names, and which of them each is."""
        index: dict[str, int] = defaultdict(lambda: len(index))
        each = np.fromiter(map(index.__getitem__, names), dtype=np.int64)
        return list(index), each

    def columns(self) -> tuple[tuple[tuple[str, str], ...], Ints]:
        """The (domain, slot) pairs that occur, sorted, and the column of each triple."""
        key = self.domain * len(self.slots) + self.slot
        found, pair = np.unique(key, return_inverse=True)
        names = [
            (self.domains[k // len(self.slots)], self.slots[k % len(self.slots)]) for k in found.tolist()
        ]
        order = sorted(range(len(names)), key=names.__getitem__)
        column_of_pair = np.empty(len(names), dtype=np.int64)
        column_of_pair[order] = np.arange(len(names))
        return tuple(names[i] for i in order), column_of_pair[pair]
