"""ROC statistics that add up: items sorted by score, each with a weight, and the curves they make.

The two challenges choose their operating points differently; both are kept to the letter.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints

RocRule = Literal["dstc1", "dstc2"]

N_THRESHOLDS = 10_000
"""DSTC1: evenly spaced thresholds from the smallest score to the largest."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Operating points from the lowest threshold up; counts may be weighted.

    true_accept, false_accept (n_points,).   right, total: correct items, all items.
    """

    true_accept: Floats
    false_accept: Floats
    right: float
    total: float

    @property
    def false_reject(self) -> Floats:
        return self.right - self.true_accept

    @cached_property
    def equal_error_point(self) -> int | None:
        """The first point with FR >= FA; None if there is none (DSTC2, when every item is wrong)."""
        equal = self.false_reject >= self.false_accept
        return int(np.argmax(equal)) if equal.any() else None


@dataclass(frozen=True, eq=False)
class RocStatistics:
    """The top scores of some items: sums and products over dialogs like an (n_dialogs, n_items) array.

    score, correct, dialog (n_items,). By DSTC2's rule items are sorted by descending score, equals in the
    order of the corpus; by DSTC1's their order does not matter.
    """

    rule: RocRule
    n_dialogs: int
    score: Floats
    correct: Bools
    dialog: Ints

    __array_ufunc__ = None
    """So that numpy leaves `weights @ statistics` to us."""

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_dialogs, len(self.score)

    @cached_property
    def _sum(self) -> Totals:
        return Totals(self.rule, self.score, self.correct, np.ones(len(self.score)))

    def sum(self, axis: int = 0) -> Totals:
        """Every item once; the same object every time, so that all points are read off one curve."""
        assert axis == 0, "statistics are summed over dialogs"
        return self._sum

    def __rmatmul__(self, weights: Any) -> Totals:
        """Items as often as their dialogs: (..., n_dialogs) weights."""
        return Totals(self.rule, self.score, self.correct, np.asarray(weights, dtype=float)[..., self.dialog])


@dataclass(frozen=True, eq=False)
class Totals:
    """Weighted items in the order that their rule asks for; weight (..., n_items)."""

    rule: RocRule
    score: Floats
    correct: Bools
    weight: Floats

    @property
    def shape(self) -> tuple[int, ...]:
        return self.weight.shape[:-1]

    def __add__(self, other: Totals) -> Totals:
        """The items of both; those of the first come first among equals."""
        score = np.concatenate([self.score, other.score])
        correct = np.concatenate([self.correct, other.correct])
        weight = np.concatenate([self.weight, other.weight], axis=-1)
        order = score_order(score) if self.rule == "dstc2" else slice(None)
        return Totals(self.rule, score[order], correct[order], weight[..., order])

    @cached_property
    def curves(self) -> list[Curve | None]:
        """One curve for each row of weights, None where there are too few items."""
        rows = self.weight.reshape(int(np.prod(self.shape)), self.weight.shape[-1])
        make = _dstc1_curve if self.rule == "dstc1" else _dstc2_curve
        curves = []
        for weight in rows:
            kept = weight > 0
            if kept.all():
                curves.append(make(self.score, self.correct, weight))
            else:
                curves.append(make(self.score[kept], self.correct[kept], weight[kept]))
        return curves


def score_order(score: Floats) -> Ints:
    """Indices by descending score, equals in the order given."""
    return np.argsort(-score, kind="stable")


def _dstc1_curve(score: Floats, correct: Bools, weight: Floats) -> Curve | None:
    """Accept at or above each of evenly spaced thresholds; the last rejects everything."""
    total = float(weight.sum())
    if total < 2:
        return None
    lowest, highest = score.min(), score.max()
    thresholds = lowest + np.arange(N_THRESHOLDS) * ((highest - lowest) / (N_THRESHOLDS - 1))
    passed = _last_passed(score, thresholds)
    right: Floats = np.bincount(passed, weights=weight * correct, minlength=N_THRESHOLDS).astype(float)
    everything: Floats = np.bincount(passed, weights=weight, minlength=N_THRESHOLDS).astype(float)
    # What passes a threshold passes all the lower ones.
    true_accept = np.cumsum(right[::-1])[::-1].copy()
    accepted = np.cumsum(everything[::-1])[::-1].copy()
    all_right = float(true_accept[0])
    true_accept[-1] = accepted[-1] = 0.0
    return Curve(true_accept, accepted - true_accept, all_right, total)


def _last_passed(score: Floats, thresholds: Floats) -> Ints:
    """(n_items,) the highest threshold that each score reaches.

    Found by division and then compared, so that the thresholds as the scorer computes them decide; that is
    faster than a search, which is left for scores so near each other that thresholds coincide.
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


def _dstc2_curve(score: Floats, correct: Bools, weight: Floats) -> Curve | None:
    """Accept up to and including the first item of each run of equal scores, or all; from all down.

    The challenge's scorer has no curve for fewer than three items. An item of weight w stands w times in
    its run, so the point at its first copy accepts just one of them.
    """
    total = float(weight.sum())
    if total <= 2:
        return None
    right_so_far = np.cumsum(weight * correct)
    all_so_far = np.cumsum(weight)
    begins = np.ones(len(score), dtype=bool)
    begins[1:] = score[1:] != score[:-1]
    # A last item that begins a run is the point "all" already, unless it has more copies than one.
    if weight[-1] <= 1:
        begins[-1] = False
    first = np.flatnonzero(begins)[::-1]
    one_right = right_so_far[first] - (weight[first] - np.minimum(weight[first], 1)) * correct[first]
    one_of_all = all_so_far[first] - (weight[first] - np.minimum(weight[first], 1))
    true_accept = np.concatenate([right_so_far[-1:], one_right])
    accepted = np.concatenate([all_so_far[-1:], one_of_all])
    return Curve(true_accept, accepted - true_accept, float(right_so_far[-1]), total)
