"""Panels made by hand, of whole systems: no parts and no influence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.panel import N_DRAWS, Dataset, MetricKey, Note, Panel, System, Target


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
    return Panel(
        systems=tuple(System(each) if isinstance(each, str) else each for each in systems),
        datasets=tuple(Dataset(each) if isinstance(each, str) else each for each in datasets),
        metrics=tuple(metrics),
        targets=tuple(targets),
        scores=scores,
        counts=np.ones(scores.shape, dtype=np.int64),
        values=values,
        low=values - 10.0,
        high=values + 10.0,
        agreement=np.full((s, s), np.nan) if agreement is None else agreement,
        parts=[np.zeros((len(metrics), s, 0), np.float32)] * d,
        draws=[np.zeros((0, s, N_DRAWS), np.float32)] * d,
        influence=[np.zeros((0, s, 0))] * d,
        caller_influence=[np.zeros((0, s, 0))] * d,
        notes=tuple(notes),
        words={"q_range": "Q is outside the returns that a dialog can have"},
    )
