"""Does a metric predict more of the learned policy's return than the logged return already predicts?

Both returns judge the same tracker's beliefs, and a metric may predict no more than what they share. So:
its partial correlation with the learned policy's return given the logged one's, and its correlation with the
gain.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from extrinsic.correlation.estimate import Estimate
from extrinsic.correlation.partial import partial_estimate

from extrinsic.arrays import Floats

Kind = Literal["given", "gain"]
RETURN, LOGGED, GAIN = range(3)


def with_logged(metrics: Floats, learned: Floats, logged: Floats) -> tuple[Floats, Floats]:
    """What to correlate: metrics (..., n + 1, D, T), the logged return last; targets (..., 3, D, T).

    metrics (..., n, D, T); learned, logged (..., D, T). Targets: learned, logged, their difference.
    """
    targets = np.stack([learned, logged, learned - logged], axis=-3)
    return np.concatenate([metrics, logged[..., None, :, :]], axis=-3), targets


def beyond_logged(correlations: Estimate) -> Iterator[tuple[int, Kind, Estimate]]:
    """Each metric's number with its correlations of both kinds; metrics without a correlation are left out.

    correlations: of what `with_logged` returns, value (n + 1, 3).
    """
    n_metrics = len(correlations.value) - 1
    learned_logged = correlations.take(n_metrics, RETURN)
    for metric in range(n_metrics):
        if not np.isnan(correlations.value[metric]).any():
            learned, logged, gain = (correlations.take(metric, target) for target in (RETURN, LOGGED, GAIN))
            yield metric, "given", partial_estimate(learned, logged, learned_logged)
            yield metric, "gain", gain
