"""Operating points of a ROC curve, and the curve of one weighted sample by the rules of each challenge.

The two challenges choose their operating points differently; both are reproduced exactly. This module is
the definition; `resampled_points` finds the same points for many samples at once.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints

N_THRESHOLDS = 10_000
"""DSTC1: evenly spaced thresholds from the smallest score to the largest."""


@dataclass(frozen=True, eq=False)
class Points:
    """Right and wrong items accepted at operating points; counts may be weighted.

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


def has_dstc1_curve(total: Any) -> Any:
    return total >= 2


def has_dstc2_curve(total: Any) -> Any:
    """The challenge's scorer has no curve for fewer than three items."""
    return total > 2


def threshold_step(lowest: Any, highest: Any) -> Any:
    return (highest - lowest) / (N_THRESHOLDS - 1)


def threshold(number: Ints, lowest: Any, step: Any) -> Floats:
    """DSTC1's thresholds as the scorer computes them, numbered from 0."""
    return np.asarray(lowest + number * step)


def dstc1_curve(score: Floats, correct: Bools, weight: Floats) -> Points | None:
    """Accept at or above each of evenly spaced thresholds; the last rejects everything."""
    total = float(weight.sum())
    if not has_dstc1_curve(total):
        return None
    lowest = score.min()
    thresholds = threshold(np.arange(N_THRESHOLDS), lowest, threshold_step(lowest, score.max()))
    passed = _last_passed(score, thresholds)
    right: Floats = np.bincount(passed, weights=weight * correct, minlength=N_THRESHOLDS).astype(float)
    everything: Floats = np.bincount(passed, weights=weight, minlength=N_THRESHOLDS).astype(float)
    # A score that passes a threshold passes all lower ones.
    true_accept = np.cumsum(right[::-1])[::-1].copy()
    accepted = np.cumsum(everything[::-1])[::-1].copy()
    all_right = float(true_accept[0])
    true_accept[-1] = accepted[-1] = 0.0
    return Points(true_accept, accepted - true_accept, all_right, total)


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


def dstc2_curve(score: Floats, correct: Bools, weight: Floats) -> Points | None:
    """Accept up to and including the first item of each run of equal scores, or all; from all down.

    Items are sorted by descending score. An item of weight w occurs w times in its run, so the point at its
    first copy accepts just one of them.
    """
    total = float(weight.sum())
    if not has_dstc2_curve(total):
        return None
    right_so_far = np.cumsum(weight * correct)
    all_so_far = np.cumsum(weight)
    begins = np.ones(len(score), dtype=bool)
    begins[1:] = score[1:] != score[:-1]
    # A last item that begins a run already is the point "all", unless it has more than one copy.
    if weight[-1] <= 1:
        begins[-1] = False
    first = np.flatnonzero(begins)[::-1]
    further = np.maximum(weight[first] - 1, 0)
    true_accept = np.concatenate([right_so_far[-1:], right_so_far[first] - further * correct[first]])
    accepted = np.concatenate([all_so_far[-1:], all_so_far[first] - further])
    return Points(true_accept, accepted - true_accept, float(right_so_far[-1]), total)
