"""Could it be chance? Outcomes of dialogs permuted, one permutation for all systems.

A dialog that is hard for one system is hard for others; permuting whole dialogs leaves that as it is. Only
dialogs that all systems have can be exchanged.
"""

from __future__ import annotations

import numpy as np

from experiments.multiwoz.grid import METRICS, OUTCOMES, Grid
from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.multiple_testing import holm
from extrinsic.correlation.permutation import SAME
from extrinsic.correlation.resampling import rng_of
from extrinsic.correlation.two_way import Split, centre

TESTED: tuple[Split, ...] = ("within", "both")


def permuted(metric: Floats, outcome: Floats, orders: Ints) -> Floats:
    """(n,) correlations of centred values (n_systems, n_dialogs) with dialogs' outcomes in each order."""
    table = metric.T @ outcome
    dialogs = np.arange(metric.shape[1])
    products = np.array([table[dialogs, order].sum() for order in orders])
    return np.asarray(products / np.sqrt((metric**2).sum() * (outcome**2).sum()))


def permutation_tests(grid: Grid, n: int, seed: int) -> dict[tuple[str, str], tuple[Floats, Floats]]:
    """By (split, outcome): p = (count + 1) / (n + 1) of every metric, two-sided, and Holm's over metrics."""
    shared = grid.take(np.asarray(grid.present.all(axis=0)))
    rng = rng_of("permuted dialogs", " ".join(shared.dialogs), seed)
    size = len(shared.dialogs)
    orders = np.array([np.arange(size), *(rng.permutation(size) for _ in range(n))])
    found: dict[tuple[str, str], tuple[Floats, Floats]] = {}
    for split in TESTED:
        for outcome in OUTCOMES:
            goal = centre(shared.of(outcome), split)
            p = []
            for metric in METRICS:
                r = np.abs(permuted(centre(shared.of(metric), split), goal, orders))
                p.append(((r[1:] >= r[0] - SAME).sum() + 1.0) / (n + 1.0))
            found[split, outcome] = (np.array(p), holm(np.array(p)))
    return found
