"""Joint beliefs about all slots and beliefs about single slots: one made of the other."""

from dataclasses import replace

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints, offsets_from_lengths, position_in_row, row_of_each
from extrinsic.corpus.hypotheses import Beliefs, Hypotheses, JointHypotheses, rank_dstc1
from extrinsic.corpus.labels import Truth
from extrinsic.corpus.vocabulary import NONE

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
