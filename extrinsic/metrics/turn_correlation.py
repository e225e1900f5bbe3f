"""How metrics agree turn by turn: correlations of their scores over turns (Kim et al. 2022, Fig. 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.state_sets import StateSets
from extrinsic.errors import UsageError
from extrinsic.metrics.parsing import parse_metric
from extrinsic.metrics.state_tables import ALL, table_of_states

KIM_METRICS = ("jga", "slot_accuracy", "slot_f1", "relative_slot_accuracy")


@dataclass(frozen=True)
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
    """Correlate the scores that metrics give to turns; a pair leaves out turns that one does not score."""
    items = table_of_states(states).select(component, 1)
    parsed = [parse_metric(metric) for metric in metrics]
    for metric in parsed:
        if not hasattr(metric, "turn_scores"):
            raise UsageError(f"the metric {metric} has no score for a single turn")
    scores = np.stack([np.asarray(metric.turn_scores(items)) for metric in parsed])  # type: ignore[union-attr]
    size = len(parsed)
    correlation, n = np.full((size, size), np.nan), np.zeros((size, size))
    for i in range(size):
        for j in range(size):
            both = ~np.isnan(scores[i]) & ~np.isnan(scores[j])
            n[i, j] = both.sum()
            correlation[i, j] = _pearson(scores[i, both], scores[j, both])
    return TurnCorrelation(tuple(map(str, parsed)), correlation, n)


def _pearson(first: Floats, second: Floats) -> float:
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return np.nan
    return float(np.corrcoef(first, second)[0, 1])
