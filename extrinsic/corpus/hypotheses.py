"""Scored hypotheses: as a tracker wrote them, ranked with None among them, and as filled slots.

The float operations of a ranking and their order decide ties; both rules follow the challenges' own scorers
to the last bit (SCORING: DSTC1 "Common", DSTC2 "None's score"). When a belief counts as a filled slot can
decide which metric predicts a policy best, so the fill rule is always explicit: `argmax` is the best
hypothesis, None among them; `threshold` is the best value, if its score is above a threshold (.5).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from extrinsic.arrays import (
    Bools,
    Columns,
    Floats,
    Ids,
    Ints,
    add_in_order,
    count_per_row,
    offsets_from_lengths,
    position_in_row,
    row_of_each,
)
from extrinsic.corpus.acts import NONE
from extrinsic.corpus.labels import Truth
from extrinsic.errors import UsageError, did_you_mean


@dataclass(frozen=True, eq=False)
class Hypotheses(Columns):
    """The values and scores that a tracker wrote for each of n items, in its order.

    offsets (n + 1,).   value, score (h,).   Items of slots are turn-major: item = turn * n_slots + slot.
    """

    offsets: Ints
    value: Ids
    score: Floats


@dataclass(frozen=True, eq=False)
class Ranked(Columns):
    """Ranked distributions of n items; offsets (n + 1,) delimit them, best first."""

    offsets: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def top(self) -> Ints:
        """(n,) the index of each item's best hypothesis in the flat arrays."""
        return self.offsets[:-1]


@dataclass(frozen=True, eq=False)
class Beliefs(Ranked):
    """Distributions with None among the values and the scores that the ranking rules yield.

    value, score, correct (h + n,).
    """

    value: Ids
    score: Floats
    correct: Bools


@dataclass(frozen=True, eq=False)
class JointHypotheses(Columns):
    """The joint hypotheses that a tracker wrote about all slots at once.

    given (n,): whether the tracker wrote a joint list for the turn at all (an empty one counts).
    offsets (n + 1,).   assignment (h, n_slots): a value per slot, NONE where left out.   score (h,).
    """

    given: Bools
    offsets: Ints
    assignment: Ids
    score: Floats


@dataclass(frozen=True, eq=False)
class JointBeliefs(Ranked):
    """Joint distributions of n turns.

    assignment (h + n, n_slots).   none (h + n,): the None item of each turn, which differs from a hypothesis
    that merely assigns nothing.   score, correct (h + n,).
    """

    assignment: Ids
    none: Bools
    score: Floats
    correct: Bools


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


TURNS_AT_ONCE = 1_000
"""How many turns are crossed at once; more only costs memory."""


def joint_correctness(truth: Truth, offsets: Ints, assignment: Ids, none: Bools) -> Bools:
    """(h,) whether every slot of a joint hypothesis is right; one left out is right when None is.

    A hypothesis that assigns nothing differs from None, and is never right.
    """
    turn = row_of_each(offsets)
    correct = np.ones(len(turn), dtype=bool)
    for slot in range(assignment.shape[1]):
        correct &= truth.is_correct(turn, np.full(len(turn), slot), assignment[:, slot])
    return np.asarray(correct & (none | (assignment != NONE).any(axis=1)))


def marginals_of_joint(joint: JointHypotheses, turns: Bools, hypotheses: Hypotheses) -> Hypotheses:
    """Hypotheses per (turn, slot): marginals of the joint at the flagged turns, `hypotheses` elsewhere.

    Values of a slot come in the order in which the joint list first names them.
    """
    n_slots = joint.assignment.shape[1]
    turn = row_of_each(joint.offsets)
    hypothesis, slot = np.nonzero((joint.assignment != NONE) & turns[turn][:, None])
    item = turn[hypothesis] * n_slots + slot
    value = joint.assignment[hypothesis, slot]
    # Equal (item, value) together, in order of first appearance; np.add.at adds one after the other.
    keys = item * (int(value.max(initial=0)) + 1) + value
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    score = np.zeros(len(first))
    np.add.at(score, group, joint.score[hypothesis])
    kept = np.flatnonzero(~turns[row_of_each(hypotheses.offsets) // n_slots])
    all_items = np.concatenate([item[first], row_of_each(hypotheses.offsets)[kept]])
    appearance = np.concatenate([first, kept])
    order = np.lexsort((appearance, all_items))
    lengths = np.bincount(all_items, minlength=len(hypotheses.offsets) - 1)
    return Hypotheses(
        offsets_from_lengths(lengths),
        np.concatenate([value[first], hypotheses.value[kept]])[order].astype(np.int32),
        np.concatenate([score, hypotheses.score[kept]])[order],
    )


def joint_of_marginals(beliefs: Beliefs, n_slots: int, most: int = 100) -> JointHypotheses:
    """The product of the slots' beliefs: the `most` likely assignments of each turn, best first.

    The assignment in which every slot is None is left to the joint's own None; scores that are not
    positive are dropped.
    """
    n_turns = len(beliefs) // n_slots
    assignments, products, lengths = [], [], []
    for begin in range(0, n_turns, TURNS_AT_ONCE):
        items = np.arange(begin * n_slots, min(begin + TURNS_AT_ONCE, n_turns) * n_slots)
        assignment, product = _best_products(beliefs.take(items), n_slots, most)
        kept = (product > 0) & (assignment != NONE).any(axis=2)
        assignments.append(assignment[kept])
        products.append(product[kept])
        lengths.append(kept.sum(axis=1))
    return JointHypotheses(
        np.ones(n_turns, dtype=bool),
        offsets_from_lengths(np.concatenate(lengths)),
        np.concatenate(assignments),
        np.concatenate(products),
    )


def _best_products(beliefs: Beliefs, n_slots: int, most: int) -> tuple[Ids, Floats]:
    """(n_turns, k, n_slots) assignments and (n_turns, k) their products, best first.

    Slot by slot, each partial assignment is crossed with the slot's best hypotheses and the best are kept;
    as scores up to 1 only shrink a product, none of the best complete ones is lost that way.
    """
    n_turns = len(beliefs) // n_slots
    widest = min(int(np.diff(beliefs.offsets).max(initial=1)), most)
    score = np.zeros((n_turns, n_slots, widest))
    value = np.zeros((n_turns, n_slots, widest), dtype=np.int32)
    item, position = row_of_each(beliefs.offsets), position_in_row(beliefs.offsets)
    near = np.flatnonzero(position < widest)
    turn, slot, position = item[near] // n_slots, item[near] % n_slots, position[near]
    score[turn, slot, position] = beliefs.score[near]
    value[turn, slot, position] = beliefs.value[near]

    product = np.ones((n_turns, 1))
    assignment = np.zeros((n_turns, 1, n_slots), dtype=np.int32)
    for column in range(n_slots):
        crossed = (product[:, :, None] * score[:, column, None, :]).reshape(n_turns, -1)
        best = np.argsort(-crossed, axis=1, kind="stable")[:, :most]
        product = np.take_along_axis(crossed, best, axis=1)
        before, chosen = best // widest, best % widest
        assignment = np.take_along_axis(assignment, before[:, :, None], axis=1)
        assignment[:, :, column] = np.take_along_axis(value[:, column], chosen, axis=1)
    return assignment, product


SIZE = 10
"""Joint hypotheses per turn."""

DEPTH = 4
"""How many hypotheses of a slot, None included, are combined into joint ones."""

CONFIDENT = 0.5
"""The least score of a value in a confident assignment."""


def likeliest_assignments(hypotheses: Hypotheses, n_slots: int) -> JointHypotheses:
    """The likeliest assignments of each turn to all slots, best first, by the product of their scores.

    A truncated list would leave the remaining probability to the joint's None, which could then outrank the
    slots' own beliefs. So the listed scores are scaled until None has exactly the product of the slots' None.
    Only the best of each slot are combined; the first assignment is exact, lower values are rarely listed.
    """
    ranking = rank_dstc1(hypotheses.offsets, hypotheses.score)
    near = np.flatnonzero(position_in_row(ranking.offsets) < DEPTH)
    offsets = offsets_from_lengths(np.minimum(np.diff(ranking.offsets), DEPTH))
    # None has the source -1: the last entry.
    value = np.append(hypotheses.value, np.int32(NONE))[ranking.source[near]]
    beliefs = Beliefs(offsets, value, ranking.score[near], np.zeros(len(near), dtype=bool))
    joint = joint_of_marginals(beliefs, n_slots, SIZE)
    spoken = 1.0 - ranking.score[ranking.none].reshape(-1, n_slots).prod(axis=1)
    turn = row_of_each(joint.offsets)
    listed = np.bincount(turn, joint.score, len(spoken))
    scale = spoken / np.where(listed > 0.0, listed, 1.0)
    return replace(joint, score=joint.score * np.maximum(scale, 1.0)[turn])


def confident_assignment(hypotheses: Hypotheses, n_slots: int) -> JointHypotheses:
    """One assignment of all values scored at least CONFIDENT, with their geometric mean as its score.

    For a tracker that has one value a slot: the challenge's baseline.
    """
    n_turns = (len(hypotheses.offsets) - 1) // n_slots
    sure = np.flatnonzero(hypotheses.score >= CONFIDENT)
    item = row_of_each(hypotheses.offsets)[sure]
    turn, slot = item // n_slots, item % n_slots
    assignment = np.full((n_turns, n_slots), NONE, dtype=np.int32)
    assignment[turn, slot] = hypotheses.value[sure]
    product = np.ones(n_turns)
    np.multiply.at(product, turn, hypotheses.score[sure])
    n_sure = np.bincount(turn, minlength=n_turns)
    any_sure = n_sure > 0
    score = product[any_sure] ** (1.0 / n_sure[any_sure])
    return JointHypotheses(
        np.ones(n_turns, dtype=bool),
        offsets_from_lengths(any_sure.astype(np.int64)),
        assignment[any_sure],
        score,
    )
