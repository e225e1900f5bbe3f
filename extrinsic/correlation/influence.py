"""What a correlation owes to single trackers: it is computed again without each of them."""

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

    All (n_metrics, n_targets); `tracker` is an index, -1 where there is no coefficient.
    """

    lowest: Floats
    highest: Floats
    tracker: Ints
    without: Floats


def influence(observed: Floats, left_out: Floats) -> Influence:
    moved = np.abs(left_out - observed)
    known = ~np.isnan(observed) & ~np.isnan(left_out).all(axis=0)
    tracker = np.where(known, np.nan_to_num(moved, nan=-1.0).argmax(axis=0), -1)
    filled = np.where(np.isnan(left_out), np.inf, left_out)
    lowest = filled.min(axis=0)
    highest = np.where(np.isnan(left_out), -np.inf, left_out).max(axis=0)
    without = np.take_along_axis(left_out, np.maximum(tracker, 0)[None], 0)[0]
    blank = np.where(known, 0.0, np.nan)
    return Influence(
        np.where(known, lowest, np.nan), np.where(known, highest, np.nan), tracker, without + blank
    )
