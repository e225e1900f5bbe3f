"""Dialog acts in columns: their owners, their names and (slot, value) pairs; and N-best lists of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints, joined_offsets, row_of_each, take_rows


@dataclass(frozen=True, eq=False)
class Acts:
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

    def take(self, owners: Ints) -> Acts:
        """The acts of the chosen owners."""
        offsets, acts = take_rows(self.offsets, owners)
        pair_offsets, pairs = take_rows(self.pair_offsets, acts)
        return Acts(offsets, self.name[acts], pair_offsets, self.slot[pairs], self.value[pairs])

    def translated(self, identity: Ids) -> Acts:
        """In another vocabulary; identity (n_words,): the new id of each old one."""
        return Acts(
            self.offsets, identity[self.name], self.pair_offsets, identity[self.slot], identity[self.value]
        )

    @staticmethod
    def joined(parts: Sequence[Acts]) -> Acts:
        """The concatenation of the parts, owner by owner."""
        return Acts(
            joined_offsets([part.offsets for part in parts]),
            np.concatenate([part.name for part in parts]),
            joined_offsets([part.pair_offsets for part in parts]),
            np.concatenate([part.slot for part in parts]),
            np.concatenate([part.value for part in parts]),
        )

    def owner_of_act(self) -> Ints:
        return self._owner_of_act

    def act_of_pair(self) -> Ints:
        return self._act_of_pair

    @cached_property
    def _owner_of_act(self) -> Ints:
        return row_of_each(self.offsets)

    @cached_property
    def _act_of_pair(self) -> Ints:
        return row_of_each(self.pair_offsets)

    def owners_where(self, acts: Bools) -> Bools:
        """(n,) whether an owner has at least one of the flagged acts."""
        flags = np.zeros(len(self.offsets) - 1, dtype=bool)
        flags[self.owner_of_act()[acts]] = True
        return flags


@dataclass(frozen=True, eq=False)
class NBest:
    """Hypotheses of n turns.

    offsets (n + 1,): the hypotheses of each turn.   score (h,): as logged.
    batch (h,): from the recogniser run offline, not from the live one.   acts: those of each hypothesis.
    """

    offsets: Ints
    score: Floats
    batch: Bools
    acts: Acts

    def take(self, turns: Ints) -> NBest:
        """The lists of the chosen turns."""
        offsets, hypotheses = take_rows(self.offsets, turns)
        return NBest(offsets, self.score[hypotheses], self.batch[hypotheses], self.acts.take(hypotheses))

    @staticmethod
    def joined(parts: Sequence[NBest]) -> NBest:
        """The concatenation of the parts, turn by turn."""
        return NBest(
            joined_offsets([part.offsets for part in parts]),
            np.concatenate([part.score for part in parts]),
            np.concatenate([part.batch for part in parts]),
            Acts.joined([part.acts for part in parts]),
        )

    def turn_of_hypothesis(self) -> Ints:
        return row_of_each(self.offsets)

    def turn_of_act(self) -> Ints:
        return self.turn_of_hypothesis()[self.acts.owner_of_act()]

    def turn_of_pair(self) -> Ints:
        return self.turn_of_act()[self.acts.act_of_pair()]
