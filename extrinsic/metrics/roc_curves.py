"""ROC curves of top scores: operating points by the rules of each challenge.

The two challenges choose their operating points differently; both are reproduced exactly. `dstc1_curve` and
`dstc2_curve` are the definition. `RocStatistics`, the scores of items, sum and multiply like an
(n_dialogs, n_items) array. In resamples of dialogs the same points are found without building a curve: a
condition that holds for a point holds for all that accept less, so the longest prefix of the ranking that
meets it determines the rule's first point. In every sample a condition is a limit of one count, so that one
search does for all conditions.

A table of how many items precede each position has a row for each item and a column for each sample, and
writing it would dominate the cost. So items are grouped in blocks: counts are stored at the block borders
only, and those inside a block are summed only for the block that a sample needs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from extrinsic.arrays import Bools, Floats, Ints, offsets_from_lengths
from extrinsic.corpus.conventions import RocPoints

BLOCK = 1_000
"""Rows of weights per batch: enough to amortise a numpy call, few enough for the cache."""

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


@dataclass(frozen=True)
class Condition:
    """At most so many items accepted; what holds for a point holds for all that accept less.

    limits: what must not be too many: the WRONG items accepted, or all items ACCEPTED.
    most: how many may be, in samples (...) with so many right items and items in all; below 0 where even none
    is too many.
    """

    limits: int
    most: Callable[[Any, Any], Any]

    def meets(self, points: Points) -> Any:
        """(...) whether points meet it."""
        limited = points.false_accept if self.limits == WRONG else points.accepted
        return limited <= self.most(points.right, points.total)


def first_on_curve(curve: Points | None, condition: Condition) -> Points:
    """The first point that meets a condition; NaN if none does or there is no curve."""
    if curve is not None and (met := condition.meets(curve)).any():
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


@dataclass(frozen=True, eq=False)
class RocStatistics:
    """The top scores of some items, which sum and multiply like an (n_dialogs, n_items) array.

    points: where operating points lie.   score, correct, dialog (n_items,): with points at distinct scores,
    items are sorted by descending score, equals in the order of the corpus; else their order does not matter.
    """

    points: RocPoints
    n_dialogs: int
    score: Floats
    correct: Bools
    dialog: Ints

    __array_ufunc__ = None
    """Makes numpy delegate `weights @ statistics` to this class."""

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_dialogs, len(self.score)

    @cached_property
    def ranking(self) -> Ranking:
        """The items by descending score, made once for all resamples."""
        # Stored statistics are sorted already, which a stable sort detects quickly.
        order = slice(None) if self.points == "distinct_scores" else score_order(self.score)
        return Ranking(self.score[order], self.correct[order], self.dialog[order], self.n_dialogs)

    @cached_property
    def _sum(self) -> Totals:
        return Totals(self, None)

    def sum(self, axis: int = 0) -> Totals:
        """Every item once; the same object every time, so that all points share one curve."""
        assert axis == 0, "statistics are summed over dialogs"
        return self._sum

    def __rmatmul__(self, weights: Any) -> Totals:
        """Items weighted by their dialogs: (..., n_dialogs) weights."""
        return Totals(self, np.asarray(weights))

    def joined(self, *others: RocStatistics) -> RocStatistics:
        """The items of all; those of the first come first among equals."""
        parts = (self, *others)
        begins = np.cumsum([0, *(part.n_dialogs for part in parts)])
        score = np.concatenate([part.score for part in parts])
        correct = np.concatenate([part.correct for part in parts])
        dialog = np.concatenate([part.dialog + begin for part, begin in zip(parts, begins, strict=False)])
        order = score_order(score) if self.points == "distinct_scores" else slice(None)
        return RocStatistics(self.points, int(begins[-1]), score[order], correct[order], dialog[order])


class Totals:
    """Items as often as their dialogs were drawn: weights (..., n_dialogs), whole; None: each once."""

    def __init__(self, statistics: RocStatistics, weights: npt.NDArray[Any] | None) -> None:
        self.statistics, self.weights = statistics, weights
        self._first: dict[Condition, Points] = {}

    def first(self, condition: Condition) -> Points:
        """(...) for each row of weights the first point that meets a condition, NaN where there is none.

        Metrics with the same condition share the point.
        """
        if condition not in self._first:
            self.find([condition])
        return self._first[condition]

    def find(self, conditions: Iterable[Condition]) -> None:
        """Look for the first points of several conditions at once: `first` then finds them here.

        A search takes as long for all of them as for two or three.
        """
        missing = [condition for condition in dict.fromkeys(conditions) if condition not in self._first]
        # 0 / 0 is NaN: where there is no item, no condition is met.
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.weights is None:
                points = [first_on_curve(self.curve, condition) for condition in missing]
            else:
                points = self._resampled_points(missing, self.weights) if missing else []
        self._first.update(zip(missing, points, strict=True))

    @cached_property
    def curve(self) -> Points | None:
        """That of every item once; None where there are too few."""
        return CURVES[self.statistics.points](self.statistics.score, self.statistics.correct)

    def _resampled_points(self, conditions: Sequence[Condition], weights: npt.NDArray[Any]) -> list[Points]:
        parts = [samples.first(conditions) for samples in self._samples]
        if len(parts) == 1 and weights.ndim == 2:
            return parts[0]
        shape = weights.shape[:-1]
        whole = []
        for number in range(len(conditions)):
            columns = ([getattr(part[number], field.name) for part in parts] for field in fields(Points))
            whole.append(Points(*(np.hstack([np.empty(0), *column]).reshape(shape) for column in columns)))
        return whole

    @cached_property
    def _samples(self) -> list[FirstPoints]:
        """Running counts of many rows, shared by all conditions: 8 bytes a row for every few items."""
        weights, make = self.weights, FIRST_POINTS[self.statistics.points]
        assert weights is not None
        assert weights.dtype.kind in "biu" or np.array_equal(weights, np.floor(weights)), "drawn whole"
        rows = weights.reshape(int(np.prod(weights.shape[:-1])), weights.shape[-1])
        return [
            make(RunningCounts(self.statistics.ranking, rows[begin : begin + BLOCK]))
            for begin in range(0, len(rows), BLOCK)
        ]


def score_order(score: Floats) -> Ints:
    """Indices by descending score, equals in the order given."""
    return np.argsort(-score, kind="stable")


def last_that_meets(meets: Callable[[Ints], Bools], low: Ints, width: int) -> Ints:
    """(...) the largest numbers in low .. low + width - 1 that meet a condition; low also if none does.

    meets: (...) numbers in that range -> (...) flags; after a number that does not meet, none does.
    """
    while width > 1:
        # The remaining width is the same for all, so that a step is one evaluation and one addition.
        half = width // 2
        low = low + half * meets(low + half)
        width -= half
    return low


class Ranking:
    """Items by descending score, in blocks of `size` items.

    score (n_items + 1,), correct (n_items + 1,): after the last item comes a wrong one below all scores.
    dialogs (size, 2, n_blocks + 1): the dialog of each position of a block if its item is wrong, and whatever
    it is; otherwise, and after the last item, n_dialogs, a dialog that is never drawn.
    """

    def __init__(self, score: Floats, correct: Bools, dialog: Ints, n_dialogs: int) -> None:
        self.n_items, self.n_dialogs = len(score), n_dialogs
        self.score = np.append(score, -np.inf)
        self.correct = np.append(correct, False)
        # Borders cost a row each when counting, positions inside a block when querying: balance the two.
        self.size = max(4, round((self.n_items / 20) ** 0.5))
        self.n_blocks = -(-self.n_items // self.size)
        dialogs = np.full(((self.n_blocks + 1) * self.size, 2), n_dialogs)
        dialogs[: self.n_items, WRONG] = np.where(correct, n_dialogs, dialog)
        dialogs[: self.n_items, ACCEPTED] = dialog
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
        """(2 n_blocks, n_dialogs + 1) sparse: wrong items and all items of each dialog in each block."""
        # Importing it is slow, and single scores do not need it.
        from scipy import sparse

        dialogs = self.dialogs[:, :, :-1].transpose(2, 1, 0).reshape(-1, self.size)
        drawn = dialogs < self.n_dialogs
        offsets = offsets_from_lengths(np.count_nonzero(drawn, axis=1))
        once = np.ones(int(offsets[-1]), dtype=np.int16)
        return sparse.csr_array(
            (once, dialogs[drawn], offsets), shape=(2 * self.n_blocks, self.n_dialogs + 1)
        )


class RunningCounts:
    """Wrong items and all items before each position, in each of n samples.

    weights (n, n_dialogs): integers.   Arrays (k, n) below hold k searches in each sample.
    """

    def __init__(self, ranking: Ranking, weights: npt.NDArray[Any]) -> None:
        self.ranking = ranking
        self.n_samples = len(weights)
        # Small integers are several times as fast; none of the sums below can overflow them.
        largest = int(weights.max(initial=0))
        small = np.int16 if largest * ranking.size < 2**15 else np.int64
        whole = np.int32 if largest * ranking.n_items < 2**31 else np.int64
        self._weights = np.zeros((ranking.n_dialogs + 1, self.n_samples), dtype=small)
        self._weights[:-1] = weights.astype(small).T
        # (n_blocks + 1, 2, n) wrong items and all items before each border.
        self._borders = np.zeros((ranking.n_blocks + 1, 2, self.n_samples), dtype=whole)
        self._borders[1:] = (ranking.block_sums @ self._weights).reshape(ranking.n_blocks, 2, self.n_samples)
        _accumulate(self._borders)
        self._samples = np.arange(self.n_samples)
        self.total: Floats = self._borders[-1, ACCEPTED].astype(float)
        self.right: Floats = self.total - self._borders[-1, WRONG]

    def before(self, position: Ints) -> Points:
        """(k, n) positions -> the points that accept all items before them."""
        block, offset = np.divmod(position, self.ranking.size)
        wrong, accepted = (
            np.take_along_axis(self._inside(block, column), offset[None], axis=0)[0]
            for column in (WRONG, ACCEPTED)
        )
        return Points(accepted - wrong, wrong, self.right, self.total)

    def longest(self, most: Floats | Ints, column: Ints | int = ACCEPTED) -> Ints:
        """(k, n) the last position before which there are at most so many items; 0 also if there is none.

        most (k, n).   column: WRONG or ACCEPTED, which items each search (k, 1) counts.
        """
        # Limits of integers are integers, which are compared faster.
        limit = np.floor(most).astype(self._borders.dtype)
        nothing = np.zeros(limit.shape, dtype=np.int64)
        block = last_that_meets(
            lambda block: self._border(block, column) <= limit, nothing, self.ranking.n_blocks + 1
        )
        more = np.count_nonzero(self._inside(block, column)[1:] <= limit, axis=0)
        return np.asarray(np.minimum(block * self.ranking.size + more, self.ranking.n_items))

    def _border(self, block: Ints, column: Ints | int) -> npt.NDArray[Any]:
        """(k, n) blocks -> (k, n) counts before them."""
        return np.asarray(
            self._borders.reshape(-1).take((2 * block + column) * self.n_samples + self._samples)
        )

    def _inside(self, block: Ints, column: Ints | int) -> npt.NDArray[Any]:
        """(k, n) blocks -> (size + 1, k, n) counts before each of their positions, and after the last."""
        dialogs = self.ranking.dialogs
        index = dialogs.reshape(len(dialogs), -1).take(dialogs.shape[2] * column + block, axis=1)
        index *= self.n_samples
        index += self._samples
        counts = np.empty((len(dialogs) + 1, *block.shape), dtype=self._borders.dtype)
        counts[0] = self._border(block, column)
        counts[1:] = self._weights.reshape(-1).take(index)
        return _accumulate(counts)


def _accumulate(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Running sums of rows, in place; numpy's own works column by column, which defeats the cache."""
    for before, row in pairwise(rows):
        np.add(before, row, out=row)
    return rows


class FirstPoints(ABC):
    """The first points of a rule, in every sample."""

    fewest: ClassVar[int]
    """Items that a curve needs."""

    def __init__(self, counts: RunningCounts) -> None:
        self.counts = counts

    def first(self, conditions: Sequence[Condition]) -> list[Points]:
        """Of every condition (n,) the first points that meet it; NaN where there is none."""
        counts = self.counts
        most = np.stack([condition.most(counts.right, counts.total) for condition in conditions])
        column = np.array([[condition.limits] for condition in conditions])
        rows = _rows(self._found(conditions, counts.longest(most, column)))
        points = []
        for condition, row in zip(conditions, rows, strict=True):
            exists = (counts.total >= self.fewest) & condition.meets(row)
            right, wrong = (np.where(exists, side, np.nan) for side in (row.true_accept, row.false_accept))
            points.append(Points(right, wrong, row.right, row.total))
        return points

    @abstractmethod
    def _found(self, conditions: Sequence[Condition], longest: Ints) -> Points:
        """(k, n) the rule's points; longest (k, n): the last position that meets each condition."""


class Dstc1Points(FirstPoints):
    """Points at evenly spaced thresholds between the scores of the items that were drawn."""

    fewest = FEWEST_DSTC1

    def _found(self, conditions: Sequence[Condition], longest: Ints) -> Points:
        ranking = self.counts.ranking
        # The first item that must not be accepted; equals are accepted together or not at all.
        number = self._first_above(ranking.score[longest])
        reached = ranking.n_items - np.searchsorted(ranking.ascending, threshold(number, *self._scale))
        return self.counts.before(np.where(number == N_THRESHOLDS - 1, 0, reached))

    @cached_property
    def _scale(self) -> tuple[Floats, Floats]:
        """(n,) the lowest threshold, and the step to the next."""
        total = self.counts.total
        first, last = self.counts.longest(np.stack([np.zeros(len(total)), total - 1.0]))
        # Where nothing was drawn there is no threshold, and hence no point.
        score, drawn = self.counts.ranking.score, total > 0
        lowest, highest = np.where(drawn, score[last], 0.0), np.where(drawn, score[first], 0.0)
        return lowest, threshold_step(lowest, highest)

    def _first_above(self, score: Floats) -> Ints:
        """(k, n) the first threshold above a score, at most the last, which rejects everything."""
        last = N_THRESHOLDS - 1
        lowest, step = self._scale

        def is_reached(number: Ints) -> Bools:
            return np.asarray(threshold(number, lowest, step) <= score)

        # Division gives the approximate position; comparing with the thresholds decides.
        guess = np.clip((score - lowest) / np.where(step > 0, step, 1.0), 0.0, last).astype(np.int64)
        low, width = guess - 2, 4
        if is_reached(low + width).any() or not (is_reached(low) | (low < 0)).all():
            low, width = np.full_like(guess, -1), N_THRESHOLDS + 1
        return np.clip(last_that_meets(is_reached, low, width) + 1, 0, last)


class Dstc2Points(FirstPoints):
    """Points up to and including the first item of each run of equal scores, and one that accepts all.

    An item that was drawn w times occurs w times in its run, so the point at its first copy accepts just one.
    """

    fewest = FEWEST_DSTC2

    def _found(self, conditions: Sequence[Condition], longest: Ints) -> Points:
        counts, ranking = self.counts, self.counts.ranking
        # `longest` is the first item all of whose copies are too many.
        start = ranking.run_start[longest]
        before_run, before_item = counts.before(start), counts.before(longest)
        # Where nothing of its run was drawn before it, the run's point accepts one copy of it; if that is too
        # much, the point is that of the run drawn last before.
        begins = before_run.accepted == before_item.accepted
        one = _rows(self._one_more(before_item, longest))
        too_much = begins & ~np.stack(
            [condition.meets(points) for condition, points in zip(conditions, one, strict=True)]
        )
        previous = self._holder(before_run.accepted)
        start = np.where(too_much, ranking.run_start[previous], start)
        before_run = counts.before(start)
        point = self._one_more(before_run, self._holder(before_run.accepted + 1))
        everything = longest == ranking.n_items
        return Points(
            np.where(everything, before_item.true_accept, point.true_accept),
            np.where(everything, before_item.false_accept, point.false_accept),
            point.right,
            point.total,
        )

    def _holder(self, copy: Ints) -> Ints:
        """(k, n) the item that the given copy belongs to, counted from 1 at the top of the ranking."""
        return self.counts.longest(copy - 1)

    def _one_more(self, point: Points, item: Ints) -> Points:
        """The point that accepts one more copy of an item."""
        correct = self.counts.ranking.correct[item]
        return Points(point.true_accept + correct, point.false_accept + ~correct, point.right, point.total)


CURVES: dict[RocPoints, Callable[[Floats, Bools], Points | None]] = {
    "even_thresholds": dstc1_curve,
    "distinct_scores": dstc2_curve,
}
FIRST_POINTS: dict[RocPoints, type[FirstPoints]] = {
    "even_thresholds": Dstc1Points,
    "distinct_scores": Dstc2Points,
}


def _rows(points: Points) -> list[Points]:
    """(k, n) points one search after the other."""
    counts = zip(points.true_accept, points.false_accept, strict=True)
    return [Points(true, false, points.right, points.total) for true, false in counts]
