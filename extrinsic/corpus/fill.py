"""Fill rules: when a belief counts as a filled slot.

`argmax`: the best hypothesis, None among them. `threshold`: the best value, if its score is above a
threshold (.5). The choice can decide which metric predicts a policy best, so it is always explicit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats, Ids
from extrinsic.corpus.hypotheses import Beliefs
from extrinsic.corpus.vocabulary import NONE
from extrinsic.errors import UsageError, did_you_mean

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
