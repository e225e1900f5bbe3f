"""Ranking a tracker's hypotheses, None included, by the rules of each challenge.

The float operations and their order decide ties; both rules follow the challenges' own scorers to the last
bit (SCORING: DSTC1 "Common", DSTC2 "None's score").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints, add_in_order, count_per_row, row_of_each

ROUNDING = 1e-5
"""A sum above 1 by less than this is a rounding error, normalised without a report."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """A ranked order of the hypotheses of n items, None included.

    offsets (n + 1,).   source (h + n,): the index of the given hypothesis, -1 for None.   score (h + n,).
    negative (h,): given hypotheses with a score below 0.   excess (n,): items that sum above 1, not
    just by rounding.   total (n,): what they sum to.
    """

    offsets: Ints
    source: Ints
    score: Floats
    negative: Bools
    excess: Bools
    total: Floats

    @property
    def none(self) -> Bools:
        return self.source < 0


RankingRule = Callable[[Ints, Floats], Ranking]


def rank_dstc1(offsets: Ints, score: Floats) -> Ranking:
    """Sort by raw score, clip negatives, None = 1 minus each in turn; None comes before its equals."""
    order = _descending_order(offsets, score)
    negative = score < 0
    ranked = score[order]
    clipped = np.where(ranked < 0, 0.0, ranked)
    rest = add_in_order(clipped, offsets, start=1.0, sign=-1.0)
    total = add_in_order(clipped, offsets)
    over = rest < 0
    if over.any():
        row = row_of_each(offsets)
        clipped = np.where(over[row], clipped / np.where(over, total, 1.0)[row], clipped)
    none = np.where(over, 0.0, rest)
    before = count_per_row(clipped > none[row_of_each(offsets)], offsets)
    return _insert_none(offsets, order, clipped, none, before, negative, total - 1.0 >= ROUNDING, total)


def rank_dstc2(offsets: Ints, score: Floats) -> Ranking:
    """Sum in the file's order; above 1 divides, else None has the rest; None comes after its equals."""
    total = add_in_order(score, offsets)
    over = total > 1.0
    scaled = score
    if over.any():
        row = row_of_each(offsets)
        scaled = np.where(over[row], score / np.where(over, total, 1.0)[row], score)
    none = np.where(over, 0.0, 1.0 - total)
    order = _descending_order(offsets, scaled)
    ranked = scaled[order]
    before = count_per_row(ranked >= none[row_of_each(offsets)], offsets)
    return _insert_none(offsets, order, ranked, none, before, score < 0, total - 1.0 >= ROUNDING, total)


def _descending_order(offsets: Ints, score: Floats) -> Ints:
    """Indices that sort each row by descending score, equals in the order given."""
    order = np.arange(len(score))
    if len(score) < 2:
        return order
    # Most files are sorted already; only the rows that are not are worth sorting.
    rising = score[1:] > score[:-1]
    rising[offsets[1:-1][(offsets[1:-1] > 0) & (offsets[1:-1] < len(score))] - 1] = False
    if not rising.any():
        return order
    unsorted = np.zeros(len(offsets) - 1, dtype=bool)
    row = row_of_each(offsets)
    unsorted[row[:-1][rising]] = True
    flat = np.flatnonzero(unsorted[row])
    order[flat] = flat[np.lexsort((-score[flat], row[flat]))]
    return order


def _insert_none(
    offsets: Ints,
    order: Ints,
    ranked: Floats,
    none: Floats,
    before: Ints,
    negative: Bools,
    excess: Bools,
    total: Floats,
) -> Ranking:
    """Insert None after the `before` best hypotheses of each row."""
    n_rows = len(offsets) - 1
    row = row_of_each(offsets)
    at_none = offsets[:-1] + np.arange(n_rows) + before
    position = np.arange(len(ranked)) - offsets[row]
    target = np.arange(len(ranked)) + row + (position >= before[row])
    source = np.full(len(ranked) + n_rows, -1, dtype=np.int64)
    score = np.empty(len(ranked) + n_rows)
    source[target], score[target], score[at_none] = order, ranked, none
    return Ranking(offsets + np.arange(n_rows + 1), source, score, negative, excess, total)
