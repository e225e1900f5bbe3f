"""Resamples of dialogs, of trackers, and of both.

Dialogs are drawn within each dataset, the same for all trackers and targets. Trackers are drawn once for all
datasets: a tracker is the same unit wherever it was run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.errors import UsageError
from extrinsic.storage import content_hash
from extrinsic.verdict.coefficients import Coefficient, Scope, correlate, numbers_per_row

Resampled = Literal["dialogs", "trackers", "both"]
WAYS: tuple[Resampled, ...] = ("dialogs", "trackers", "both")

BLOCK = 400_000
"""Metric values (or signs of pairs of them) at once: several arrays of so many stay in the cache."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Metrics and targets as observed, and on every resample of dialogs.

    metrics (n_metrics, n_datasets, n_trackers), targets (n_targets, n_datasets, n_trackers).
    metrics_drawn, targets_drawn: the same with n_resamples in front.
    """

    metrics: Floats
    targets: Floats
    metrics_drawn: Floats
    targets_drawn: Floats

    @staticmethod
    def of_trackers(metrics: Floats, targets: Floats, n_resamples: int) -> Sample:
        """For resamples of trackers alone: dialogs are as observed on every resample (no copies)."""
        drawn = [np.broadcast_to(values, (n_resamples, *values.shape)) for values in (metrics, targets)]
        return Sample(metrics, targets, *drawn)

    def take_trackers(self, chosen: Ints) -> Sample:
        return Sample(
            self.metrics[..., chosen],
            self.targets[..., chosen],
            self.metrics_drawn[..., chosen],
            self.targets_drawn[..., chosen],
        )

    def take_targets(self, first: int) -> Sample:
        """Only the first targets."""
        return Sample(self.metrics, self.targets[:first], self.metrics_drawn, self.targets_drawn[:, :first])

    @property
    def n_resamples(self) -> int:
        return len(self.metrics_drawn)

    @property
    def n_trackers(self) -> int:
        return int(self.metrics.shape[-1])


def draw_trackers(identity: str, n_trackers: int, n_resamples: int, seed: int) -> Ints:
    """(n_resamples, n_trackers) which trackers are drawn, with replacement, never fewer than two of them."""
    if n_trackers < 2:
        raise UsageError("resampling needs at least two trackers", found=str(n_trackers))
    rng = rng_of("trackers", identity, seed)
    drawn = rng.integers(0, n_trackers, (n_resamples, n_trackers))
    while (alone := (drawn == drawn[:, :1]).all(axis=1)).any():
        drawn[alone] = rng.integers(0, n_trackers, (int(alone.sum()), n_trackers))
    return drawn


def rng_of(purpose: str, identity: str, seed: int) -> np.random.Generator:
    """A generator that depends on its purpose, identity and seed only."""
    key = int(content_hash(purpose, identity)[:16], 16)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(key,)))


def resampled_correlations(
    sample: Sample, coefficient: Coefficient, scope: Scope, way: Resampled, drawn: Ints
) -> Floats:
    """(n_resamples, n_metrics, n_targets) the coefficient on every resample; `drawn`: of the trackers."""
    parts = []
    for begin, end in _blocks(
        sample.n_resamples, numbers_per_row(sample.metrics, coefficient) * len(sample.metrics)
    ):
        rows = slice(begin, end)
        metrics = sample.metrics[None] if way == "trackers" else sample.metrics_drawn[rows]
        targets = sample.targets[None] if way == "trackers" else sample.targets_drawn[rows]
        if way != "dialogs":
            metrics, targets = _taken(metrics, drawn[rows]), _taken(targets, drawn[rows])
        parts.append(correlate(metrics, targets, coefficient, scope))
    return np.concatenate(parts)


def _taken(values: Floats, drawn: Ints) -> Floats:
    """(n, ..., n_trackers) the trackers drawn (n, n_trackers), of values with n or 1 in front."""
    spread = np.broadcast_to(values, (len(drawn), *values.shape[1:]))
    # Several times as fast as take_along_axis, which makes an index for every value.
    return np.stack([row.take(chosen, axis=-1) for row, chosen in zip(spread, drawn, strict=True)])


def _blocks(total: int, size: int) -> Iterator[tuple[int, int]]:
    step = max(1, BLOCK // max(1, size))
    for begin in range(0, total, step):
        yield begin, min(begin + step, total)
