"""Clusters of metrics that cannot be told apart, by hand."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.correlation.clusters import rank_clusters


def table(n: int, significant: list[tuple[int, int]]) -> Floats:
    p = np.ones((n, n))
    for a, b in significant:
        p[a, b] = p[b, a] = 0.01
    return p


def test_by_hand() -> None:
    """In order 2, 0, 3, 1: 0 is not worse than 2; 3 is, and leads; 1 is worse than 2 but not than 3."""
    r = np.array([0.8, 0.2, 0.9, 0.5])
    p = table(4, [(2, 3), (2, 1)])
    assert rank_clusters(r, p).tolist() == [1, 2, 1, 2]
    assert rank_clusters(r, table(4, [(2, 3), (2, 1), (3, 1)])).tolist() == [1, 3, 1, 2]
    assert rank_clusters(r, table(4, [])).tolist() == [1, 1, 1, 1]


def test_only_the_leader_counts() -> None:
    """The second is not worse than the first, the third is worse than the second only: one cluster."""
    assert rank_clusters(np.array([0.9, 0.8, 0.7]), table(3, [(1, 2)])).tolist() == [1, 1, 1]


def test_the_level() -> None:
    r, p = np.array([0.9, 0.1]), table(2, [(0, 1)])
    assert rank_clusters(r, p, 0.05).tolist() == [1, 2]
    assert rank_clusters(r, p, 0.01).tolist() == [1, 1]


def test_without_a_correlation_there_is_no_cluster() -> None:
    r = np.array([np.nan, 0.3, 0.9, np.nan])
    p = table(4, [(1, 2)])
    p[0] = p[:, 0] = p[3] = p[:, 3] = np.nan
    assert rank_clusters(r, p).tolist() == [0, 2, 1, 0]
