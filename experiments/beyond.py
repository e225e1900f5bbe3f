"""Does a metric tell more of the learned policy than what the logged one earned already tells?

Both returns judge the same tracker's beliefs; a metric may foretell no more than that. So: its correlation
with the learned policy's return given the logged one's, and with what was gained.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experiments.tables import estimate_row, side
from extrinsic.arrays import Floats
from extrinsic.correlation.estimate import Estimate
from extrinsic.correlation.partial import partial_estimate

RETURN, LOG, GAIN = range(3)
KINDS = {"given": "given the logged return", "gain": "with the gain"}


def with_logged(metrics: Floats, learned: Floats, logged: Floats) -> tuple[Floats, Floats]:
    """(..., n + 1, D, T) the metrics (..., n, D, T) and the logged return (..., D, T); and the targets."""
    targets = np.stack([learned, logged, learned - logged], axis=-3)
    return np.concatenate([metrics, logged[..., None, :, :]], axis=-3), targets


def rows_beyond(
    correlations: Estimate, labels: Sequence[Mapping[str, Any]], level: float = 0.95
) -> list[dict[str, Any]]:
    """correlations: of `with_logged`; labels: of the metrics. Two rows a metric, of each kind."""
    logs = correlations.take(len(labels), RETURN)
    rows = []
    for metric, label in enumerate(labels):
        if not np.isnan(correlations.value[metric]).any():
            learned, logged, gain = (correlations.take(metric, target) for target in (RETURN, LOG, GAIN))
            given = partial_estimate(learned, logged, logs)
            for kind, estimate in (("given", given), ("gain", gain)):
                rows.append({**label, "kind": kind, **estimate_row(estimate, "r", level)})
    return rows


def told_of_beyond(rows: list[dict[str, Any]]) -> str:
    told = []
    for kind, words in KINDS.items():
        some = [row for row in rows if row["kind"] == kind]
        above, below = (sum(side(row) == where for row in some) for where in ("above 0", "below 0"))
        told.append(f"{words}, {above} of {len(some)} correlations are clearly above 0 and {below} below")
    return "; ".join(told)
