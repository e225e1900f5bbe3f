"""Correlations on resamples of dialogs: sums of products by dialog, weighted, never the points again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.partial import partial_scatter


def moments(values: Floats, dialog: Ints, n_dialogs: int) -> Floats:
    """(n_dialogs, 1 + k + k k): number, sums and products of the points (m, k) of each dialog.

    Points with a NaN are left out. The mean is taken away first, which changes no covariance.
    """
    kept = ~np.isnan(values).any(axis=1)
    points = values[kept] - values[kept].mean(axis=0)
    m, k = points.shape
    products = (points[:, :, None] * points[:, None, :]).reshape(m, k * k)
    total = np.zeros((n_dialogs, 1 + k + k * k))
    np.add.at(total, dialog[kept], np.hstack([np.ones((m, 1)), points, products]))
    return total


def covariances(parts: Sequence[Floats], weights: Floats) -> Floats:
    """(n_resamples, k, k) sums of squares and products within each part (a system), added up."""
    total: Floats | None = None
    for part in parts:
        k = int((np.sqrt(4 * part.shape[1] - 3) - 1) / 2)
        drawn = weights @ part
        number, sums = drawn[:, 0], drawn[:, 1 : 1 + k]
        products = drawn[:, 1 + k :].reshape(-1, k, k)
        within = products - sums[:, :, None] * sums[:, None, :] / number[:, None, None]
        total = within if total is None else total + within
    assert total is not None
    return total


def correlations(covariance: Floats) -> Floats:
    """(..., k, k) of (..., k, k)."""
    deviation = np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))
    return np.asarray(covariance / (deviation[..., :, None] * deviation[..., None, :]))


def partial_correlations(covariance: Floats, shown: Sequence[int], given: Sequence[int]) -> Floats:
    """(..., n_shown, n_shown) correlations of what a linear fit on the given columns leaves over."""
    return correlations(partial_scatter(covariance, given, shown))
