"""Coefficients of correlation between metrics and targets, for many resamples at once.

The scope is what is compared. `pooled`: the values as they are. `within`: each dataset's mean is subtracted
first, so that only differences among trackers on the same dialogs count. The coefficient is then that of all
points, except that `pairwise` within datasets compares only trackers of the same dataset.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from extrinsic.arrays import Bools, Floats
from extrinsic.errors import UsageError, did_you_mean

Coefficient = Literal["pearson", "spearman", "kendall", "pairwise"]
Scope = Literal["within", "pooled"]

COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall", "pairwise")
SCOPES: tuple[Scope, ...] = ("within", "pooled")

DIGITS = 12
"""Values are rounded to this many digits of the largest, so that a difference by rounding is a tie."""


def correlate(metrics: Floats, targets: Floats, coefficient: Coefficient, scope: Scope) -> Floats:
    """(..., n_metrics, n_targets) coefficients; NaN where a value is NaN or all points are equal.

    metrics (..., n_metrics, n_datasets, n_trackers), targets (..., n_targets, n_datasets, n_trackers).

    pearson, spearman, kendall (tau-b): the usual definitions. pairwise: of the pairs of points whose
    targets differ, the share that the metric puts in the same order, a tie of the metric counting half.
    """
    if coefficient not in COEFFICIENTS:
        hint = did_you_mean(coefficient, COEFFICIENTS)
        raise UsageError(f"there is no coefficient {coefficient!r}; {hint}")
    if scope not in SCOPES:
        raise UsageError(f"there is no scope {scope!r}; {did_you_mean(scope, SCOPES)}")
    if coefficient in ("pearson", "spearman"):
        return _cosines(_deviations(metrics, coefficient, scope), _deviations(targets, coefficient, scope))
    if coefficient == "kendall":
        return _cosines(_signs(points(metrics, scope)), _signs(points(targets, scope)))
    kept = same_dataset(metrics.shape[-2], metrics.shape[-1]) if scope == "within" else None
    first, second = points(metrics, "pooled"), points(targets, "pooled")
    return _accuracy(_signs(first, kept), _signs(second, kept))


def points(values: Floats, scope: Scope) -> Floats:
    """(..., n_datasets * n_trackers) the points of (..., n_datasets, n_trackers), centred where `within`.

    Centred values are divided by the largest one, which changes no coefficient.
    """
    unit = np.abs(values).max(axis=(-2, -1), keepdims=True)
    if scope == "within":
        values = values - values.mean(axis=-1, keepdims=True)
    values = np.round(values / np.where(unit > 0.0, unit, 1.0), DIGITS)
    return values.reshape(*values.shape[:-2], -1)


def unit_vectors(values: Floats, coefficient: Coefficient, scope: Scope) -> Floats:
    """(..., n_points) vectors of length 1 whose products are Pearson's or Spearman's coefficient.

    NaN where a value is NaN or all points are equal. Permuted trackers have permuted vectors.
    """
    vectors = _deviations(values, coefficient, scope)
    lengths = np.sqrt((vectors**2).sum(axis=-1, keepdims=True))
    return np.asarray(vectors / np.where(lengths > 0.0, lengths, np.nan))


def _deviations(values: Floats, coefficient: Coefficient, scope: Scope) -> Floats:
    """The centred `points`, rounded once, or their centred ranks."""
    if coefficient == "spearman":
        return _centred(_ranks(points(values, scope)))
    if scope == "pooled":
        return _centred(values.reshape(*values.shape[:-2], -1))
    unit = np.abs(values).max(axis=(-2, -1), keepdims=True)
    return _centred(values, unit).reshape(*values.shape[:-2], -1)


def numbers_per_row(values: Floats, coefficient: Coefficient) -> int:
    """How many numbers a coefficient needs at once for each row of (..., n_datasets, n_trackers) values."""
    n_points = int(values.shape[-1] * values.shape[-2])
    return n_points**2 // 2 if coefficient in ("kendall", "pairwise") else n_points


def same_dataset(n_datasets: int, n_trackers: int) -> Bools:
    """(n_pairs,) whether the points i < j, in the order of np.triu_indices, are of the same dataset."""
    dataset = np.repeat(np.arange(n_datasets), n_trackers)
    first, second = np.triu_indices(len(dataset), 1)
    return np.asarray(dataset[first] == dataset[second])


def is_flat(values: Floats, scope: Scope) -> Bools:
    """(...,) whether all points have the same value."""
    return np.asarray((_centred(points(values, scope)) == 0.0).all(axis=-1))


def _centred(values: Floats, unit: Floats | None = None) -> Floats:
    """The values less their mean along the last axis, in units of the largest."""
    unit = np.abs(values).max(axis=-1, keepdims=True) if unit is None else unit
    unit = np.where(unit > 0.0, unit, 1.0)
    return np.asarray(np.round((values - values.mean(axis=-1, keepdims=True)) / unit, DIGITS))


def _cosines(first: Floats, second: Floats) -> Floats:
    """(..., m, k) of (..., m, n) and (..., k, n). Tau-b is the cosine of the signs of pairs."""
    products = (first @ np.swapaxes(second, -1, -2)).astype(np.float64)
    lengths = [np.sqrt((side**2).sum(axis=-1, dtype=np.float64)) for side in (first, second)]
    norms = lengths[0][..., :, None] * lengths[1][..., None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(np.where(norms > 0.0, products / norms, np.nan), -1.0, 1.0)


def _ranks(values: Floats) -> Floats:
    from scipy.stats import rankdata

    ranks = rankdata(values, axis=-1)
    # With a NaN among them, none of the values has a rank.
    return np.asarray(np.where(np.isnan(values).any(axis=-1, keepdims=True), np.nan, ranks))


def _signs(values: Floats, kept: Bools | None = None) -> Floats:
    """(..., n_pairs) the sign of the difference of the points i < j; `kept`: only of these pairs."""
    first, second = np.triu_indices(values.shape[-1], 1)
    if kept is not None:
        first, second = first[kept], second[kept]
    # Sums of a few thousand signs are exact in single precision.
    return np.asarray(np.sign(values[..., first] - values[..., second]), dtype=np.float32)


def _accuracy(first: Floats, second: Floats) -> Floats:
    concordance = (first @ np.swapaxes(second, -1, -2)).astype(np.float64)
    untied = np.abs(second).sum(axis=-1, dtype=np.float64)[..., None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(untied > 0.0, 0.5 + 0.5 * concordance / untied, np.nan))
