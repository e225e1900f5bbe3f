"""Intervals of scores by resampling dialogs: weighted sums of statistics, never a second scoring."""

from __future__ import annotations

from typing import Any

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.errors import UsageError
from extrinsic.metrics.definition import Metric

BLOCK = 20_000_000
"""Weights times columns held in memory at once."""


class Resampler:
    """The same resamples of dialogs for every metric, so that scores can be compared resample by resample."""

    def __init__(self, n_dialogs: int, n_resamples: int, seed: int) -> None:
        if n_resamples < 2:
            raise UsageError("a bootstrap needs at least 2 resamples", found=str(n_resamples))
        if seed < 0:
            raise UsageError("the seed of a bootstrap must be at least 0", found=str(seed))
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(n_dialogs,)))
        self.weights = rng.multinomial(n_dialogs, np.full(n_dialogs, 1.0 / n_dialogs), size=n_resamples)
        self._last: tuple[Any, list[Any]] | None = None

    def values(self, metric: Metric, statistics: Any) -> Floats:
        """(n_resamples,) the metric on each resample."""
        if self._last is None or self._last[0] is not statistics:
            rows = max(1, BLOCK // max(1, statistics.shape[1]))
            blocks = [self.weights[begin : begin + rows] for begin in range(0, len(self.weights), rows)]
            self._last = (statistics, [block @ statistics for block in blocks])
        return np.concatenate([metric.values(totals) for totals in self._last[1]])

    def interval(
        self, metric: Metric, statistics: Any, level: float = 0.95
    ) -> tuple[float | None, float | None]:
        """The percentile interval, over the resamples that have a value."""
        values = self.values(metric, statistics)
        values = values[~np.isnan(values)]
        if len(values) == 0:
            return None, None
        low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)
