"""Panels made by hand, of whole systems: no parts and no influence."""

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
