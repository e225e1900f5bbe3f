"""Trackers that are nearly the same: they count as one where trackers are the sample."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from extrinsic.arrays import Floats, Ints

NOTHING = 0
"""The top of an item about which a tracker believes nothing."""


def agreement(tops: Sequence[Ints], scores: Sequence[Floats]) -> Floats:
    """(n_trackers, n_trackers) how alike the beliefs of trackers are, from 0 to 1.

    tops, scores: per tracker the best value of every item (NOTHING for none) and its score. Of the items
    about which one of two believes something: the mean of 1 - |difference of scores| where both believe the
    same, and 0 where they do not.
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
    """For each tracker an earlier one that it nearly equals, None for those that stay.

    One after the other: a tracker goes if it is as near as `threshold` to one that stayed.
    """
    stays: list[int] = []
    original: list[int | None] = []
    for tracker in range(len(alike)):
        near = [other for other in stays if alike[tracker, other] >= threshold]
        original.append(max(near, key=lambda other: alike[tracker, other]) if near else None)
        if not near:
            stays.append(tracker)
    return original
