"""The first operating points that meet a condition, in many weighted samples of the same items at once.

They are those of `operating_points`, without building a curve. A condition that holds for a point holds for
all that accept less, so the longest prefix of the ranking that meets it determines the rule's first point.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.metrics.items.operating_points import (
    N_THRESHOLDS,
    Condition,
    Points,
    has_dstc1_curve,
    has_dstc2_curve,
    threshold,
    threshold_step,
)
from extrinsic.metrics.items.running_counts import RunningCounts
from extrinsic.metrics.items.searching import last_that_meets


class Dstc1Points:
    """Points at evenly spaced thresholds between the scores of the items that were drawn."""

    def __init__(self, counts: RunningCounts) -> None:
        self.counts = counts

    def first(self, condition: Condition) -> Points:
        ranking = self.counts.ranking
        # The first item that must not be accepted; equals are accepted together or not at all.
        beyond = ranking.score[self.counts.longest(condition)]
        number = self._first_above(beyond)
        reached = ranking.n_items - np.searchsorted(ranking.ascending, self._threshold(number))
        point = self.counts.before(np.where(number == N_THRESHOLDS - 1, 0, reached))
        return _where(has_dstc1_curve(point.total) & condition(point), point)

    @cached_property
    def _scale(self) -> tuple[Floats, Floats]:
        """(n,) the lowest threshold, and the step to the next."""
        first = self.counts.longest(lambda points: points.accepted == 0)
        last = self.counts.longest(lambda points: points.accepted < points.total)
        # Where nothing was drawn there is no threshold, and hence no point.
        score, drawn = self.counts.ranking.score, self.counts.total > 0
        lowest, highest = np.where(drawn, score[last], 0.0), np.where(drawn, score[first], 0.0)
        return lowest, threshold_step(lowest, highest)

    def _threshold(self, number: Ints) -> Floats:
        return threshold(number, *self._scale)

    def _first_above(self, score: Floats) -> Ints:
        """(n,) the first threshold above a score, at most the last, which rejects everything."""
        last = N_THRESHOLDS - 1
        lowest, step = self._scale

        def is_reached(number: Ints) -> Bools:
            return np.asarray(self._threshold(number) <= score)

        # Division gives the approximate position; comparing with the thresholds decides.
        guess = np.clip((score - lowest) / np.where(step > 0, step, 1.0), 0.0, last).astype(np.int64)
        low, width = guess - 2, 4
        if is_reached(low + width).any() or not (is_reached(low) | (low < 0)).all():
            low, width = np.full_like(guess, -1), N_THRESHOLDS + 1
        return np.clip(last_that_meets(is_reached, low, width) + 1, 0, last)


class Dstc2Points:
    """Points at the first copy of each run of equal scores, and one that accepts all."""

    def __init__(self, counts: RunningCounts) -> None:
        self.counts = counts

    def first(self, condition: Condition) -> Points:
        counts, ranking = self.counts, self.counts.ranking
        # The first item all of whose copies are too many.
        beyond = counts.longest(condition)
        start = ranking.run_start[beyond]
        before_run, before_item = counts.before(start), counts.before(beyond)
        # Where nothing of its run was drawn before it, the run's point accepts one copy of it; if that is too
        # much, the point is that of the run drawn last before.
        begins = before_run.accepted == before_item.accepted
        too_much = begins & ~condition(self._one_more(before_item, beyond))
        previous = self._holder(before_run.accepted)
        start = np.where(too_much, ranking.run_start[previous], start)
        before_run = counts.before(start)
        point = self._one_more(before_run, self._holder(before_run.accepted + 1))
        everything = beyond == ranking.n_items
        point = Points(
            np.where(everything, before_item.true_accept, point.true_accept),
            np.where(everything, before_item.false_accept, point.false_accept),
            point.right,
            point.total,
        )
        return _where(has_dstc2_curve(point.total) & condition(point), point)

    def _holder(self, copy: Ints) -> Ints:
        """(n,) the item that the given copy belongs to, counted from 1 at the top of the ranking."""
        return self.counts.longest(lambda points: points.accepted < copy)

    def _one_more(self, point: Points, item: Ints) -> Points:
        """The point that accepts one more copy of an item."""
        correct = self.counts.ranking.correct[item]
        return Points(point.true_accept + correct, point.false_accept + ~correct, point.right, point.total)


def _where(exists: Bools, point: Points) -> Points:
    """The points that exist; NaN elsewhere."""
    return Points(
        np.where(exists, point.true_accept, np.nan),
        np.where(exists, point.false_accept, np.nan),
        point.right,
        point.total,
    )
