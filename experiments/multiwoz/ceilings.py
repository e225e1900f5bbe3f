"""How far r with a 0/1 outcome can go, and the chance of putting two dialogs in order."""

from __future__ import annotations

import numpy as np

from experiments.multiwoz.dialog_grid import METRICS, OUTCOMES, Grid
from experiments.multiwoz.tables import Ceiling, bounds, metric_rows
from extrinsic.arrays import Floats
from extrinsic.correlation.estimate import Estimate
from extrinsic.correlation.two_way import TwoWayWeights


def ordered_pairs(values: Floats, outcomes: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Weighted pairs of a 1 and a 0 that the values order rightly (ties half), and all pairs; (n,) each.

    values, outcomes (n_dialogs,), weights (n, n_dialogs). Their ratio is the area under the ROC curve.
    """
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.diff(values[order], prepend=-np.inf) > 0.0)
    ones = np.add.reduceat(weights[:, order] * outcomes[order], starts, axis=1)
    zeros = np.add.reduceat(weights[:, order] * (1.0 - outcomes[order]), starts, axis=1)
    below = np.cumsum(zeros, axis=1) - 0.5 * zeros
    return (ones * below).sum(axis=1), ones.sum(axis=1) * zeros.sum(axis=1)


def area(grid: Grid, metric: str, outcome: str, weights: TwoWayWeights) -> Floats:
    """(n,) the chance that of two dialogs of one system the successful one has the higher value."""
    right, total = np.zeros(len(weights.systems)), np.zeros(len(weights.systems))
    for s, (values, outcomes) in enumerate(grid.pairs(metric, outcome)):
        in_order, pairs = ordered_pairs(values, outcomes, weights.dialogs[:, grid.present[s]])
        right += weights.systems[:, s] * in_order
        total += weights.systems[:, s] * pairs
    return right / total


def ceiling(grid: Grid, metric: str, outcome: str) -> float:
    """r within systems if in each the dialogs with the highest values were the successful ones.

    The values and the number of successes stay as they are: no metric with these values could have more.
    """
    products, squares, goals = 0.0, 0.0, 0.0
    for values, outcomes in grid.pairs(metric, outcome):
        ascending, best = np.sort(values) - values.mean(), np.sort(outcomes) - outcomes.mean()
        products += float((ascending * best).sum())
        squares += float((ascending**2).sum())
        goals += float((best**2).sum())
    return float(products / np.sqrt(squares * goals))


def ceiling_rows(grid: Grid, resamples: TwoWayWeights) -> list[Ceiling]:
    rows = []
    once = TwoWayWeights.observed(len(grid.systems), len(grid.dialogs))
    for outcome in OUTCOMES:
        observed, resampled = (
            np.stack([area(grid, metric, outcome, weights) for metric in METRICS], axis=-1)
            for weights in (once, resamples)
        )
        areas = Estimate(observed[0], resampled)
        highest = np.array([ceiling(grid, metric, outcome) for metric in METRICS])
        columns = {"area": areas.value, **bounds(areas.interval()), "ceiling": highest}
        rows += metric_rows(Ceiling, METRICS, columns, outcome=outcome)
    return rows
