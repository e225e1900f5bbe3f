"""Permutation tests of a correlation: trackers' targets are permuted, the same way on every dataset."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import factorial

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.coefficients import Coefficient, Scope, correlate, numbers_per_row, unit_vectors
from extrinsic.correlation.multiple_testing import SAME, ClearCount, clear_count, max_t_p
from extrinsic.correlation.partial import partial_correlation
from extrinsic.correlation.resampling import rng_of
from extrinsic.errors import UsageError

BLOCK = 2_000_000
"""Numbers permuted at once."""


def draw_permutations(identity: str, n_trackers: int, most: int, seed: int) -> Ints:
    """(n, n_trackers) permutations: every one but the identity if there are at most `most`, else draws."""
    if factorial(n_trackers) - 1 <= most:
        return np.array(list(permutations(range(n_trackers)))[1:], dtype=np.int64).reshape(-1, n_trackers)
    rng = rng_of("permutations", identity, seed)
    return np.argsort(rng.random((most, n_trackers)), axis=1)


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """observed (n_metrics, n_targets): r less what chance gives; null (n_permutations, ...): the same,
    permuted.

    p: two-sided (count + 1) / (n + 1), NaN where the coefficient is undefined. The count is of permutations
    whose coefficient is at least as far from chance. With all permutations drawn this is the exact p-value.
    """

    observed: Floats
    null: Floats

    @cached_property
    def p(self) -> Floats:
        count = (np.abs(self.null) >= np.abs(self.observed) - SAME).sum(axis=0)
        return np.asarray(np.where(np.isnan(self.observed), np.nan, (count + 1.0) / (len(self.null) + 1.0)))

    @cached_property
    def p_max_t(self) -> Floats:
        """(n_metrics, n_targets) the same, for all metrics of a target at once: `max_t_p`."""
        columns = [
            max_t_p(np.abs(self.observed[:, k]), np.abs(self.null[:, :, k]))
            for k in range(self.observed.shape[1])
        ]
        return np.stack(columns, axis=1)

    def clear(self, target: int, level: float = 0.95) -> ClearCount:
        """How many metrics clearly rise with a target, beside how many would by chance."""
        return clear_count(self.observed[:, target], self.null[:, :, target], level)


def permutation_test(
    metrics: Floats,
    targets: Floats,
    coefficient: Coefficient,
    scope: Scope,
    drawn: Ints,
    given: Floats | None = None,
) -> PermutationTest:
    """Every metric with every target, the trackers of the target permuted by `drawn` (n, n_trackers).

    given (1, n_datasets, n_trackers): the partial correlation given this; the residuals of the targets are
    what is permuted (Freedman and Lane 1983), for Pearson's r only.

    >>> metrics = np.array([[[1.0, 2.0, 3.0, 4.0]], [[1.0, 2.0, 4.0, 3.0]]])
    >>> test = permutation_test(metrics, metrics[:1], "pearson", "within", draw_permutations("", 4, 23, 0))
    >>> [f"{p:.3f}" for p in test.p[:, 0]], [f"{p:.3f}" for p in test.p_max_t[:, 0]]
    (['0.083', '0.333'], ['0.167', '0.333'])
    """
    if given is not None and coefficient != "pearson":
        raise UsageError("a partial permutation test is of Pearson's r", found=coefficient)
    observed = correlate(metrics, targets, coefficient, scope)
    if given is not None:
        given_r = correlate(metrics, given, coefficient, scope)
        observed = partial_correlation(observed, given_r, correlate(given, targets, coefficient, scope))
        targets, beside = residuals(targets, given, scope), unit_vectors(given, coefficient, scope)
    has_vectors = coefficient in ("pearson", "spearman")
    if has_vectors:
        vectors, goals = (unit_vectors(values, coefficient, scope) for values in (metrics, targets))
        # (n_datasets, n_trackers, n_targets)
        goals = np.moveaxis(goals.reshape(targets.shape), 0, -1)
    null = np.empty((len(drawn), *observed.shape))
    step = max(1, BLOCK // max(1, numbers_per_row(metrics, coefficient) * len(targets)))
    for begin in range(0, len(drawn), step):
        rows = slice(begin, begin + step)
        if not has_vectors:
            permuted = np.moveaxis(targets[..., drawn[rows]], -2, 0)
            null[rows] = correlate(metrics[None], permuted, coefficient, scope)
            continue
        permuted = goals[:, drawn[rows].T].reshape(vectors.shape[1], -1)
        r = vectors @ permuted
        if given is not None:
            # Permuted residuals may go along with what is given again.
            r = partial_correlation(r, given_r, beside @ permuted)
        null[rows] = np.moveaxis(r.reshape(len(metrics), -1, len(targets)), 0, 1)
    centre = 0.5 if coefficient == "pairwise" else 0.0
    null -= centre
    return PermutationTest(observed - centre, null)


def permutation_p(
    metrics: Floats, targets: Floats, coefficient: Coefficient, scope: Scope, drawn: Ints
) -> Floats:
    """(n_metrics, n_targets) two-sided p-values of `permutation_test`."""
    return permutation_test(metrics, targets, coefficient, scope, drawn).p


def residuals(targets: Floats, given: Floats, scope: Scope) -> Floats:
    """Targets (k, n_datasets, n_trackers) less their regression on given (1, n_datasets, n_trackers)."""
    axes = -1 if scope == "within" else (-2, -1)
    y, z = (values - values.mean(axis=axes, keepdims=True) for values in (targets, given))
    squares = float((z**2).sum())
    slope = (y * z).sum(axis=(-2, -1), keepdims=True) / squares if squares > 0.0 else 0.0
    return np.asarray(y - slope * z)
