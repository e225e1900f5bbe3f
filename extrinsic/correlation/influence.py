"""The influence of single trackers on a correlation: the tracker without which it changes most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats, Ints


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
    # Rounded: of trackers that move it equally far the first counts, whatever the last bits are.
    moved = np.round(np.abs(left_out - observed), 9)
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
