"""How far r with a 0/1 outcome can go, and what it means as a chance of putting two dialogs in order."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.multiwoz.grid import METRICS, OUTCOMES, Grid
from extrinsic.arrays import Floats
from extrinsic.correlation.intervals import interval
from extrinsic.correlation.two_way import TwoWayWeights, centre

Rows = list[dict[str, Any]]


def ordered_pairs(values: Floats, outcome: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Weighted pairs of a 1 and a 0 that the values order rightly (ties half), and all pairs; (n,) each.

    values, outcome (n_dialogs,), weights (n, n_dialogs). Their ratio is the area under the ROC curve.
    """
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.diff(values[order], prepend=-np.inf) > 0.0)
    ones = np.add.reduceat(weights[:, order] * outcome[order], starts, axis=1)
    zeros = np.add.reduceat(weights[:, order] * (1.0 - outcome[order]), starts, axis=1)
    below = np.cumsum(zeros, axis=1) - 0.5 * zeros
    return (ones * below).sum(axis=1), ones.sum(axis=1) * zeros.sum(axis=1)


def area(grid: Grid, metric: str, outcome: str, systems: Floats, dialogs: Floats) -> Floats:
    """(n,) the chance that of two dialogs of one system the successful one has the higher value."""
    right, pairs = np.zeros(len(systems)), np.zeros(len(systems))
    for s in range(len(grid.systems)):
        there = grid.present[s]
        found = ordered_pairs(grid.of(metric)[s, there], grid.of(outcome)[s, there], dialogs[:, there])
        right += systems[:, s] * found[0]
        pairs += systems[:, s] * found[1]
    return right / pairs


def ceiling(grid: Grid, metric: str, outcome: str) -> float:
    """The within-system r if in every system the dialogs with the highest values were the successful ones.

    The values and the number of successes stay as they are: no metric with these values could have more.
    """
    products, squares, goals = 0.0, 0.0, 0.0
    for s in range(len(grid.systems)):
        there = grid.present[s]
        values = centre(np.sort(grid.of(metric)[s, there])[None], "within")
        best = centre(np.sort(grid.of(outcome)[s, there])[None], "within")
        products += float((values * best).sum())
        squares += float((values**2).sum())
        goals += float((best**2).sum())
    return float(products / np.sqrt(squares * goals))


def rows_of_ceilings(grid: Grid, resamples: TwoWayWeights) -> Rows:
    one = np.ones((1, len(grid.systems))), np.ones((1, len(grid.dialogs)))
    rows: Rows = []
    for outcome in OUTCOMES:
        for metric in METRICS:
            observed = area(grid, metric, outcome, *one)[0]
            drawn = area(grid, metric, outcome, resamples.systems, resamples.dialogs)
            low, high = interval(observed, drawn)
            row: dict[str, Any] = {"outcome": outcome, "metric": metric, "area": float(observed)}
            row |= {"low": float(low), "high": float(high), "ceiling": ceiling(grid, metric, outcome)}
            rows.append(row)
    return rows
