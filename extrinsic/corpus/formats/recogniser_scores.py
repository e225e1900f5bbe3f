"""Scores of recognised acts that are no probabilities: trackers take them as such, and would clip them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from extrinsic.corpus.model import Corpus
from extrinsic.errors import Problem

ROUNDING = 1e-6


class ScoresOutside:
    """Counts hypotheses with a score outside of 0 to 1 over the parts of a corpus, and keeps the first."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.n_outside = self.n_hypotheses = 0
        self._first: Problem | None = None

    def add(self, corpus: Corpus) -> None:
        score = corpus.nbest.score
        outside = np.flatnonzero((score < -ROUNDING) | (score > 1.0 + ROUNDING))
        self.n_outside += len(outside)
        self.n_hypotheses += len(score)
        if len(outside) and self._first is None:
            turn = int(corpus.nbest.turn_of_hypothesis()[outside[0]])
            self._first = Problem(
                "",
                path=self.path,
                session=corpus.sessions[int(corpus.dialog_of_turn[turn])],
                turn=int(corpus.turn_in_dialog[turn]),
                expected="from 0 to 1 (are these logarithms?)",
                found=f"{score[outside[0]]:g}",
                severity="warning",
            )

    def problems(self) -> list[Problem]:
        """One warning: how many there are, and where the first is."""
        if self._first is None:
            return []
        message = (
            f"{self.n_outside:,} of {self.n_hypotheses:,} recognised hypotheses have a score that is no "
            "probability; the first is here"
        )
        return [replace(self._first, message=message)]


def warnings_of_scores(corpus: Corpus, path: str) -> list[Problem]:
    outside = ScoresOutside(path)
    outside.add(corpus)
    return outside.problems()
