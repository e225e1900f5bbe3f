"""The influence of single trackers on a correlation: the coefficient without each of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.coefficients import Coefficient, Scope, correlate

CARRIED = 0.5
"""A tracker with at least this part of the variance of metric and target carries their correlation."""


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


def leverage(metrics: Floats, targets: Floats, scope: Scope) -> Floats:
    """(n_metrics, n_targets, n_trackers) each tracker's part of the sums of squares of metric and target.

    The mean of both shares: about 1 / n for n trackers that are alike; near 1 the correlation is that of one
    tracker against the rest (Belsley, Kuh and Welsch 1980). NaN where nothing varies.

    >>> values = np.array([[[0.0, 0.1, -0.1, 5.0]]])
    >>> print(np.round(leverage(values, values, "within")[0, 0], 2))
    [0.08 0.07 0.1  0.75]
    """
    axes = -1 if scope == "within" else (-2, -1)
    shares = []
    for values in (metrics, targets):
        squares = ((values - values.mean(axis=axes, keepdims=True)) ** 2).sum(axis=-2)
        total = squares.sum(axis=-1, keepdims=True)
        shares.append(np.divide(squares, total, out=np.full_like(squares, np.nan), where=total > 0.0))
    return np.asarray(0.5 * (shares[0][:, None, :] + shares[1][None, :, :]))


def carriers(shares: Floats) -> Ints:
    """(n_metrics, n_targets) the tracker that has CARRIED of the variance or more, -1 where none has.

    shares: `leverage`. In simulated studies the jackknife's intervals are wide there and hold what they say
    (99.1 % of them, experiments/uncertainty), so none is withheld; but one tracker decides what they say, and
    whoever prints one should name it. Of a population that has a degenerate tracker now and then, it is the
    studies without one whose intervals are too narrow (74.6 % hold), and nothing in them shows it.

    >>> values = np.array([[[0.0, 0.1, -0.1, 5.0]]])
    >>> carriers(leverage(values, values, "within")).item(), carriers(np.array([[[0.3, 0.4, 0.3]]])).item()
    (3, -1)
    """
    known = np.nan_to_num(shares)
    return np.asarray(np.where(known.max(axis=-1) >= CARRIED, known.argmax(axis=-1), -1))
