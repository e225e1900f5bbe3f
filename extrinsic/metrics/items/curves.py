"""Additive ROC statistics: the scores of items, and operating points of weighted sums of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from extrinsic.arrays import Bools, Floats, Ids, Ints
from extrinsic.corpus.conventions import RocPoints
from extrinsic.metrics.items.operating_points import (
    Condition,
    Points,
    dstc1_curve,
    dstc2_curve,
    first_on_curve,
)
from extrinsic.metrics.items.resampled_points import Dstc1Points, Dstc2Points, Ranking, RunningCounts

CURVES: dict[RocPoints, Callable[[Floats, Bools, Floats], Points | None]] = {
    "even_thresholds": dstc1_curve,
    "distinct_scores": dstc2_curve,
}
RESAMPLED: dict[RocPoints, type[Dstc1Points | Dstc2Points]] = {
    "even_thresholds": Dstc1Points,
    "distinct_scores": Dstc2Points,
}

BLOCK = 1_000
"""Rows of weights per batch: enough to amortise a numpy call, few enough for the cache."""

MERGED = 1 << 16
"""Counts of the longest run that are merged at once."""


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
        return Totals(self, np.ones(self.n_dialogs))

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


class RocCounts:
    """How often each score was right and wrong in dialogs so far; of equals, which was first.

    A curve needs no more of many dialogs: it accepts the first of a run of equal scores, or all of them.
    """

    def __init__(self, points: RocPoints) -> None:
        self.points = points
        self._merged = _no_counts()
        self._parts: list[Counts] = []

    def add(self, statistics: RocStatistics) -> None:
        """The items of the next dialogs."""
        order = slice(None) if self.points == "distinct_scores" else score_order(statistics.score)
        items = statistics.score[order], statistics.correct[order]
        self._parts.append(_counted(*items, np.ones(len(items[0]), dtype=np.int32)))
        # Merged whenever they have become half as many: each item is merged a few times in all.
        if 2 * sum(len(score) for score, _, _ in self._parts) > len(self._merged[0]):
            self._merge()

    def _merge(self) -> None:
        self._merged, self._parts = _merged([self._merged, *self._parts]), []

    def totals(self) -> Totals:
        """Every item once."""
        self._merge()
        score, correct, count = self._merged
        statistics = RocStatistics(self.points, len(score), score, correct, np.arange(len(score)))
        return Totals(statistics, count)


Counts = tuple[Floats, Bools, Ids]
"""Score, whether it is right, how often."""


def _no_counts() -> Counts:
    return np.empty(0), np.empty(0, dtype=bool), np.empty(0, dtype=np.int32)


def _merged(runs: Sequence[Counts]) -> Counts:
    """The counts of runs that are each sorted; of equals, those of earlier runs come first.

    By ranges of scores: what is needed besides the counts themselves does not grow with them.
    """
    cuts = max((score for score, _, _ in runs), key=len)[MERGED::MERGED]
    at_least = [len(score) - np.searchsorted(score[::-1], cuts) for score, _, _ in runs]
    bounds = [[0, *ends.tolist(), len(run[0])] for run, ends in zip(runs, at_least, strict=True)]
    pieces = []
    for number in range(len(cuts) + 1):
        parts = [
            [column[bound[number] : bound[number + 1]] for column in run]
            for run, bound in zip(runs, bounds, strict=True)
        ]
        score, correct, count = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        order = score_order(score)
        pieces.append(_counted(score[order], correct[order], count[order]))
    score, correct, count = (np.concatenate(columns) for columns in zip(*pieces, strict=True))
    return score, correct, count


def _counted(score: Floats, correct: Bools, count: Ids) -> Counts:
    """Items by descending score: those of equal score that are all right, or all wrong, become one.

    Which of the two comes first is kept.
    """
    if not len(score):
        return _no_counts()
    begins = np.ones(len(score), dtype=bool)
    begins[1:] = score[1:] != score[:-1]
    first = np.flatnonzero(begins)
    run = np.cumsum(begins) - 1
    group = 2 * run + (correct != correct[first][run])
    counts = np.bincount(group, weights=count, minlength=2 * len(first)).astype(np.int32)
    kept = np.flatnonzero(counts)
    is_right: Bools = correct[first][kept // 2] ^ (kept % 2 == 1)
    return score[first][kept // 2], is_right, counts[kept]


@dataclass(frozen=True, eq=False)
class Totals:
    """Items with the weights of their dialogs: weights (..., n_dialogs)."""

    statistics: RocStatistics
    weights: npt.NDArray[Any]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.weights.shape[:-1]

    def __add__(self, other: Totals) -> Totals:
        weights = np.concatenate([self.weights, other.weights], axis=-1)
        return Totals(self.statistics.joined(other.statistics), weights)

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
        if missing:
            # 0 / 0 is NaN: where there is no item, no condition is met.
            with np.errstate(divide="ignore", invalid="ignore"):
                self._first.update(zip(missing, self._find(missing), strict=True))

    def _find(self, conditions: Sequence[Condition]) -> list[Points]:
        if self.weights.ndim > 1 and self._are_counts:
            parts = [points.first(conditions) for points in self._resampled]
            if len(parts) == 1 and self.weights.ndim == 2:
                return parts[0]
        else:
            parts = [[first_on_curve(curve, condition) for condition in conditions] for curve in self.curves]
            if self.weights.ndim == 1:
                return parts[0]
        return [self._whole([part[number] for part in parts]) for number in range(len(conditions))]

    def _whole(self, parts: Sequence[Points]) -> Points:
        """The points of all rows of weights."""
        columns = ([getattr(points, field.name) for points in parts] for field in fields(Points))
        return Points(*(np.hstack([np.empty(0), *column]).reshape(self.shape) for column in columns))

    @cached_property
    def _first(self) -> dict[Condition, Points]:
        return {}

    @cached_property
    def _are_counts(self) -> bool:
        """Whether the weights are counts of draws; with other weights each row needs its own curve."""
        whole = self.weights.dtype.kind in "biu" or np.array_equal(self.weights, np.floor(self.weights))
        return whole and bool((self.weights >= 0).all())

    @cached_property
    def _rows(self) -> npt.NDArray[Any]:
        return self.weights.reshape(int(np.prod(self.shape)), self.weights.shape[-1])

    @cached_property
    def _resampled(self) -> list[Dstc1Points | Dstc2Points]:
        """Running counts of many rows, shared by all conditions: 8 bytes a row for every few items."""
        make = RESAMPLED[self.statistics.points]
        ranking, rows = self.statistics.ranking, self._rows
        return [
            make(RunningCounts(ranking, rows[begin : begin + BLOCK])) for begin in range(0, len(rows), BLOCK)
        ]

    @cached_property
    def curves(self) -> list[Points | None]:
        """One curve for each row of weights, None where there are too few items."""
        make = CURVES[self.statistics.points]
        score, correct = self.statistics.score, self.statistics.correct
        curves = []
        for row in self._rows:
            if (row == 1).all():
                # Every item once, as for single scores, needs no lookup.
                curves.append(make(score, correct, np.ones(len(score))))
                continue
            weight = row.astype(float)[self.statistics.dialog]
            kept = weight > 0
            if kept.all():
                curves.append(make(score, correct, weight))
            else:
                curves.append(make(score[kept], correct[kept], weight[kept]))
        return curves


def score_order(score: Floats) -> Ints:
    """Indices by descending score, equals in the order given."""
    return np.argsort(-score, kind="stable")
