"""Intervals of scores by resampling dialogs: weighted sums of statistics, without scoring again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.errors import UsageError
from extrinsic.metrics.definition import Metric
from extrinsic.storage import content_hash

Interval = tuple[float | None, float | None]

BLOCK = 20_000_000
"""How many products of weights and columns are in memory at once."""


def resample_dialogs(identity: str, n_dialogs: int, n_resamples: int, seed: int) -> Ints:
    """(n_resamples, n_dialogs) how often each dialog is drawn, with replacement.

    The draws depend only on the seed and the identity of the dialogs, so that every tracker and metric over
    the same dialogs gets the same resamples.
    """
    if n_resamples < 2:
        raise UsageError("a bootstrap needs at least 2 resamples", found=str(n_resamples))
    if seed < 0:
        raise UsageError("the seed of a bootstrap must be at least 0", found=str(seed))
    key = int(content_hash(identity)[:16], 16)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(key,)))
    return rng.multinomial(n_dialogs, np.full(n_dialogs, 1.0 / n_dialogs), size=n_resamples)


def resampled_values(weights: Ints, metrics: Sequence[Metric], statistics: Any) -> Floats:
    """(n_metrics, n_resamples) metrics that share their statistics, on each resample."""
    rows = max(1, BLOCK // max(1, statistics.shape[1]))
    values = np.empty((len(metrics), len(weights)))
    for begin in range(0, len(weights), rows):
        totals = weights[begin : begin + rows] @ statistics
        for position, metric in enumerate(metrics):
            values[position, begin : begin + rows] = metric.values(totals)
    return values


def percentile_interval(values: Floats, level: float = 0.95) -> Interval:
    """The interval that contains the middle of the values; None where every resample is undefined."""
    values = values[~np.isnan(values)]
    if len(values) == 0:
        return None, None
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
