"""The influence of single trackers on a correlation: the coefficient without each of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.coefficients import Coefficient, Scope, correlate


def without_each(metrics: Floats, targets: Floats, coefficient: Coefficient, scope: Scope) -> Floats:
    """(n_trackers, n_metrics, n_targets) the coefficient without each tracker in turn."""
    n_trackers = metrics.shape[-1]
    return np.stack(
        [
            correlate(np.delete(metrics, left, -1), np.delete(targets, left, -1), coefficient, scope)
            for left in range(n_trackers)
        ]
    )


@dataclass(frozen=True, eq=False)
class Influence:
    """The lowest and highest coefficient without one tracker, and the tracker that moves it most.

    All (n_metrics, n_targets); `tracker` is an index, -1 where the coefficient is undefined.
    """

    lowest: Floats
    highest: Floats
    tracker: Ints
    without: Floats


def influence(observed: Floats, left_out: Floats) -> Influence:
    moved = np.abs(left_out - observed)
    defined = ~np.isnan(observed) & ~np.isnan(left_out).all(axis=0)
    tracker = np.where(defined, np.nan_to_num(moved, nan=-1.0).argmax(axis=0), -1)
    filled = np.where(np.isnan(left_out), np.inf, left_out)
    lowest = filled.min(axis=0)
    highest = np.where(np.isnan(left_out), -np.inf, left_out).max(axis=0)
    without = np.take_along_axis(left_out, np.maximum(tracker, 0)[None], 0)[0]
    undefined_as_nan = np.where(defined, 0.0, np.nan)
    return Influence(
        np.where(defined, lowest, np.nan),
        np.where(defined, highest, np.nan),
        tracker,
        without + undefined_as_nan,
    )
