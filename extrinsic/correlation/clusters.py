"""Metrics in order of their correlation, and which of them cannot be told apart."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats, Ints


def rank_clusters(r: Floats, p: Floats, level: float = 0.05) -> Ints:
    """(n,) the cluster of each metric, 1 for the best, 0 where there is no correlation.

    From the best down, a metric opens a new cluster when it is significantly worse than the one that leads
    the cluster so far. p (n, n): of the difference of each two.
    """
    clusters = np.zeros(len(r), dtype=np.int64)
    leader, number = None, 0
    for metric in np.argsort(-r, kind="stable").tolist():
        if np.isnan(r[metric]):
            continue
        if leader is None or p[leader, metric] < level:
            leader, number = metric, number + 1
        clusters[metric] = number
    return clusters
