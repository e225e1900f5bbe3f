"""Made-up studies with and without ties, and panels of whole systems: no parts and no influence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.panel import Dataset, MetricKey, Note, Panel, System, Target


def made_panel(
    systems: Sequence[System | str],
    targets: Sequence[Target],
    datasets: Sequence[Dataset | str] = ("d",),
    metrics: Sequence[MetricKey] = (),
    scores: Floats | None = None,
    values: Floats | None = None,
    notes: Sequence[Note] = (),
    agreement: Floats | None = None,
) -> Panel:
    """scores (M, D, S), values (T, D, S): 0 unless said."""
    d, s = len(datasets), len(systems)
    scores = np.zeros((len(metrics), d, s)) if scores is None else scores
    values = np.zeros((len(targets), d, s)) if values is None else values
    return Panel.of(
        (System(each) if isinstance(each, str) else each for each in systems),
        (Dataset(each) if isinstance(each, str) else each for each in datasets),
        metrics,
        targets,
        scores=scores,
        counts=np.ones(scores.shape, dtype=np.int64),
        values=values,
        low=values - 10.0,
        high=values + 10.0,
        notes=tuple(notes),
        words={"q_range": "Q is outside the returns that a dialog can have"},
        **({} if agreement is None else {"agreement": agreement}),
    )


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
