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


CARRIED = 0.5
"""A tracker with this share of the variance carries the correlation: there is no interval to be trusted."""


@dataclass(frozen=True, eq=False)
class Leverage:
    """share (n_metrics, n_targets): the most that one tracker has of the variance; tracker: its index."""

    share: Floats
    tracker: Ints


def leverage(metrics: Floats, targets: Floats, scope: Scope) -> Leverage:
    """How much of the sums of squares of metric and target, the mean of both shares, is one tracker's.

    Over n trackers that are alike it is about 1 / n. Near 1 the correlation is that of one tracker against
    the rest, and says nothing of trackers to come (Belsley, Kuh and Welsch 1980).

    >>> values = np.array([[[0.0, 0.1, -0.1, 5.0]]])
    >>> far = leverage(values, values, "within")
    >>> print(f"{far.share[0, 0]:.2f}", far.tracker[0, 0])
    0.75 3
    """
    axes = -1 if scope == "within" else (-2, -1)
    shares = []
    for values in (metrics, targets):
        squares = ((values - values.mean(axis=axes, keepdims=True)) ** 2).sum(axis=-2)
        total = squares.sum(axis=-1, keepdims=True)
        shares.append(np.divide(squares, total, out=np.full_like(squares, np.nan), where=total > 0.0))
    both = 0.5 * (shares[0][:, None, :] + shares[1][None, :, :])
    return Leverage(both.max(axis=-1), np.nan_to_num(both, nan=-1.0).argmax(axis=-1))
