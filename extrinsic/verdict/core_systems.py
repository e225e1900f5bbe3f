"""The core of a study: systems that are neither degenerate, recalibrated, flagged nor nearly equal to others.

A tracker is `silent` where it has values for less than a tenth of the items for which the median tracker has
some. One that hardly ever says anything makes a correlation by itself: it is last by every metric and every
target, far from the others. Near-duplicates count as one where trackers are the sample.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.panel import Panel
from extrinsic.verdict.rows import TrackerRow

DEGENERATE, RECALIBRATED, JOINT_ONLY, SILENT = "degenerate", "recalibrated", "joint_only", "silent"

NOTHING = 0
"""The best value of an item for which a tracker has no hypothesis."""

BLOCK = 2_000
"""Items at once: those of all trackers stay in the cache while each is compared with the others."""


def agreement(tops: Sequence[Ints], scores: Sequence[Floats]) -> Floats:
    """(n_trackers, n_trackers) how alike the beliefs of trackers are, from 0 to 1.

    tops, scores: per tracker the best value of every item (NOTHING for none) and its score. Over the
    items for which either of two has a value: the mean of 1 - |difference of scores| where the values are
    equal, and 0 where they are not.
    """
    all_tops = np.array(tops)
    said = (all_tops != NOTHING).any(axis=0)
    all_tops, all_scores = all_tops[:, said], np.array(scores, dtype=np.float64)[:, said]
    values = np.unique(np.concatenate([np.unique(top) for top in tops]))
    # Other values are at least 1 apart, so that min(|distance|, 1) is what two beliefs lack of agreement.
    place = 2.0 * np.searchsorted(values, all_tops) + all_scores
    place[all_tops == NOTHING] = -2.0
    apart = np.zeros((len(tops), len(tops)))
    for begin in range(0, place.shape[1], BLOCK):
        some = place[:, begin : begin + BLOCK]
        for i in range(1, len(tops)):
            distance = some[:i] - some[i]
            apart[i, :i] += np.minimum(np.abs(distance, out=distance), 1.0, out=distance).sum(axis=1)
    nothing = (all_tops == NOTHING).astype(np.float64)
    counts = place.shape[1] - nothing @ nothing.T
    alike: Floats = 1.0 - (apart + apart.T) / np.maximum(counts, 1.0)
    np.fill_diagonal(alike, 1.0)
    return alike


def agreement_with(top: Ints, score: Floats, tops: Ints, scores: Floats) -> Floats:
    """(n,) how alike the beliefs of one tracker (n_items,) and those of n others (n, n_items) are."""
    same = top == tops
    counts = ((top != NOTHING) | (tops != NOTHING)).sum(axis=1)
    # Where neither has a value both are NOTHING: these items are equal, and do not count.
    alike = np.where(same & (top != NOTHING), 1.0 - np.abs(score - scores), 0.0).sum(axis=1)
    return np.where(counts > 0, alike / np.maximum(counts, 1), 1.0)


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


def core_rows(panel: Panel, near: float) -> list[TrackerRow]:
    """A row for every system; near: those that agree at least this much count as one.

    Those with joint hypotheses only may be of the core. Near-duplicates are looked for among the systems that
    have no other flag.
    """
    alike, systems = panel.agreement, panel.systems
    plain = [i for i, system in enumerate(systems) if not set(system.flags) - {JOINT_ONLY}]
    duplicates = near_duplicates(alike[np.ix_(plain, plain)], near)
    original = {plain[i]: plain[j] for i, j in enumerate(duplicates) if j is not None}
    rows = []
    for i, system in enumerate(systems):
        others = [j for j in range(len(systems)) if j != i]
        nearest = max(others, key=lambda j: (alike[i, j], -j)) if others else None
        rows.append(
            TrackerRow(
                tracker=system.name,
                core=i in plain and i not in original,
                degenerate=DEGENERATE in system.flags,
                recalibrated=RECALIBRATED in system.flags,
                near_duplicate_of=systems[original[i]].name if i in original else None,
                nearest=None if nearest is None else systems[nearest].name,
                agreement=None if nearest is None else float(alike[i, nearest]),
                flags=tuple(flag for flag in system.flags if flag not in (DEGENERATE, RECALIBRATED)),
            )
        )
    return rows
