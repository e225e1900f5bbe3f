"""Means over the turns of a state-set tracker, F1, how they correlate, and scores from one's own table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.state_sets import StateSets
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.metrics.definition import Mean, Metric, TurnMean, check_choice, parse_metric, ratio
from extrinsic.metrics.state_items import ALL, StateItems, table_of_states


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


KIM_METRICS = ("jga", "slot_accuracy", "slot_f1", "relative_slot_accuracy")


@dataclass(frozen=True, eq=False)
class TurnCorrelation:
    """Pearson correlations (k, k) over turns, NaN where a metric is constant; n (k, k) turns of each pair."""

    metrics: tuple[str, ...]
    correlation: Floats
    n: Floats

    def as_rows(self) -> list[dict[str, Any]]:
        return [
            {
                "metric": first,
                "other": second,
                "correlation": None if np.isnan(self.correlation[i, j]) else float(self.correlation[i, j]),
                "n": int(self.n[i, j]),
            }
            for i, first in enumerate(self.metrics)
            for j, second in enumerate(self.metrics)
        ]


def turn_correlation(
    states: StateSets, metrics: Sequence[str] = KIM_METRICS, component: str = ALL
) -> TurnCorrelation:
    """Correlate the turn scores of metrics; a pair leaves out turns that one of them does not score."""
    table = table_of_states(states)
    if component not in table.components:
        raise UsageError(f"there is no component {component!r}; {did_you_mean(component, table.components)}")
    items = table.select(component, 1)
    parsed = [parse_metric(metric) for metric in metrics]
    scores = np.stack([_turn_scores(metric, items) for metric in parsed])
    size = len(parsed)
    correlation, n = np.full((size, size), np.nan), np.zeros((size, size))
    for i in range(size):
        for j in range(size):
            both = ~np.isnan(scores[i]) & ~np.isnan(scores[j])
            n[i, j] = both.sum()
            correlation[i, j] = _pearson(scores[i, both], scores[j, both])
            if i == j and not np.isnan(correlation[i, j]):
                correlation[i, j] = 1.0
    return TurnCorrelation(tuple(map(str, parsed)), correlation, n)


def _turn_scores(metric: Metric, items: StateItems) -> Floats:
    if not isinstance(metric, TurnMean | SlotF1):
        raise UsageError(f"the metric {metric} has no score for a single turn")
    return metric.turn_scores(items)


def _pearson(first: Floats, second: Floats) -> float:
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return np.nan
    return float(np.corrcoef(first, second)[0, 1])
