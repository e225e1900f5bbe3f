"""Partial correlation: the correlation of two variables after regressing both on others.

Given one variable z, from three correlations:  r_xy.z = (r_xy - r_xz r_yz) / sqrt((1 - r_xz^2)(1 - r_yz^2)).
Given several, from sums of products (or covariances):  S_xx.z = S_xx - S_xz S_zz^-1 S_zx, and the correlation
of that. Both are the correlation of the residuals of two linear regressions (Fisher 1924).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.estimate import Estimate, combine
from extrinsic.verdict.coefficients import Scope, correlate, numbers_per_row, unit_vectors
from extrinsic.verdict.intervals import BLOCK, PermutationTest, permuted_vectors

DETERMINED = 1e-9
"""Where 1 - r^2 is below this, one determines the other: what is left of it is rounding."""


def partial_correlation(r_xy: Floats, r_xz: Floats, r_yz: Floats) -> Floats:
    """(...,) r_xy.z from correlations (...,) each; NaN where z determines x or y.

    >>> print(f"{partial_correlation(np.array(0.8), np.array(0.6), np.array(0.5)):.3f}")
    0.722
    """
    of_x, of_y = 1.0 - r_xz**2, 1.0 - r_yz**2
    with np.errstate(divide="ignore", invalid="ignore"):
        partial = (r_xy - r_xz * r_yz) / np.sqrt(of_x * of_y)
    return np.asarray(np.where((of_x > DETERMINED) & (of_y > DETERMINED), partial, np.nan))


def partial_estimate(xy: Estimate, xz: Estimate, yz: Estimate) -> Estimate:
    """r_xy.z with its resamples and left-out values, from three correlations on the same resamples and units.

    >>> def constant(r):
    ...     return Estimate(np.array(r), np.full(3, r), np.full(4, r))
    >>> r = partial_estimate(constant(0.8), constant(0.6), constant(0.5))
    >>> print(f"{r.value:.3f} {r.resampled[0]:.3f} {r.left_out[0]:.3f}")
    0.722 0.722 0.722
    """
    return combine(partial_correlation, xy, xz, yz)


def partial_scatter(scatter: Floats, given: Sequence[int], kept: Sequence[int] | None = None) -> Floats:
    """(..., n_kept, n_kept) scatter (..., k, k) that is left after regression on the `given` columns.

    scatter: sums of products, or covariances. kept: the columns to return; None: all (those given become 0).

    >>> covariances = np.array([[1.0, 0.8, 0.6], [0.8, 1.0, 0.5], [0.6, 0.5, 1.0]])
    >>> left = partial_scatter(covariances, given=[2], kept=[0, 1])
    >>> print(f"{scatter_correlations(left, [0], [1]).item():.3f}")
    0.722
    """
    columns = list(given)
    rows = scatter if kept is None else scatter[..., list(kept), :]
    across = rows[..., columns]
    among_given = scatter[..., columns, :][..., columns]
    explained = across @ np.linalg.solve(among_given, np.swapaxes(across, -1, -2))
    return np.asarray((rows if kept is None else rows[..., list(kept)]) - explained)


def scatter_correlations(scatter: Floats, rows: Sequence[int], columns: Sequence[int]) -> Floats:
    """(..., n_rows, n_columns) S_ij / sqrt(S_ii S_jj) of scatter (..., k, k); NaN where one does not vary."""
    squares = np.diagonal(scatter, axis1=-2, axis2=-1)
    norms = squares[..., list(rows)][..., :, None] * squares[..., list(columns)][..., None, :]
    norms = np.sqrt(np.maximum(norms, 0.0))
    products = scatter[..., list(rows), :][..., list(columns)]
    return np.divide(products, norms, out=np.full_like(products, np.nan), where=norms > 0.0)


def partial_permutation_test(
    metrics: Floats, targets: Floats, given: Floats, scope: Scope, drawn: Ints
) -> PermutationTest:
    """`permutation_test` of Pearson's r given (1, n_datasets, n_trackers), the residuals of the targets
    permuted (Freedman and Lane 1983)."""
    r, given_r, of_targets = (
        correlate(x, y, "pearson", scope) for x, y in ((metrics, targets), (metrics, given), (given, targets))
    )
    observed = partial_correlation(r, given_r, of_targets)
    left, beside = residuals(targets, given, scope), unit_vectors(given, "pearson", scope)
    vectors, goals = (unit_vectors(values, "pearson", scope) for values in (metrics, left))
    null = np.empty((len(drawn), *observed.shape))
    step = max(1, BLOCK // max(1, numbers_per_row(metrics, "pearson") * len(targets)))
    for begin in range(0, len(drawn), step):
        rows = slice(begin, begin + step)
        permuted = permuted_vectors(goals.reshape(targets.shape), drawn[rows])
        # Permuted residuals may go along with what is given again.
        partial = partial_correlation(vectors @ permuted, given_r, beside @ permuted)
        null[rows] = np.moveaxis(partial.reshape(len(metrics), -1, len(targets)), 0, 1)
    return PermutationTest(observed, null)


def residuals(targets: Floats, given: Floats, scope: Scope) -> Floats:
    """Targets (k, n_datasets, n_trackers) less their regression on given (1, n_datasets, n_trackers)."""
    axes = -1 if scope == "within" else (-2, -1)
    y, z = (values - values.mean(axis=axes, keepdims=True) for values in (targets, given))
    squares = float((z**2).sum())
    slope = (y * z).sum(axis=(-2, -1), keepdims=True) / squares if squares > 0.0 else 0.0
    return np.asarray(y - slope * z)
