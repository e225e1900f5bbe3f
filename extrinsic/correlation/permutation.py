"""Permutation tests of a correlation: trackers' targets are permuted, the same way on every dataset."""

from __future__ import annotations

from itertools import permutations
from math import factorial

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.coefficients import Coefficient, Scope, correlate, numbers_per_row
from extrinsic.correlation.resampling import rng_of

SAME = 1e-9
"""Coefficients nearer than this count as equal, so that rounding does not decide a p-value."""

BLOCK = 20_000_000


def draw_permutations(identity: str, n_trackers: int, most: int, seed: int) -> Ints:
    """(n, n_trackers) permutations: every one but the identity if there are at most `most`, else draws."""
    if factorial(n_trackers) - 1 <= most:
        return np.array(list(permutations(range(n_trackers)))[1:], dtype=np.int64).reshape(-1, n_trackers)
    rng = rng_of("permutations", identity, seed)
    return np.argsort(rng.random((most, n_trackers)), axis=1)


def permutation_p(
    metrics: Floats, targets: Floats, coefficient: Coefficient, scope: Scope, drawn: Ints
) -> Floats:
    """(n_metrics, n_targets) two-sided p = (count + 1) / (n + 1), NaN where the coefficient is undefined.

    The count is of permutations whose coefficient is at least as far from chance. With all permutations
    drawn this is the exact p-value.
    """
    centre = 0.5 if coefficient == "pairwise" else 0.0
    observed = np.abs(correlate(metrics, targets, coefficient, scope) - centre)
    step = max(1, BLOCK // max(1, numbers_per_row(metrics, coefficient) * len(targets)))
    count = np.zeros(observed.shape)
    for begin in range(0, len(drawn), step):
        permuted = np.moveaxis(targets[..., drawn[begin : begin + step]], -2, 0)
        distance = np.abs(correlate(metrics[None], permuted, coefficient, scope) - centre)
        count += (distance >= observed - SAME).sum(axis=0)
    return np.asarray(np.where(np.isnan(observed), np.nan, (count + 1.0) / (len(drawn) + 1.0)))
