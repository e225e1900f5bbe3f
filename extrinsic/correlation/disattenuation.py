"""The correlation that unlimited dialogs would show: the dialogs' noise taken out (Spearman 1904).

Values of trackers are means over dialogs: truth and noise. With sums of squares and products S over trackers
(each dataset centred within datasets), and the part N of them that is noise,

    r_true = (S_xy - N_xy) / sqrt((S_xx - N_xx)(S_yy - N_yy)) = (r - shared) / sqrt(reliability_x
    reliability_y),
    reliability_x = 1 - N_xx / S_xx,      shared = N_xy / sqrt(S_xx S_yy).

N is the mean, over resamples of dialogs, of the sums of squares and products of what the resample adds to the
values, centred in the same way: noise that all trackers share on a dataset cancels, and noise that metric and
target share, because they are of the same dialogs, is subtracted too (classical disattenuation assumes that
there is none).

An interval of r is carried over by its ends: r_true rises with r. In simulated studies that holds what it
says; the jackknife of r_true itself does not where r_true is near 1 (experiments/uncertainty).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats
from extrinsic.correlation.resampling import Sample
from extrinsic.verdict.coefficients import Scope
from extrinsic.verdict.intervals import Interval

LEAST = 0.5
"""At a lower reliability there is more noise than signal: r_true is not estimated."""

BLOCK = 64
"""Resamples at once."""


@dataclass(frozen=True, eq=False)
class Disattenuation:
    """metric (n_metrics,), target (n_targets,): reliabilities; NaN where a value is undefined or constant.

    shared (n_metrics, n_targets): the part of r that is noise of dialogs that metric and target share.
    """

    metric: Floats
    target: Floats
    shared: Floats

    @property
    def possible(self) -> Bools:
        """(n_metrics, n_targets) whether both have more signal than noise."""
        return np.asarray((self.metric[:, None] > LEAST) & (self.target[None, :] > LEAST))

    def true(self, r: Floats) -> Floats:
        """(n_metrics, n_targets) r_true from -1 to 1; NaN where it is not possible."""
        scale = np.sqrt(np.where(self.possible, self.metric[:, None] * self.target[None, :], np.nan))
        return np.asarray(np.clip((r - self.shared) / scale, -1.0, 1.0))

    def true_interval(self, ends: Interval) -> Interval:
        return Interval(self.true(ends.low), self.true(ends.high))


def disattenuation(sample: Sample, scope: Scope) -> Disattenuation:
    """The reliabilities of metrics and targets, from the resamples of dialogs.

    Values of two trackers that differ by 2, each with noise of variance 1: S is 2 and N is 1.

    >>> values = np.array([[[0.0, 2.0]]])
    >>> noise = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]).reshape(4, 1, 1, 2)
    >>> sample = Sample(values, values, values + noise, values + noise)
    >>> disattenuation(sample, "within").metric.tolist()
    [0.5]
    """
    axes = -1 if scope == "within" else (-2, -1)

    def flat(values: Floats) -> Floats:
        centred = values - values.mean(axis=axes, keepdims=True)
        return np.asarray(centred.reshape(*values.shape[:-2], -1))

    x, y = flat(sample.metrics), flat(sample.targets)
    noise_x, noise_y, noise_xy = np.zeros(len(x)), np.zeros(len(y)), np.zeros((len(x), len(y)))
    for begin in range(0, sample.n_resamples, BLOCK):
        rows = slice(begin, begin + BLOCK)
        away_x = flat(sample.metrics_drawn[rows]) - x
        away_y = flat(sample.targets_drawn[rows]) - y
        noise_x += (away_x**2).sum(axis=(0, 2))
        noise_y += (away_y**2).sum(axis=(0, 2))
        noise_xy += (away_x @ np.swapaxes(away_y, 1, 2)).sum(axis=0)
    squares_x, squares_y = (x**2).sum(axis=1), (y**2).sum(axis=1)
    n = sample.n_resamples
    with np.errstate(divide="ignore", invalid="ignore"):
        reliability_x, reliability_y = 1.0 - noise_x / n / squares_x, 1.0 - noise_y / n / squares_y
        shared = noise_xy / n / np.sqrt(squares_x[:, None] * squares_y[None, :])
    parts = (np.where(np.isfinite(part), part, np.nan) for part in (reliability_x, reliability_y, shared))
    return Disattenuation(*parts)
