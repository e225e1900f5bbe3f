"""Errors at their price: a metric whose weights are what each kind of error costs."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrinsic.arrays import Bools, Floats, row_of_each
from extrinsic.corpus.state_sets import ABSENT
from extrinsic.metrics.definition import TurnMean
from extrinsic.metrics.items.state_items import StateItems


@dataclass(frozen=True)
class Priced(TurnMean):
    """wrong, missed, overshot, stale: the price of a slot with that error; stale: it has an earlier value."""

    name: ClassVar[str] = "priced"
    formula: ClassVar[str] = (
        "-(wrong * wrong slots + missed * missed + overshot * overshot + stale * stale ones) / turns"
    )
    citation: ClassVar[str] = "extrinsic 2026, docs/populations.md: prices by dose"

    wrong: float = 1.0
    missed: float = 1.0
    overshot: float = 1.0
    stale: float = 1.0

    def turn_scores(self, items: StateItems) -> Floats:
        """(n_turns,) what the errors of each turn cost, below 0."""
        gold, predicted = items.gold != ABSENT, items.predicted != ABSENT
        differ = gold & predicted & ~items.agrees
        stale = differ & _was_gold(items, differ)
        errors = ((self.wrong, differ & ~stale), (self.stale, stale), (self.missed, gold & ~predicted))
        costs = [price * error.sum(axis=1) for price, error in (*errors, (self.overshot, predicted & ~gold))]
        return np.asarray(-np.sum(costs, axis=0))


def _was_gold(items: StateItems, asked: Bools) -> Bools:
    """(n_turns, n_slots) whether the predicted value was gold at an earlier turn, where that is asked."""
    n_turns, n_slots = items.gold.shape
    dialog = row_of_each(items.offsets)
    slot = np.arange(n_slots)
    n_values = int(max(items.gold.max(initial=0), items.predicted.max(initial=0))) + 2
    item = (dialog[:, None] * n_slots + slot) * n_values
    # The first turn at which each (dialog, slot, value) was gold.
    keys, first = np.unique((item + items.gold + 1).ravel(), return_index=True)
    was = np.zeros((n_turns, n_slots), dtype=bool)
    rows, columns = np.nonzero(asked)
    wanted = item[rows, columns] + items.predicted[rows, columns] + 1
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    was[rows, columns] = (keys[place] == wanted) & (first[place] // n_slots < rows)
    return was
