"""Pairwise accuracy with ties: below which difference does a metric call two points equal?

A target often ties (both dialogs succeed), a metric with many digits never does. Deutsch, Foster and Freitag
(2023), as in WMT's metrics task: two points whose metric differs by at most epsilon count as tied,

    accuracy = (pairs that both order alike + pairs that both tie) / all pairs,

and epsilon is the difference, of those that occur, with the highest accuracy. It is chosen on the very pairs
it is judged on; `without_ties` is the accuracy at epsilon 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from extrinsic.arrays import Bools, Floats
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.verdict.coefficients import points

Grouping = Literal["item", "system", "none"]
GROUPINGS: tuple[Grouping, ...] = ("item", "system", "none")


@dataclass(frozen=True)
class TieCalibration:
    """epsilon: in units of the metric.   tied: the share of pairs whose targets tie.   NaN without pairs."""

    accuracy: float
    epsilon: float
    without_ties: float
    tied: float
    n_pairs: int


def tie_calibration(metric: Floats, target: Floats, grouping: Grouping = "item") -> TieCalibration:
    """Of metric and target (n_systems, n_items), NaN where there is no point in either.

    grouping: which points make a pair: of the same `item`, of the same `system`, or any two (`none`).

    >>> metric = np.array([[0.80, 0.30, 0.52], [0.81, 0.60, 0.50]])
    >>> target = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    >>> calibrated = tie_calibration(metric, target)
    >>> f"{calibrated.accuracy:.2f} {calibrated.epsilon:.2f} {calibrated.without_ties:.2f}"
    '1.00 0.02 0.33'
    """
    if grouping not in GROUPINGS:
        raise UsageError(f"there is no grouping {grouping!r}; {did_you_mean(grouping, GROUPINGS)}")
    if metric.shape != target.shape or metric.ndim != 2:
        raise UsageError(
            "metric and target must be (n_systems, n_items), both alike",
            found=f"{metric.shape} and {target.shape}",
        )
    present = ~(np.isnan(metric) | np.isnan(target))
    unit = float(np.abs(metric[present]).max(initial=0.0)) or 1.0
    # Rounded first, so that neither a tie nor the threshold depends on rounding.
    x, y = (
        points(np.where(present, values, 0.0), "pooled").reshape(values.shape) for values in (metric, target)
    )
    differences = [_differences(*group) for group in _groups(x, y, present, grouping)]
    if not differences or not sum(len(part[0]) for part in differences):
        return TieCalibration(np.nan, np.nan, np.nan, np.nan, 0)
    by_metric, by_target = (np.concatenate(parts) for parts in zip(*differences, strict=True))
    distance = np.round(np.abs(by_metric), 12)
    order = np.argsort(distance, kind="stable")
    tie = (by_target == 0.0)[order]
    alike = (np.sign(by_metric) * np.sign(by_target) > 0.0)[order]
    # With the first i pairs called tied: their ties are right, and the order of the rest.
    right = np.concatenate([[0], np.cumsum(tie)]) + alike.sum() - np.concatenate([[0], np.cumsum(alike)])
    ends = np.searchsorted(distance[order], thresholds := np.unique(np.append(distance, 0.0)), side="right")
    best = int(right[ends].argmax())
    n = len(distance)
    return TieCalibration(
        accuracy=float(right[ends[best]] / n),
        epsilon=float(thresholds[best] * unit),
        without_ties=float(right[ends[0]] / n),
        tied=float(tie.mean()),
        n_pairs=n,
    )


def _groups(x: Floats, y: Floats, present: Bools, grouping: Grouping) -> list[tuple[Floats, Floats]]:
    if grouping == "none":
        return [(x[present], y[present])]
    if grouping == "item":
        x, y, present = x.T, y.T, present.T
    return [(x[i][present[i]], y[i][present[i]]) for i in range(len(x))]


def _differences(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    first, second = np.triu_indices(len(x), 1)
    return np.asarray(x[first] - x[second]), np.round(y[first] - y[second], 12)
