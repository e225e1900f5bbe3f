"""All hypotheses of items, and the rank and score of the right ones among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from extrinsic.arrays import Bools, Columns, Floats, Ints, row_of_each
from extrinsic.errors import UsageError

MOST_PRODUCTS = 50_000_000
"""Hypotheses of an independent joint that are listed; beyond that memory runs out."""


@dataclass(frozen=True, eq=False)
class ItemHypotheses(Columns):
    """Scored hypotheses of n items, None among them, best first within an item.

    offsets (n + 1,).   score, correct, is_none (h,): scores as the ranking rule leaves them (None has the
    rest); several hypotheses of an item can be correct (DSTC1), or none of those listed.
    """

    offsets: Ints
    score: Floats
    correct: Bools
    is_none: Bools

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def sum_by_item(self, values: Floats | Bools) -> Floats:
        """(n,) sums of (h,) values over the hypotheses of each item."""
        return np.asarray(np.add.reduceat(values, self.offsets[:-1], dtype=np.float64))


@dataclass(frozen=True, eq=False)
class HypothesisColumns:
    """The hypotheses of some columns of a table, listed when a metric first asks for them.

    listing: makes them, items turn-major: item = turn * len(columns) + position.
    """

    columns: tuple[int, ...]
    listing: Callable[[], ItemHypotheses]

    @cached_property
    def hypotheses(self) -> ItemHypotheses:
        return self.listing()


def brier_scores(hypotheses: ItemHypotheses) -> Floats:
    """(n,) squared distance between the scores and 1 at the correct position, 0 elsewhere.

    (1 - c)^2 + sum of the squared scores of wrong hypotheses, c the total score of correct ones: they stand
    at one position, as they do in DSTC1's own L2. Where no listed hypothesis is correct, the correct one is
    not listed and has score 0, so the distance has 1 for it: 1 + sum of all squared scores.
    """
    right = hypotheses.sum_by_item(np.where(hypotheses.correct, hypotheses.score, 0.0))
    wrong = np.where(hypotheses.correct, 0.0, hypotheses.score)
    return np.asarray((1.0 - right) ** 2 + hypotheses.sum_by_item(wrong**2))


def concatenate_items(parts: Sequence[ItemHypotheses]) -> ItemHypotheses:
    """The items of several parts, one part behind the other."""
    if not parts:
        return ItemHypotheses(np.zeros(1, np.int64), np.zeros(0), np.zeros(0, bool), np.zeros(0, bool))
    return parts[0] if len(parts) == 1 else ItemHypotheses.joined(parts)


def products_of_slots(slots: ItemHypotheses, n_slots: int, turns: Ints) -> ItemHypotheses:
    """(k,) turns -> their joint hypotheses as if the slots were independent, best first.

    Every combination of one hypothesis a slot: the product of the scores, correct when all are, None when
    all are None.
    """
    lengths = np.diff(slots.offsets).reshape(-1, n_slots)[turns]
    sizes = lengths.astype(np.float64).prod(axis=1)
    if sizes.sum() > MOST_PRODUCTS:
        raise UsageError(
            f"the joint of independent slots has {sizes.sum():,.0f} hypotheses, too many to list",
            expected=f"at most {MOST_PRODUCTS:,}; leave that component out (--component)",
        )
    offsets = np.concatenate([[0], np.cumsum(lengths.prod(axis=1))]).astype(np.int64)
    row = row_of_each(offsets)
    rest = np.arange(offsets[-1]) - offsets[row]
    score = np.ones(offsets[-1])
    correct, is_none = np.ones(offsets[-1], dtype=bool), np.ones(offsets[-1], dtype=bool)
    starts = slots.offsets[:-1].reshape(-1, n_slots)[turns]
    for slot in range(n_slots):
        rest, digit = np.divmod(rest, lengths[row, slot])
        at = starts[row, slot] + digit
        score *= slots.score[at]
        correct &= slots.correct[at]
        is_none &= slots.is_none[at]
    order = np.lexsort((-score, row))
    return ItemHypotheses(offsets, score[order], correct[order], is_none[order])


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
