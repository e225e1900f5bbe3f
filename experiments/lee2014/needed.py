"""How many trackers does it take to say what Lee says? Subsets of ours, and what follows for more of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.lee2014.judging import FINDINGS, GAINS, Judged, Where, best_pairs, judge, related_of
from experiments.lee2014.points import Points
from experiments.lee2014.relating import SEED
from experiments.lee2014.relating import SWAPS as ALL_SWAPS
from extrinsic.arrays import Ints
from extrinsic.correlation.power import CORRELATION, MEAN, error_scale, share_resolved, trackers_needed_range
from extrinsic.correlation.resampling import rng_of
from extrinsic.report.results.lee_findings import FAILS, HOLDS

Rows = list[dict[str, Any]]

SIZES = (6, 8, 10, 12, 16, 20)
LEARNED_FROM = 12
"""Subsets up to this size predict what larger ones do."""

SUBSETS, RESAMPLES, SWAPS = 100, 200, 99
TARGETS = ("live", "lstd")
"""The truth, and what Lee had."""

MOST = 200
"""Nobody will ever have more trackers."""


@dataclass(frozen=True)
class Subset:
    """A finding on some trackers: the verdict, the number behind it, its error, and whether 0 lies outside
    of its interval."""

    verdict: str
    value: float
    error: float
    resolved: bool


def sizes_of(n_trackers: int) -> list[int]:
    """The numbers of trackers that are looked at; the last is all of them."""
    return [*(size for size in SIZES if size < n_trackers), n_trackers]


def subset_rows(points: Points, where: Where, group: str, size: int) -> Rows:
    """For every finding what subsets of one size say.

    right, wrong: share in which the interval leaves out 0, on the same side as the number of all trackers or
    on the other. holds, fails: shares of the verdicts. error: the standard error, mean over subsets.
    """
    trackers, every = points.chosen(group), np.arange(len(points.seeds))
    whole = judge(points, where, every, trackers, swaps=0 if size < len(trackers) else ALL_SWAPS)
    pairs = best_pairs(related_of(points, where, every, trackers, resamples=2, swaps=0))
    judged = [whole]
    if size < len(trackers):
        judged = [
            judge(points, where, every, trackers[chosen], RESAMPLES, SWAPS, pairs)
            for chosen in draw_subsets(len(trackers), size, f"{where} {group}")
        ]
    rows: Rows = []
    for key in FINDINGS:
        some = [_subset(one[key]) for one in judged]
        same = np.array([one.value * whole[key].value > 0.0 for one in some])
        resolved = np.array([one.resolved for one in some])
        rows.append(
            {
                "finding": key,
                "fill": where.fill,
                "target": where.estimator,
                "trackers": group,
                "size": size,
                "error": float(np.mean([one.error for one in some])),
                "right": float((resolved & same).mean()),
                "wrong": float((resolved & ~same).mean()),
                "holds": float(np.mean([one.verdict == HOLDS for one in some])),
                "fails": float(np.mean([one.verdict == FAILS for one in some])),
            }
        )
    return rows


def draw_subsets(n_trackers: int, size: int, identity: str) -> Ints:
    """(SUBSETS, size) places of trackers, each subset without repetition."""
    rng = rng_of(f"subsets of {size}", identity, SEED)
    return np.sort(np.argsort(rng.random((SUBSETS, n_trackers)), axis=1)[:, :size], axis=1)


def _subset(judged: Judged) -> Subset:
    low, high = judged.bounds
    return Subset(judged.verdict, judged.value, judged.error, bool(low > 0.0 or high < 0.0))


def number_rows(subsets: Rows, findings: Rows) -> Rows:
    """For every finding how many trackers are needed, and whether subsets foretell all trackers.

    needed: trackers at which the 95 % interval leaves out 0 with probability .8, if the number is what all
    trackers say; fewest and most: if it is at the far and at the near end of its interval (None: at 0).
    error: of all trackers; foretold: what subsets of at most 12 say it is. right and right_foretold: of the
    largest subsets that are not all trackers.
    """
    rows: Rows = []
    keys = ("finding", "fill", "target", "trackers")
    for found in findings:
        if found["scope"] != "within" or found["target"] not in TARGETS:
            continue
        mine = [row for row in subsets if all(row[key] == found[key] for key in keys)]
        whole, part = mine[-1], mine[-2]
        lost = MEAN if found["finding"] in GAINS else CORRELATION
        scale = error_scale(
            [(row["size"], row["error"]) for row in mine if row["size"] <= LEARNED_FROM], lost
        )
        n, error = whole["size"], whole["error"]
        ends = found["low"], found["high"]
        trackers = trackers_needed_range(found["value"], ends, error, n, lost)
        rows.append(
            {
                **{key: found[key] for key in keys},
                "size": n,
                "value": found["value"],
                "error": error,
                "foretold": float(scale / np.sqrt(n - lost)),
                "needed": trackers.needed,
                "fewest": trackers.fewest,
                "most": trackers.most,
                "right_at": part["size"],
                "right": part["right"],
                "right_foretold": share_resolved(
                    found["value"], scale / np.sqrt(part["size"] - lost), part["size"] / n
                ),
            }
        )
    return rows
