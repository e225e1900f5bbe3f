"""The rank and score of the right value in ranked distributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints, row_of_each


@dataclass(frozen=True, eq=False)
class CorrectHypotheses:
    """Per item (n,): is the top right, its score; the rank of the first right hypothesis (0: none) and its
    score; the score of the last right one; the sum of the right ones."""

    top_correct: Bools
    top_score: Floats
    rank: Ints
    first_score: Floats
    last_score: Floats
    right_total: Floats

    @property
    def reciprocal_rank(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.where(self.rank > 0, 1.0 / self.rank, 0.0)


def find_correct(offsets: Ints, score: Floats, correct: Bools) -> CorrectHypotheses:
    """Look up the right hypotheses of ranked items."""
    n_items = len(offsets) - 1
    right = np.flatnonzero(correct)
    item = row_of_each(offsets)[right]
    first = np.ones(len(right), dtype=bool)
    first[1:] = item[1:] != item[:-1]
    last = np.ones(len(right), dtype=bool)
    last[:-1] = first[1:]
    rank = np.zeros(n_items, dtype=np.int64)
    rank[item[first]] = right[first] - offsets[item[first]] + 1
    first_score, last_score = np.zeros(n_items), np.zeros(n_items)
    first_score[item[first]] = score[right[first]]
    last_score[item[last]] = score[right[last]]
    top = offsets[:-1]
    total = np.bincount(item, weights=score[right], minlength=n_items).astype(np.float64)
    return CorrectHypotheses(correct[top], score[top], rank, first_score, last_score, total)


def sum_rows(values: Floats, offsets: Ints) -> Floats:
    """(n,) sums of rows that have at least one element, as ranked items do: None is always among them."""
    return np.asarray(np.add.reduceat(values, offsets[:-1]))
