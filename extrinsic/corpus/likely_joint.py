"""Joint lists for trackers that only speak of single slots; DSTC1's scorer makes none by itself."""

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
"""How many hypotheses of a slot, None among them, a joint one may be made of."""


def likeliest_assignments(given: Hypotheses, n_slots: int) -> JointHypotheses:
    """The likeliest assignments of each turn to all slots, best first, by the product of their scores.

    A list cut off leaves all the rest to the joint's None, which would then outrank what every slot by itself
    believes: so the listed are scaled until None has just the product of the slots' None. Only the best of
    each slot are crossed; the first assignment is exact, and a value further down is seldom listed.
    """
    ranking = rank_dstc1(given.offsets, given.score)
    near = np.flatnonzero(position_in_row(ranking.offsets) < DEPTH)
    offsets = offsets_from_lengths(np.minimum(np.diff(ranking.offsets), DEPTH))
    # None has the source -1: the last entry.
    value = np.append(given.value, np.int32(NONE))[ranking.source[near]]
    beliefs = Beliefs(offsets, value, ranking.score[near], np.zeros(len(near), dtype=bool))
    joint = joint_of_marginals(beliefs, n_slots, SIZE)
    spoken = 1.0 - ranking.score[ranking.none].reshape(-1, n_slots).prod(axis=1)
    turn = row_of_each(joint.offsets)
    listed = np.bincount(turn, joint.score, len(spoken))
    scale = spoken / np.where(listed > 0.0, listed, 1.0)
    return replace(joint, score=joint.score * np.maximum(scale, 1.0)[turn])
