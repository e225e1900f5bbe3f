"""The items of a belief tracker: all hypotheses of each, and a table of turns by columns.

A table has a column for each slot and other component. Everything a metric needs of an item is computed
once for the whole table; a component is some columns, a schedule is a mask, and a metric's statistics are
sums over the items that both select.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce

import numpy as np

from extrinsic.arrays import Bools, Columns, Floats, Ids, Ints, row_of_each
from extrinsic.corpus.acts import NONE
from extrinsic.corpus.conventions import RocPoints
from extrinsic.corpus.corpus import DialogTurns
from extrinsic.errors import UsageError
from extrinsic.metrics.roc_curves import RocStatistics, score_order

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
        return sum_rows(values, self.offsets)


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


def sum_rows(values: Floats | Bools, offsets: Ints) -> Floats:
    """(n,) sums of rows that have at least one element, as ranked items do: None is always among them."""
    return np.asarray(np.add.reduceat(values, offsets[:-1], dtype=np.float64))


@dataclass(frozen=True, eq=False)
class ItemTable(DialogTurns):
    """Items of one tracker under one label scheme.

    roc_points: where the points of a ROC curve lie.   label_scheme: one of the corpus's conventions.
    offsets:    (n_dialogs + 1,) turns.
    components: the columns of each component, in the order in which items of one turn come.
    schedules:  number -> (n_turns, n_columns), which items count.
    fields:     name -> (n_turns, n_columns): what metrics average.
    top_score, correct (n_turns, n_columns): of the best hypothesis.
    top, truth: (n_turns, n_columns) identities of the best hypothesis and of what is right, comparable
                within a component; None where several values can be right at once (DSTC1).
    hypotheses: all hypotheses of the columns, listed when a metric asks; empty where metrics of hypotheses
                are not defined.
    """

    roc_points: RocPoints
    label_scheme: str | None
    offsets: Ints
    components: Mapping[str, tuple[int, ...]]
    schedules: Mapping[int, Bools]
    fields: Mapping[str, Floats]
    top_score: Floats
    correct: Bools
    top: Ids | None = None
    truth: Ids | None = None
    hypotheses: tuple[HypothesisColumns, ...] = ()
    orders: dict[str, Ints] = field(default_factory=dict)
    """Cache of `order`; tables of one tracker share it, because it does not depend on the labels."""

    @cached_property
    def _sums(self) -> dict[tuple[str | None, int], Floats]:
        return {}

    def sums(self, name: str | None, schedule: int) -> Floats:
        """(n_dialogs, n_columns) sums of a field over the turns of each dialog; None counts items."""
        key = (name, schedule)
        if key not in self._sums:
            mask = self.schedules[schedule]
            values = mask if name is None else np.where(mask, self.fields[name], 0.0)
            self._sums[key] = np.add.reduceat(values, self.offsets[:-1], axis=0, dtype=np.float64)
        return self._sums[key]

    @cached_property
    def _item_scores(self) -> dict[tuple[object, int], Floats]:
        return {}

    def item_scores(self, rule: Callable[[ItemHypotheses], Floats], key: object, column: int) -> Floats:
        """(n_turns,) what a rule makes of all hypotheses of each item of a column; computed once a key."""
        number = next(i for i, part in enumerate(self.hypotheses) if column in part.columns)
        part = self.hypotheses[number]
        if (key, number) not in self._item_scores:
            scores = np.asarray(rule(part.hypotheses), dtype=np.float64)
            self._item_scores[key, number] = scores.reshape(-1, len(part.columns))
        return self._item_scores[key, number][:, part.columns.index(column)]

    def order(self, component: str) -> Ints:
        """The items of a component (turn-major) by descending top score, equals in their order."""
        if component not in self.orders:
            self.orders[component] = score_order(self.top_score[:, self.components[component]].ravel())
        return self.orders[component]

    def select(self, component: str, schedule: int) -> Items:
        return Items(self, component, schedule)


@dataclass(frozen=True, eq=False)
class Items:
    """The items of one component on one schedule: what belief metrics are computed on."""

    table: ItemTable
    component: str
    schedule: int

    @cached_property
    def columns(self) -> list[int]:
        return list(self.table.components[self.component])

    @property
    def n_dialogs(self) -> int:
        return self.table.n_dialogs

    def sum_by_dialog(self, name: str) -> Floats:
        """(n_dialogs,) sum of a field."""
        return self._add_columns(self.table.sums(name, self.schedule))

    @cached_property
    def count_by_dialog(self) -> Floats:
        return self._add_columns(self.table.sums(None, self.schedule))

    def _add_columns(self, sums: Floats) -> Floats:
        if len(self.columns) == 1:
            return np.asarray(sums[:, self.columns[0]])
        # One after the other: numpy's sum of a single dialog has another order, and so another last digit.
        return np.asarray(reduce(np.add, (sums[:, column] for column in self.columns), np.zeros(len(sums))))

    @cached_property
    def count(self) -> int:
        return int(self.count_by_dialog.sum())

    @cached_property
    def _mask(self) -> Bools:
        return np.asarray(self.table.schedules[self.schedule][:, self.columns].ravel())

    @cached_property
    def dialog_of_item(self) -> Ints:
        """(count,) the dialog of each item, in the order of `hypotheses`."""
        return self.table.dialog_of_turn[np.flatnonzero(self._mask) // len(self.columns)]

    @cached_property
    def hypotheses(self) -> ItemHypotheses:
        """All hypotheses of the items that count, turn by turn and within a turn in the columns' order."""
        parts = self.table.hypotheses
        needed = [part for part in parts if any(column in part.columns for column in self.columns)]
        where: dict[int, tuple[int, int, int]] = {}
        begin = 0
        for part in needed:
            width = len(part.columns)
            where |= {column: (begin, width, position) for position, column in enumerate(part.columns)}
            begin += len(part.hypotheses)
        chosen = np.array([where[column] for column in self.columns], dtype=np.int64).reshape(-1, 3)
        starts, widths, positions = chosen.T
        items = starts + widths * np.arange(self.table.n_turns)[:, None] + positions
        return concatenate_items([part.hypotheses for part in needed]).take(items.ravel()[self._mask])

    @cached_property
    def roc(self) -> RocStatistics:
        """Top scores; where order matters, sorted once for the component and then masked by the schedule."""
        if self.table.roc_points == "distinct_scores":
            order = self.table.order(self.component)
            order = order[self._mask[order]]
        else:
            order = np.flatnonzero(self._mask)
        return RocStatistics(
            self.table.roc_points,
            self.n_dialogs,
            self.table.top_score[:, self.columns].ravel()[order],
            self.table.correct[:, self.columns].ravel()[order],
            self.table.dialog_of_turn[order // len(self.columns)],
        )

    @cached_property
    def update_counts(self) -> Floats:
        """(n_dialogs, 4): correct updates, insertions, substitutions, deletions."""
        assert self.table.top is not None and self.table.truth is not None
        kept = np.flatnonzero(self._mask)
        top = self.table.top[:, self.columns].ravel()[kept]
        right = self.table.truth[:, self.columns].ravel()[kept]
        dialog = self.table.dialog_of_turn[kept // len(self.columns)]
        previous = np.empty_like(top)
        previous[:1] = NONE
        previous[1:] = np.where(dialog[1:] == dialog[:-1], top[:-1], NONE)
        # Bits: was right, changed, is right. What did not change is right if and only if it was.
        kind = 4 * (previous == right) + 2 * (previous != top) + (top == right)
        counts = np.bincount(dialog * 8 + kind, minlength=self.n_dialogs * 8).reshape(-1, 8)
        correct, inserted, substituted, deleted = counts[:, 3], counts[:, 6], counts[:, 2], counts[:, 0]
        return np.stack([correct, inserted, substituted, deleted], axis=1).astype(np.float64)
