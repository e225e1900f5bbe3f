"""Scored hypotheses: as a tracker wrote them, ranked with None among them, and as filled slots.

The float operations of a ranking and their order decide ties; both rules follow the challenges' own scorers
to the last bit (SCORING: DSTC1 "Common", DSTC2 "None's score"). When a belief counts as a filled slot can
decide which metric predicts a policy best, so the fill rule is always explicit: `argmax` is the best
hypothesis, None among them; `threshold` is the best value, if its score is above a threshold (.5).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints, add_in_order, count_per_row, row_of_each, take_rows
from extrinsic.corpus.vocabulary import NONE
from extrinsic.errors import UsageError, did_you_mean


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


ROUNDING = 1e-5
"""A sum above 1 by less than this is a rounding error, normalised without a report."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """A ranked order of the hypotheses of n items, None included.

    offsets (n + 1,).   source (h + n,): the index of the given hypothesis, -1 for None.   score (h + n,).
    negative (h,): given hypotheses with a score below 0.   excess (n,): items that sum above 1, not
    just by rounding.   total (n,): what they sum to.
    """

    offsets: Ints
    source: Ints
    score: Floats
    negative: Bools
    excess: Bools
    total: Floats

    @property
    def none(self) -> Bools:
        return self.source < 0


RankingRule = Callable[[Ints, Floats], Ranking]


def rank_dstc1(offsets: Ints, score: Floats) -> Ranking:
    """Sort by raw score, clip negatives, None = 1 minus each in turn; None comes before its equals."""
    order = _descending_order(offsets, score)
    negative = score < 0
    ranked = score[order]
    clipped = np.where(ranked < 0, 0.0, ranked)
    rest = add_in_order(clipped, offsets, start=1.0, sign=-1.0)
    total = add_in_order(clipped, offsets)
    over = rest < 0
    if over.any():
        row = row_of_each(offsets)
        clipped = np.where(over[row], clipped / np.where(over, total, 1.0)[row], clipped)
    none = np.where(over, 0.0, rest)
    before = count_per_row(clipped > none[row_of_each(offsets)], offsets)
    return _insert_none(offsets, order, clipped, none, before, negative, total - 1.0 >= ROUNDING, total)


def rank_dstc2(offsets: Ints, score: Floats) -> Ranking:
    """Sum in the file's order; above 1 divides, else None has the rest; None comes after its equals."""
    total = add_in_order(score, offsets)
    over = total > 1.0
    scaled = score
    if over.any():
        row = row_of_each(offsets)
        scaled = np.where(over[row], score / np.where(over, total, 1.0)[row], score)
    none = np.where(over, 0.0, 1.0 - total)
    order = _descending_order(offsets, scaled)
    ranked = scaled[order]
    before = count_per_row(ranked >= none[row_of_each(offsets)], offsets)
    return _insert_none(offsets, order, ranked, none, before, score < 0, total - 1.0 >= ROUNDING, total)


def _descending_order(offsets: Ints, score: Floats) -> Ints:
    """Indices that sort each row by descending score, equals in the order given."""
    order = np.arange(len(score))
    if len(score) < 2:
        return order
    # Most files are sorted already; only the rows that are not are worth sorting.
    rising = score[1:] > score[:-1]
    rising[offsets[1:-1][(offsets[1:-1] > 0) & (offsets[1:-1] < len(score))] - 1] = False
    if not rising.any():
        return order
    unsorted = np.zeros(len(offsets) - 1, dtype=bool)
    row = row_of_each(offsets)
    unsorted[row[:-1][rising]] = True
    flat = np.flatnonzero(unsorted[row])
    order[flat] = flat[np.lexsort((-score[flat], row[flat]))]
    return order


def _insert_none(
    offsets: Ints,
    order: Ints,
    ranked: Floats,
    none: Floats,
    before: Ints,
    negative: Bools,
    excess: Bools,
    total: Floats,
) -> Ranking:
    """Insert None after the `before` best hypotheses of each row."""
    n_rows = len(offsets) - 1
    row = row_of_each(offsets)
    at_none = offsets[:-1] + np.arange(n_rows) + before
    position = np.arange(len(ranked)) - offsets[row]
    target = np.arange(len(ranked)) + row + (position >= before[row])
    source = np.full(len(ranked) + n_rows, -1, dtype=np.int64)
    score = np.empty(len(ranked) + n_rows)
    source[target], score[target], score[at_none] = order, ranked, none
    return Ranking(offsets + np.arange(n_rows + 1), source, score, negative, excess, total)


RULES = ("argmax", "threshold")

EMPTY = -1.0
"""The score of what is not filled: below that of any value."""


@dataclass(frozen=True)
class Fill:
    """A fill rule; prints as `argmax`, `threshold` or `threshold:0.7`."""

    rule: str
    threshold: float = 0.5

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise UsageError(f"there is no fill rule {self.rule!r}; {did_you_mean(self.rule, RULES)}")
        if not 0.0 <= self.threshold <= 1.0:
            raise UsageError("the threshold of a fill rule must lie in [0, 1]", found=str(self.threshold))

    def __str__(self) -> str:
        usual = self.rule == "argmax" or self.threshold == 0.5
        return self.rule if usual else f"{self.rule}:{self.threshold}"

    @staticmethod
    def parse(text: str) -> Fill:
        rule, colon, threshold = str(text).partition(":")
        if not colon:
            return Fill(rule)
        if rule == "argmax":
            raise UsageError("the fill rule argmax takes no threshold", found=str(text))
        try:
            return Fill(rule, float(threshold))
        except ValueError:
            raise UsageError("the threshold of a fill rule must be a number", found=repr(threshold)) from None

    def states(self, beliefs: Beliefs) -> Ids:
        """(n_items,) the value that fills each item, NONE where it stays empty."""
        return self.filled(beliefs)[0]

    def filled(self, beliefs: Beliefs) -> tuple[Ids, Floats]:
        """(n_items,) the value that fills each item and its score; NONE and EMPTY where it stays empty."""
        best = top = beliefs.top
        if self.rule == "threshold":
            # Where None is the best, the best value comes next (if there is one at all).
            none_first = beliefs.value[top] == NONE
            best = top + (none_first & (np.diff(beliefs.offsets) > 1))
        value, score = beliefs.value[best], beliefs.score[best]
        is_filled = value != NONE
        if self.rule == "threshold":
            is_filled &= score > self.threshold
        return np.where(is_filled, value, NONE).astype(np.int32), np.where(is_filled, score, EMPTY)
