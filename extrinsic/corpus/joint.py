"""Between beliefs about single slots and beliefs about all of them at once."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Bools, Ids, Ints, offsets_from_lengths, position_in_row, row_of_each, take_rows
from extrinsic.corpus.hypotheses import Beliefs, Hypotheses, JointHypotheses
from extrinsic.corpus.labels import Truth
from extrinsic.corpus.vocabulary import NONE


def joint_correctness(truth: Truth, offsets: Ints, assignment: Ids, none: Bools) -> Bools:
    """(h,) whether every slot of a joint hypothesis is right; one left out is right when None is.

    A hypothesis that assigns nothing is not None, and never right.
    """
    turn = row_of_each(offsets)
    correct = np.ones(len(turn), dtype=bool)
    for slot in range(assignment.shape[1]):
        correct &= truth.is_correct(turn, np.full(len(turn), slot), assignment[:, slot])
    return np.asarray(correct & (none | (assignment != NONE).any(axis=1)))


def marginals_of_joint(joint: JointHypotheses, turns: Bools, given: Hypotheses) -> Hypotheses:
    """Hypotheses per (turn, slot): summed out of the joint at the flagged turns, as given elsewhere.

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
    kept = np.flatnonzero(~turns[row_of_each(given.offsets) // n_slots])
    all_items = np.concatenate([item[first], row_of_each(given.offsets)[kept]])
    appearance = np.concatenate([first, kept])
    order = np.lexsort((appearance, all_items))
    lengths = np.bincount(all_items, minlength=len(given.offsets) - 1)
    return Hypotheses(
        offsets_from_lengths(lengths),
        np.concatenate([value[first], given.value[kept]])[order].astype(np.int32),
        np.concatenate([score, given.score[kept]])[order],
    )


def choose_joint(given: JointHypotheses, other: JointHypotheses) -> JointHypotheses:
    """The given joint list of each turn that has one, and the other one elsewhere."""
    n_turns = len(given.given)
    offsets = np.concatenate([given.offsets, given.offsets[-1] + other.offsets[1:]])
    rows = np.where(given.given, np.arange(n_turns), n_turns + np.arange(n_turns))
    chosen, flat = take_rows(offsets, rows)
    return JointHypotheses(
        np.ones(n_turns, dtype=bool),
        chosen,
        np.concatenate([given.assignment, other.assignment])[flat],
        np.concatenate([given.score, other.score])[flat],
    )


def joint_of_marginals(beliefs: Beliefs, n_slots: int, most: int = 100) -> JointHypotheses:
    """The product of the slots' beliefs: the `most` likely assignments of each turn, best first.

    Slot by slot, each partial assignment is crossed with the slot's hypotheses and the best are kept; as
    scores only shrink, none of the best complete ones is lost that way. The assignment in which every
    slot is None is left to the joint's own None, and zero scores are dropped.
    """
    n_turns = len(beliefs) // n_slots
    lengths = np.diff(beliefs.offsets).reshape(n_turns, n_slots)
    widest = int(lengths.max(initial=1))
    score = np.zeros((n_turns, n_slots, widest))
    value = np.zeros((n_turns, n_slots, widest), dtype=np.int32)
    item, position = row_of_each(beliefs.offsets), position_in_row(beliefs.offsets)
    score[item // n_slots, item % n_slots, position] = beliefs.score
    value[item // n_slots, item % n_slots, position] = beliefs.value

    product = np.ones((n_turns, 1))
    assignment = np.zeros((n_turns, 1, n_slots), dtype=np.int32)
    for slot in range(n_slots):
        crossed = (product[:, :, None] * score[:, slot, None, :]).reshape(n_turns, -1)
        best = np.argsort(-crossed, axis=1, kind="stable")[:, :most]
        product = np.take_along_axis(crossed, best, axis=1)
        before, chosen = best // widest, best % widest
        assignment = np.take_along_axis(assignment, before[:, :, None], axis=1)
        assignment[:, :, slot] = np.take_along_axis(value[:, slot], chosen, axis=1)
    kept = (product > 0) & (assignment != NONE).any(axis=2)
    return JointHypotheses(
        np.ones(n_turns, dtype=bool),
        offsets_from_lengths(kept.sum(axis=1)),
        assignment[kept],
        product[kept],
    )
