"""Scored hypotheses: as a tracker wrote them, and as ranked beliefs that include None."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints, take_rows


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """The values and scores that a tracker wrote for each of n items, in its order.

    offsets (n + 1,).   value, score (h,).   Items of slots are turn-major: item = turn * n_slots + slot.
    """

    offsets: Ints
    value: Ids
    score: Floats

    def take(self, items: Ints) -> Hypotheses:
        offsets, flat = take_rows(self.offsets, items)
        return Hypotheses(offsets, self.value[flat], self.score[flat])


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Ranked distributions of n items, None among the values, with the scores that the ranking rules yield.

    offsets (n + 1,).   value, score, correct (h + n,), best first within an item.
    """

    offsets: Ints
    value: Ids
    score: Floats
    correct: Bools

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, items: Ints) -> Beliefs:
        offsets, flat = take_rows(self.offsets, items)
        return Beliefs(offsets, self.value[flat], self.score[flat], self.correct[flat])

    @property
    def top(self) -> Ints:
        """(n,) the index of each item's best hypothesis in the flat arrays."""
        return self.offsets[:-1]


@dataclass(frozen=True, eq=False)
class JointHypotheses:
    """The joint hypotheses that a tracker wrote about all slots at once.

    given (n,): whether the tracker wrote a joint list for the turn at all (an empty one counts).
    offsets (n + 1,).   assignment (h, n_slots): a value per slot, NONE where left out.   score (h,).
    """

    given: Bools
    offsets: Ints
    assignment: Ids
    score: Floats

    def take(self, turns: Ints) -> JointHypotheses:
        offsets, flat = take_rows(self.offsets, turns)
        return JointHypotheses(self.given[turns], offsets, self.assignment[flat], self.score[flat])


@dataclass(frozen=True, eq=False)
class JointBeliefs:
    """Ranked joint distributions of n turns.

    offsets (n + 1,).   assignment (h + n, n_slots).   none (h + n,): the None item of each turn, which
    differs from a hypothesis that merely assigns nothing.   score, correct (h + n,).
    """

    offsets: Ints
    assignment: Ids
    none: Bools
    score: Floats
    correct: Bools

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, turns: Ints) -> JointBeliefs:
        offsets, flat = take_rows(self.offsets, turns)
        return JointBeliefs(
            offsets, self.assignment[flat], self.none[flat], self.score[flat], self.correct[flat]
        )

    @property
    def top(self) -> Ints:
        return self.offsets[:-1]


def no_hypotheses(n_items: int) -> Hypotheses:
    """No hypothesis for any item."""
    return Hypotheses(np.zeros(n_items + 1, np.int64), np.zeros(0, np.int32), np.zeros(0))


def no_joint_hypotheses(n_turns: int, n_slots: int) -> JointHypotheses:
    """No joint list for any turn."""
    return JointHypotheses(
        np.zeros(n_turns, dtype=bool),
        np.zeros(n_turns + 1, np.int64),
        np.zeros((0, n_slots), np.int32),
        np.zeros(0),
    )
