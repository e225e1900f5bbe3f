"""Joint lists for trackers that only have hypotheses about single slots."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from extrinsic.arrays import offsets_from_lengths, position_in_row, row_of_each
from extrinsic.corpus.hypotheses import Beliefs, Hypotheses, JointHypotheses
from extrinsic.corpus.joint import joint_of_marginals
from extrinsic.corpus.ranking import rank_dstc1
from extrinsic.corpus.vocabulary import NONE

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
