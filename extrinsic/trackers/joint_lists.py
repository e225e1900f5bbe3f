"""What a tracker writes about all slots at once, made from what it says about each."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import offsets_from_lengths, row_of_each
from extrinsic.corpus.hypotheses import Hypotheses, JointHypotheses
from extrinsic.corpus.likely_joint import likeliest_assignments
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.vocabulary import NONE
from extrinsic.trackers.protocol import Rule

CONFIDENT = 0.5


def joint_of_slots(given: Hypotheses, corpus: Corpus, rule: Rule) -> JointHypotheses | None:
    """DSTC1 needs joint lists; of the second challenge's trackers only the baseline writes them."""
    if corpus.format == "dstc1":
        return likeliest_assignments(given, len(corpus.slots))
    return confident_assignment(given, len(corpus.slots)) if rule == "baseline" else None


def confident_assignment(given: Hypotheses, n_slots: int) -> JointHypotheses:
    """The values of at least CONFIDENT together, scored by their geometric mean, if there are any.

    For a tracker that has one value a slot: the challenge's baseline.
    """
    n_turns = (len(given.offsets) - 1) // n_slots
    sure = np.flatnonzero(given.score >= CONFIDENT)
    item = row_of_each(given.offsets)[sure]
    turn, slot = item // n_slots, item % n_slots
    assignment = np.full((n_turns, n_slots), NONE, dtype=np.int32)
    assignment[turn, slot] = given.value[sure]
    product = np.ones(n_turns)
    np.multiply.at(product, turn, given.score[sure])
    n_sure = np.bincount(turn, minlength=n_turns)
    any_sure = n_sure > 0
    score = product[any_sure] ** (1.0 / n_sure[any_sure])
    return JointHypotheses(
        np.ones(n_turns, dtype=bool),
        offsets_from_lengths(any_sure.astype(np.int64)),
        assignment[any_sure],
        score,
    )
