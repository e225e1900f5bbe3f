"""Means over the turns of a state-set tracker, F1, and scores from a table of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from extrinsic.arrays import Bools, Floats, row_of_each
from extrinsic.corpus.state_sets import ABSENT
from extrinsic.errors import UsageError
from extrinsic.metrics.definition import Mean, Metric, TurnMean, check_choice, ratio
from extrinsic.metrics.items.state_items import StateItems


@dataclass(frozen=True)
class JointGoalAccuracy(TurnMean):
    name: ClassVar[str] = "jga"
    formula: ClassVar[str] = "mean over turns of [G_t = P_t]"
    citation: ClassVar[str] = "Henderson et al. 2014"

    def turn_scores(self, items: StateItems) -> Floats:
        return np.asarray(items.match, dtype=np.float64)


@dataclass(frozen=True)
class TurnMatch(TurnMean):
    name: ClassVar[str] = "turn_match"
    formula: ClassVar[str] = "FGA without decay (lambda -> infinity)"
    citation: ClassVar[str] = "Dey et al. 2022"

    def turn_scores(self, items: StateItems) -> Floats:
        return np.asarray(~items.local_errors(literal=False), dtype=np.float64)


@dataclass(frozen=True)
class SlotAccuracy(TurnMean):
    """`slots`: how many slots the task has; by default as in the corpus (30 for MultiWOZ)."""

    name: ClassVar[str] = "slot_accuracy"
    formula: ClassVar[str] = "mean over turns of (T - missed - wrong) / T, a wrong value counted once"
    citation: ClassVar[str] = "Wu et al. 2019; Dey et al. 2022, eq. 1"
    positional: ClassVar[str | None] = "slots"

    slots: int | None = None

    def __post_init__(self) -> None:
        if self.slots is not None and (not isinstance(self.slots, int) or self.slots < 1):
            raise UsageError("slot_accuracy: slots must be a whole number above 0", found=str(self.slots))

    def turn_scores(self, items: StateItems) -> Floats:
        slots = items.n_known_slots if self.slots is None else self.slots
        return np.asarray((slots - items.n_differing) / slots)


@dataclass(frozen=True)
class RelativeSlotAccuracy(TurnMean):
    name: ClassVar[str] = "relative_slot_accuracy"
    formula: ClassVar[str] = "mean over turns of (T* - missed - wrong) / T*, 0 where T* = 0"
    citation: ClassVar[str] = "Kim et al. 2022, eq. 3"

    def turn_scores(self, items: StateItems) -> Floats:
        return np.where(items.n_active > 0, items.n_right / np.maximum(items.n_active, 1), 0.0)


@dataclass(frozen=True)
class AverageGoalAccuracy(TurnMean):
    name: ClassVar[str] = "average_goal_accuracy"
    formula: ClassVar[str] = "mean of |G_t & P_t| / |G_t| over turns with a nonempty G_t"
    citation: ClassVar[str] = "Rastogi et al. 2020"

    def turn_scores(self, items: StateItems) -> Floats:
        return np.where(items.n_gold > 0, items.n_right / np.maximum(items.n_gold, 1), np.nan)


@dataclass(frozen=True)
class ImprovedAverageGoalAccuracy(TurnMean):
    """`over`: `union` averages over turns with a nonempty union; `published` divides the same sum by the
    number of turns with a nonempty gold state, as the published tables do."""

    name: ClassVar[str] = "improved_average_goal_accuracy"
    formula: ClassVar[str] = "mean of |G_t & P_t| / |G_t or P_t| over turns with a nonempty union"
    citation: ClassVar[str] = "Dey et al. 2022, section 2.3"
    positional: ClassVar[str | None] = "over"

    over: str = "union"

    def __post_init__(self) -> None:
        check_choice(self.name, "way to average", self.over, ("union", "published"))

    def turn_scores(self, items: StateItems) -> Floats:
        # |G or P| counts triples: a slot with two different values is two of them.
        union = items.n_gold + items.n_predicted - items.n_right
        return np.where(union > 0, items.n_right / np.maximum(union, 1), np.nan)

    def statistics(self, items: StateItems) -> Floats:
        statistics = super().statistics(items)
        if self.over == "published":
            statistics[:, 1] = items.sum_by_dialog(items.scheduled & (items.n_gold > 0))
        return statistics


@dataclass(frozen=True)
class SlotF1(Metric):
    name: ClassVar[str] = "slot_f1"
    formula: ClassVar[str] = "2 sum |G_t & P_t| / (sum |G_t| + sum |P_t|)"
    citation: ClassVar[str] = "Kim et al. 2022"
    kind: ClassVar[str] = "state"

    def turn_scores(self, items: StateItems) -> Floats:
        """(n_turns,) F1 of single turns, 1 where both sets are empty (for comparing metrics turn by turn)."""
        either = items.n_gold + items.n_predicted
        return np.where(either > 0, 2 * items.n_right / np.maximum(either, 1), 1.0)

    def statistics(self, items: StateItems) -> Floats:
        """(n_dialogs, 2): twice the triples in both sets, and the sum of the sizes of both sets."""
        both = np.where(items.scheduled, 2 * items.n_right, 0)
        either = np.where(items.scheduled, items.n_gold + items.n_predicted, 0)
        return items.sum_by_dialog(np.stack([both, either], axis=1))

    def values(self, totals: Any) -> Floats:
        totals = np.asarray(totals)
        return ratio(totals[..., 0], totals[..., 1])


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


@dataclass(frozen=True)
class OwnScore(Mean):
    """The mean of a column over dialogs or turns; better: `higher` or `lower`."""

    name: ClassVar[str] = "own"
    formula: ClassVar[str] = "mean of a column of [scores] over its dialogs or turns"
    citation: ClassVar[str] = "the user's own, as judges are compared by Zheng et al. 2023"
    kind: ClassVar[str] = "state"
    positional: ClassVar[str | None] = "which"

    which: str
    better: str = "higher"

    def __post_init__(self) -> None:
        check_choice(self.name, "direction", self.better, ("higher", "lower"))
        object.__setattr__(self, "higher_is_better", self.better == "higher")

    def statistics(self, items: Any) -> Floats:
        raise UsageError(f"{self} comes from a table: name its file in [scores] of a study")
