"""The recogniser's output: an N-best list of user acts for every turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints, joined_offsets, row_of_each, take_rows
from extrinsic.corpus.acts import Acts


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
