"""The first operating points that meet a condition, in many weighted samples of the same items at once.

They are those of `operating_points`, without building a curve. A condition that holds for a point holds for
all that accept less, so the longest prefix of the ranking that meets it determines the rule's first point.

A table of how many right and wrong items precede each position has a row for each item and a column for each
sample, and writing it would dominate the cost. So items are grouped in blocks: counts are stored at the block
borders only, and those inside a block are summed only for the block that a sample needs.
"""

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from extrinsic.arrays import Bools, Floats, Ints, offsets_from_lengths
from extrinsic.metrics.items.operating_points import (
    N_THRESHOLDS,
    Condition,
    Points,
    has_dstc1_curve,
    has_dstc2_curve,
    threshold,
    threshold_step,
)


def last_that_meets(meets: Callable[[Ints], Bools], low: Ints, width: int) -> Ints:
    """(n,) the largest numbers in low .. low + width - 1 that meet a condition; low also if none does.

    meets: (n,) numbers in that range -> (n,) flags; after a number that does not meet, none does.
    """
    while width > 1:
        # The remaining width is the same for all, so that a step is one evaluation and one addition.
        half = width // 2
        low = low + half * meets(low + half)
        width -= half
    return low


RIGHT, WRONG = 0, 1


class Ranking:
    """Items by descending score, in blocks of `size` items.

    score (n_items + 1,), correct (n_items + 1,): after the last item comes a wrong one below all scores.
    dialogs (size, 2, n_blocks + 1): the dialog of each position of a block if its item is right, and if it is
    wrong; otherwise, and after the last item, n_dialogs, a dialog that is never drawn.
    """

    def __init__(self, score: Floats, correct: Bools, dialog: Ints, n_dialogs: int) -> None:
        self.n_items, self.n_dialogs = len(score), n_dialogs
        self.score = np.append(score, -np.inf)
        self.correct = np.append(correct, False)
        # Borders cost a row each when counting, positions inside a block when querying: balance the two.
        self.size = max(4, round((self.n_items / 60) ** 0.5))
        self.n_blocks = -(-self.n_items // self.size)
        dialogs = np.full(((self.n_blocks + 1) * self.size, 2), n_dialogs)
        dialogs[np.arange(self.n_items), np.where(self.correct[:-1], RIGHT, WRONG)] = dialog
        self.dialogs = np.ascontiguousarray(dialogs.reshape(-1, self.size, 2).transpose(1, 2, 0))

    @cached_property
    def ascending(self) -> Floats:
        """(n_items,) the scores from the lowest up."""
        return self.score[-2::-1].copy()

    @cached_property
    def run_start(self) -> Ints:
        """(n_items + 1,) the start of the run of equal scores that each position belongs to."""
        begins = np.append(True, self.score[1:] != self.score[:-1])
        return np.maximum.accumulate(np.where(begins, np.arange(self.n_items + 1), 0))

    @cached_property
    def block_sums(self) -> Any:
        """(2 n_blocks, n_dialogs + 1) sparse: right and wrong items of each dialog in each block."""
        # Importing it is slow, and single scores do not need it.
        from scipy import sparse

        dialogs = self.dialogs[:, :, :-1].transpose(2, 1, 0).reshape(-1, self.size)
        drawn = dialogs < self.n_dialogs
        offsets = offsets_from_lengths(np.count_nonzero(drawn, axis=1))
        once = np.ones(self.n_items, dtype=np.int16)
        return sparse.csr_array(
            (once, dialogs[drawn], offsets), shape=(2 * self.n_blocks, self.n_dialogs + 1)
        )


class RunningCounts:
    """Right and wrong items before each position, in each of n samples; weights (n, n_dialogs), integers."""

    def __init__(self, ranking: Ranking, weights: npt.NDArray[Any]) -> None:
        self.ranking = ranking
        self.n_samples = len(weights)
        # Small integers are several times as fast; none of the sums below can overflow them.
        largest = int(weights.max(initial=0))
        small = np.int16 if largest * ranking.size < 2**15 else np.int64
        whole = np.int32 if largest * ranking.n_items < 2**31 else np.int64
        self._weights = np.zeros((ranking.n_dialogs + 1, self.n_samples), dtype=small)
        self._weights[:-1] = weights.astype(small).T
        # (n_blocks + 1, 2, n) right and wrong items before each border.
        self._borders = np.zeros((ranking.n_blocks + 1, 2, self.n_samples), dtype=whole)
        self._borders[1:] = (ranking.block_sums @ self._weights).reshape(ranking.n_blocks, 2, self.n_samples)
        _accumulate(self._borders)
        self._samples = np.arange(self.n_samples)
        self._columns = self._samples + self.n_samples * np.array([[RIGHT], [WRONG]])
        self.right: Floats = self._borders[-1, RIGHT].astype(float)
        self.total: Floats = self.right + self._borders[-1, WRONG]

    def points(self, counts: npt.NDArray[Any]) -> Points:
        """(..., 2, n) right and wrong items accepted."""
        return Points(counts[..., RIGHT, :], counts[..., WRONG, :], self.right, self.total)

    def before(self, position: Ints) -> Points:
        """(n,) positions -> the points that accept all items before them."""
        block, offset = np.divmod(position, self.ranking.size)
        return self.points(self._inside(block)[offset, :, self._samples].T)

    def longest(self, condition: Condition) -> Ints:
        """(n,) the last position such that accepting all before it meets a condition; 0 also if none does."""

        def border_meets(block: Ints) -> Bools:
            return np.asarray(condition(self.points(self._border(block))))

        nothing = np.zeros(self.n_samples, dtype=np.int64)
        block = last_that_meets(border_meets, nothing, self.ranking.n_blocks + 1)
        more = np.count_nonzero(condition(self.points(self._inside(block)[1:])), axis=0)
        return np.asarray(np.minimum(block * self.ranking.size + more, self.ranking.n_items))

    def _border(self, block: Ints) -> npt.NDArray[Any]:
        """(n,) blocks -> (2, n) counts before them."""
        return np.asarray(self._borders.reshape(-1).take(block * (2 * self.n_samples) + self._columns))

    def _inside(self, block: Ints) -> npt.NDArray[Any]:
        """(n,) blocks -> (size + 1, 2, n) counts before each of their positions, and after the last."""
        index = self.ranking.dialogs.take(block, axis=2)
        index *= self.n_samples
        index += self._samples
        counts = np.empty((self.ranking.size + 1, 2, self.n_samples), dtype=self._borders.dtype)
        counts[0] = self._border(block)
        counts[1:] = self._weights.reshape(-1).take(index)
        return _accumulate(counts)


def _accumulate(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Running sums of rows, in place; numpy's own works column by column, which defeats the cache."""
    for before, row in pairwise(rows):
        np.add(before, row, out=row)
    return rows


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
