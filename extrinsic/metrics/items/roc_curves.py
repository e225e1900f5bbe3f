"""ROC curves of top scores, and operating points on them, by the rules of each challenge.

The two challenges choose their operating points differently; both are reproduced exactly. This module is the
definition; `roc_statistics` finds the same points in many samples of the items at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints

N_THRESHOLDS = 10_000
"""DSTC1: evenly spaced thresholds from the smallest score to the largest; the last rejects everything."""


@dataclass(frozen=True, eq=False)
class Points:
    """Right and wrong items accepted at operating points.

    true_accept, false_accept (...): along a curve from the lowest threshold up, or one for each sample.
    right, total: correct items and all items of the sample, or (...) of each.
    """

    true_accept: Any
    false_accept: Any
    right: Any
    total: Any

    @property
    def false_reject(self) -> Any:
        return self.right - self.true_accept

    @property
    def accepted(self) -> Any:
        return self.true_accept + self.false_accept


WRONG, ACCEPTED = 0, 1


class Condition(Protocol):
    """Whether points meet a condition: (...) flags. What holds for a point holds for all that accept less."""

    limits: ClassVar[int]
    """What must not be too many: the WRONG items accepted, or all items ACCEPTED."""

    def __call__(self, points: Points, /) -> Any: ...

    def most(self, right: Floats, total: Floats) -> Floats:
        """How many may be accepted, in samples with so many right items and items in all.

        Below 0 where even none is too many.
        """
        ...


def first_on_curve(curve: Points | None, condition: Condition) -> Points:
    """The first point that meets a condition; NaN if none does or there is no curve."""
    if curve is not None and (met := condition(curve)).any():
        index = np.argmax(met)
        return Points(curve.true_accept[index], curve.false_accept[index], curve.right, curve.total)
    return Points(np.nan, np.nan, np.nan, np.nan)


FEWEST_DSTC1, FEWEST_DSTC2 = 2, 3
"""Items that a curve needs; DSTC2's scorer has none for fewer than three."""


def threshold_step(lowest: Any, highest: Any) -> Any:
    return (highest - lowest) / (N_THRESHOLDS - 1)


def threshold(number: Ints, lowest: Any, step: Any) -> Floats:
    """DSTC1's thresholds as the scorer computes them, numbered from 0."""
    return np.asarray(lowest + number * step)


def dstc1_curve(score: Floats, correct: Bools) -> Points | None:
    """Accept at or above each of evenly spaced thresholds; the last rejects everything."""
    if len(score) < FEWEST_DSTC1:
        return None
    lowest = score.min()
    thresholds = threshold(np.arange(N_THRESHOLDS), lowest, threshold_step(lowest, score.max()))
    passed = _last_passed(score, thresholds)
    # A score that passes a threshold passes all lower ones.
    true_accept, accepted = (
        np.cumsum(np.bincount(some, minlength=N_THRESHOLDS)[::-1])[::-1].astype(float)
        for some in (passed[correct], passed)
    )
    true_accept[-1] = accepted[-1] = 0.0
    return Points(true_accept, accepted - true_accept, float(np.count_nonzero(correct)), float(len(score)))


def _last_passed(score: Floats, thresholds: Floats) -> Ints:
    """(n_items,) the highest threshold that each score reaches.

    Estimated by division and then compared with the thresholds as the scorer computes them, which is faster
    than a search; a search is used only for scores so close that thresholds coincide.
    """
    last = len(thresholds) - 1
    if (thresholds[1:] <= thresholds[:-1]).any():
        return np.asarray(np.searchsorted(thresholds, score, side="right") - 1)
    guess = ((score - thresholds[0]) * (last / (thresholds[-1] - thresholds[0]))).astype(np.int64)
    guess = np.clip(guess, 0, last)
    while (beyond := thresholds[guess] > score).any():
        guess -= beyond
    while (short := (guess < last) & (thresholds[np.minimum(guess + 1, last)] <= score)).any():
        guess += short
    return np.asarray(guess)


def dstc2_curve(score: Floats, correct: Bools) -> Points | None:
    """Accept up to and including the first item of each run of equal scores, or all; from all down.

    Items are sorted by descending score.
    """
    if len(score) < FEWEST_DSTC2:
        return None
    begins = np.ones(len(score), dtype=bool)
    begins[1:] = score[1:] != score[:-1]
    begins[-1] = True  # the point "all"
    last = np.flatnonzero(begins)[::-1]
    true_accept = np.cumsum(correct)[last].astype(float)
    return Points(true_accept, last + 1.0 - true_accept, float(true_accept[0]), float(len(score)))
