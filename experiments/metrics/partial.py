"""Correlations of sums of products, partial ones among them, and Zou's interval of a difference of two."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from extrinsic.arrays import Floats


def scatter_correlations(scatter: Floats, rows: Sequence[int], columns: Sequence[int]) -> Floats:
    """(..., n_rows, n_columns) S_ij / sqrt(S_ii S_jj) of scatter (..., k, k); NaN where one does not vary."""
    squares = np.diagonal(scatter, axis1=-2, axis2=-1)
    norms = squares[..., list(rows)][..., :, None] * squares[..., list(columns)][..., None, :]
    norms = np.sqrt(np.maximum(norms, 0.0))
    products = scatter[..., list(rows), :][..., list(columns)]
    return np.divide(products, norms, out=np.full_like(products, np.nan), where=norms > 0.0)


def partial_scatter(scatter: Floats, given: Sequence[int], kept: Sequence[int]) -> Floats:
    """(..., n_kept, n_kept) what is left of scatter (..., k, k) after regression on the `given` columns.

    S_xx.z = S_xx - S_xz S_zz^-1 S_zx (Fisher 1924); its correlations are those of the residuals.

    >>> covariances = np.array([[1.0, 0.8, 0.6], [0.8, 1.0, 0.5], [0.6, 0.5, 1.0]])
    >>> left = partial_scatter(covariances, given=[2], kept=[0, 1])
    >>> print(f"{scatter_correlations(left, [0], [1]).item():.3f}")
    0.722
    """
    columns, rows = list(given), scatter[..., list(kept), :]
    across = rows[..., columns]
    among_given = scatter[..., columns, :][..., columns]
    explained = across @ np.linalg.solve(among_given, np.swapaxes(across, -1, -2))
    return np.asarray(rows[..., list(kept)] - explained)


def zou_interval(r12: float, r13: float, r23: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Zou (2007): an interval of r12 - r13 over n independent points, from those of both and r23."""
    together = ((r23 - 0.5 * r12 * r13) * (1.0 - r12**2 - r13**2 - r23**2) + r23**3) / (
        (1.0 - r12**2) * (1.0 - r13**2)
    )
    half = ndtri((1.0 + level) / 2.0) / np.sqrt(n - 3)
    low1, low2 = (np.tanh(np.arctanh(r) - half) for r in (r12, r13))
    high1, high2 = (np.tanh(np.arctanh(r) + half) for r in (r12, r13))
    below = (r12 - low1) ** 2 + (high2 - r13) ** 2 - 2.0 * together * (r12 - low1) * (high2 - r13)
    above = (high1 - r12) ** 2 + (r13 - low2) ** 2 - 2.0 * together * (high1 - r12) * (r13 - low2)
    difference = r12 - r13
    return difference - float(np.sqrt(max(below, 0.0))), difference + float(np.sqrt(max(above, 0.0)))
