"""Scores of recognised acts that are no probabilities: trackers take them as such, and would clip them."""

from __future__ import annotations

import numpy as np

from extrinsic.corpus.model import Corpus
from extrinsic.errors import Problem

ROUNDING = 1e-6


def warnings_of_scores(corpus: Corpus, path: str) -> list[Problem]:
    """One warning: how many hypotheses have a score outside of 0 to 1, and where the first is."""
    score = corpus.nbest.score
    outside = np.flatnonzero((score < -ROUNDING) | (score > 1.0 + ROUNDING))
    if not len(outside):
        return []
    turn = int(corpus.nbest.turn_of_hypothesis()[outside[0]])
    return [
        Problem(
            f"{len(outside):,} of {len(score):,} recognised hypotheses have a score that is no probability; "
            "the first is here",
            path=path,
            session=corpus.sessions[int(corpus.dialog_of_turn[turn])],
            turn=int(corpus.turn_in_dialog[turn]),
            expected="from 0 to 1 (are these logarithms?)",
            found=f"{score[outside[0]]:g}",
            severity="warning",
        )
    ]
