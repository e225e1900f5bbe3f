"""Soft pairwise accuracy (Thompson, Mathur, Deutsch and Khayrallah 2024).

Does a metric prefer one tracker to another as surely as the target does?

    1 - mean over pairs of |P(i above j by the metric) - P(i above j by the target)|

The probabilities are shares of the resamples of dialogs in which i is above j; the original takes p-values of
paired permutations, which measure the same. Only trackers over the same dialogs are compared.
"""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.resampling import Sample

TIE_DIGITS = 10
"""Values that differ by less than this many digits of the largest are a tie."""


def preferences(drawn: Floats) -> Floats:
    """(k, n_datasets, n_trackers, n_trackers) how often i lies above j, a tie counting half.

    drawn (n_resamples, k, n_datasets, n_trackers): values on resamples of dialogs.

    >>> preferences(np.array([[[[0.3, 0.1 + 0.2, 0.1]]]]))[0, 0].tolist()
    [[0.5, 0.5, 1.0], [0.5, 0.5, 1.0], [0.0, 0.0, 0.5]]
    """
    above = np.zeros((*drawn.shape[1:], drawn.shape[-1]))
    unit = np.abs(drawn).max(axis=-1, keepdims=True)[..., None]
    unit = np.where(unit > 0.0, unit, 1.0)
    for row, scale in zip(drawn, unit, strict=True):
        # Rounded: another processor may differ in the last bits, and a tie must stay one.
        apart = np.round((row[..., :, None] - row[..., None, :]) / scale, TIE_DIGITS)
        above += 0.5 + 0.5 * np.sign(apart)
    return above / len(drawn)


def soft_pairwise_accuracy(sample: Sample, trackers: Ints) -> tuple[Floats, Floats]:
    """(n_metrics, n_targets) the accuracy, and (n_resamples, n_metrics, n_targets) on resampled trackers."""
    of_metrics, of_targets = preferences(sample.metrics_drawn), preferences(sample.targets_drawn)
    n_trackers = sample.n_trackers
    pairs = np.triu(np.ones((n_trackers, n_trackers)), 1)
    weights = np.stack([np.bincount(row, minlength=n_trackers) for row in trackers]).astype(np.float64)
    observed = np.empty((len(of_metrics), len(of_targets)))
    resampled = np.empty((len(trackers), *observed.shape))
    # A pair counts as often as both of its trackers were drawn; the same one twice is no pair.
    of_pairs = weights[:, :, None] * weights[:, None, :] * pairs
    total = of_pairs.sum(axis=(1, 2))
    for target, wanted in enumerate(of_targets):
        apart = np.abs(of_metrics - wanted[None]).mean(axis=1)
        observed[:, target] = 1.0 - (apart * pairs).sum(axis=(1, 2)) / pairs.sum()
        away = of_pairs.reshape(len(trackers), -1) @ apart.reshape(len(apart), -1).T
        with np.errstate(divide="ignore", invalid="ignore"):
            resampled[:, :, target] = 1.0 - away / total[:, None]
    observed[np.isnan(sample.metrics).any(axis=(1, 2))] = np.nan
    observed[:, np.isnan(sample.targets).any(axis=(1, 2))] = np.nan
    resampled[:, np.isnan(observed)] = np.nan
    return observed, resampled
