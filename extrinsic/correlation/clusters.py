"""Clusters of metrics that cannot be distinguished, in order of their correlation."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats, Ints


def rank_clusters(r: Floats, p: Floats, level: float = 0.05) -> Ints:
    """(n,) the cluster of each metric, 1 for the best, 0 where the correlation is undefined.

    From the best down, a metric opens a new cluster when it is significantly worse than the leader of the
    current one. p (n, n): p-values of the pairwise differences.
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
