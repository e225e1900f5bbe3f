"""How metrics agree turn by turn: correlations of their scores over turns (Kim et al. 2022, Fig. 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.state_sets import StateSets
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.metrics.definition import Metric, TurnMean, parse_metric
from extrinsic.metrics.items.state_items import StateItems
from extrinsic.metrics.items.state_tables import ALL, table_of_states
from extrinsic.metrics.state_metrics import SlotF1

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
