"""Near-duplicate trackers: they count as one where trackers are the sample."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from extrinsic.arrays import Floats, Ints

NOTHING = 0
"""The best value of an item for which a tracker has no hypothesis."""


def agreement(tops: Sequence[Ints], scores: Sequence[Floats]) -> Floats:
    """(n_trackers, n_trackers) how alike the beliefs of trackers are, from 0 to 1.

    tops, scores: per tracker the best value of every item (NOTHING for none) and its score. Over the
    items for which either of two has a value: the mean of 1 - |difference of scores| where the values are
    equal, and 0 where they are not.
    """
    size = len(tops)
    alike = np.eye(size)
    for i in range(size):
        for j in range(i):
            counts = (tops[i] != NOTHING) | (tops[j] != NOTHING)
            same = np.where(tops[i] == tops[j], 1.0 - np.abs(scores[i] - scores[j]), 0.0)[counts]
            alike[i, j] = alike[j, i] = float(same.mean()) if len(same) else 1.0
    return alike


def near_duplicates(alike: Floats, threshold: float) -> list[int | None]:
    """For each tracker the earlier one that it nearly equals, None for those that are kept.

    In order: a tracker is dropped if it agrees with a kept one by at least `threshold`.
    """
    kept: list[int] = []
    original: list[int | None] = []
    for tracker in range(len(alike)):
        near = [other for other in kept if alike[tracker, other] >= threshold]
        original.append(max(near, key=lambda other: alike[tracker, other]) if near else None)
        if not near:
            kept.append(tracker)
    return original
