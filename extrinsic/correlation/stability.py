"""Stability: how many trackers does it take until the order of the metrics settles?"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.panel import rng_of
from extrinsic.verdict.coefficients import Coefficient, Scope, correlate

FEWEST = 4
"""Over three trackers or fewer an order of metrics is meaningless."""

SIZES = 30
"""With more numbers of trackers than this, about as many of them, evenly spaced on a logarithmic scale."""


@dataclass(frozen=True)
class Stability:
    """How subsets of n_trackers agree with all of them.

    agreement: Kendall's tau of the order of the metrics (mean, and the middle 90 % of the subsets).
    same_winner: share of the subsets with the same best metric.
    loss: how much less the best metric of a subset correlates over all trackers than the best of all.
    """

    n_trackers: int
    n_subsets: int
    agreement: float
    low: float
    high: float
    same_winner: float
    loss: float


def stability(
    metrics: Floats,
    target: Floats,
    coefficient: Coefficient,
    scope: Scope,
    n_subsets: int,
    identity: str,
    seed: int,
) -> list[Stability]:
    """A row for each number of trackers (of many, some).

    metrics (n_metrics, n_datasets, n_trackers), target (n_datasets, n_trackers).
    """
    whole = correlate(metrics, target[None], coefficient, scope)[:, 0]
    kept = ~np.isnan(whole)
    metrics, whole = metrics[kept], whole[kept]
    if len(whole) < 2:
        return []
    return [
        _stability(chosen.shape[1], whole, _subset_coefficients(metrics, target, coefficient, scope, chosen))
        for chosen in _subsets(metrics.shape[-1], n_subsets, identity, seed)
    ]


def _subsets(n_trackers: int, most: int, identity: str, seed: int) -> list[Ints]:
    """For each size (n, size) subsets: all of them where there are few, else draws."""
    parts: list[Ints] = []
    sizes = np.arange(FEWEST, n_trackers + 1)
    if len(sizes) > SIZES:
        sizes = np.unique(np.geomspace(FEWEST, n_trackers, SIZES).round().astype(np.int64))
    for size in sizes.tolist():
        if comb(n_trackers, size) <= most:
            parts.append(np.array(list(combinations(range(n_trackers), size)), dtype=np.int64))
        else:
            rng = rng_of(f"subsets of {size}", identity, seed)
            parts.append(np.argsort(rng.random((most, n_trackers)), axis=1)[:, :size])
    return parts


def _subset_coefficients(
    metrics: Floats, target: Floats, coefficient: Coefficient, scope: Scope, chosen: Ints
) -> Floats:
    """(n_subsets, n_metrics) the coefficients over the trackers of each subset."""
    parts = [
        correlate(metrics[..., subset], target[None, :, subset], coefficient, scope) for subset in chosen
    ]
    return np.stack(parts)[..., 0]


def _stability(n_trackers: int, whole: Floats, subsets: Floats) -> Stability:
    # Identical metrics differ in the last bits of their coefficients.
    whole, subsets = np.round(whole, 9), np.round(subsets, 9)
    agreement = np.array([_agreement(row, whole) for row in subsets])
    best = np.where(np.isnan(subsets), -np.inf, subsets).argmax(axis=1)
    low, high = np.quantile(agreement, [0.05, 0.95])
    loss = whole.max() - whole[best]
    return Stability(
        n_trackers=n_trackers,
        n_subsets=len(subsets),
        agreement=float(agreement.mean()),
        low=float(low),
        high=float(high),
        same_winner=float((loss == 0.0).mean()),
        loss=float(loss.mean()),
    )


def _agreement(subset: Floats, whole: Floats) -> float:
    """Kendall's tau over the metrics that are defined on the subset; 0 where these have no order."""
    defined = ~np.isnan(subset)
    if defined.sum() < 2:
        return 0.0
    tau = correlate(subset[None, None, defined], whole[None, None, defined], "kendall", "pooled")[0, 0]
    return 0.0 if np.isnan(tau) else float(tau)
