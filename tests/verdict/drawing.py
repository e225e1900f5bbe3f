"""Made-up studies: metrics and targets, with and without ties, and the plainest way to centre them."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats


def draw(seed: int, *shape: int, ties: bool = False) -> Floats:
    """Numbers of a normal distribution, or (with ties) whole numbers from 0 to 3."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, shape).astype(np.float64) if ties else rng.normal(size=shape)


def draw_study(
    seed: int, n_metrics: int, n_datasets: int, n_trackers: int, ties: bool = False
) -> tuple[Floats, Floats]:
    """Metrics (n_metrics, n_datasets, n_trackers) and one target (1, n_datasets, n_trackers) they go with."""
    metrics = draw(seed, n_metrics, n_datasets, n_trackers, ties=ties)
    target = metrics[:1] + draw(seed + 1_000, 1, n_datasets, n_trackers, ties=ties)
    shift = np.arange(n_datasets)[:, None] * 3.0
    return metrics + shift, target - shift


def flattened(values: Floats, scope: str) -> Floats:
    """(n_datasets, n_trackers) -> points, less their dataset's mean if `within`; ten digits, so that equal
    distances from two means stay equal."""
    if scope == "within":
        values = np.round(values - values.mean(axis=1, keepdims=True), 10)
    return values.ravel()
