"""Converting between beliefs about single slots and joint beliefs about all slots."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import (
    Bools,
    Floats,
    Ids,
    Ints,
    offsets_from_lengths,
    position_in_row,
    row_of_each,
)
from extrinsic.corpus.hypotheses import Beliefs, Hypotheses, JointHypotheses
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
