"""Worlds from which studies are drawn: trackers of a population, datasets that differ, dialogs they share.

A tracker's true value of a metric on a dataset is that of the tracker, plus something of its own on this
dataset (interaction), plus a shift of the dataset. What is observed is a mean over dialogs: the truth and
noise, half of whose variance is the dialog's (the same for all trackers) and half the tracker's own on this
dialog.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from extrinsic.correlation.resampling import Sample

from extrinsic.arrays import Floats

N_DATASETS = 4
N_DIALOGS = 300
SHIFT = 2.0

DEGREES = 4.0
"""Of freedom, of heavy tails: the variance exists, the kurtosis does not."""

OUTLIERS, FAR = 1.0 / 16.0, 4.0
"""Share of degenerate trackers, and by how many standard deviations they are worse in everything."""

NOISE = 5.0
NOISY = 15.0
"""Standard deviations of a dialog, in those of the trackers."""


@dataclass(frozen=True)
class World:
    """correlations (k, k) of true values over trackers: metrics first, the target last.

    noise_r: correlation of the noises of metrics and target, on the same dialog of the same tracker.
    """

    population: str
    n_trackers: int
    correlations: tuple[tuple[float, ...], ...]
    interaction: float = 0.3
    noise_r: float = 0.5
    n_datasets: int = N_DATASETS

    @property
    def noise(self) -> float:
        return NOISY if self.population == "noisy" else NOISE

    def truth(self, noise: float = 0.0, metric: int = 0) -> float:
        """The correlation of a metric with the target, over the population, within a dataset."""
        apart = OUTLIERS * (1.0 - OUTLIERS) * FAR**2 if self.population == "degenerate" else 0.0
        return (self.correlations[metric][-1] + apart + self.noise_r * noise) / (1.0 + apart + noise)

    def truth_here(self, metric: int = 0) -> float:
        """The same of what so many dialogs show: noise on top, the part that trackers do not share."""
        return self.truth(0.5 * self.noise**2 / N_DIALOGS, metric)


def one_metric(
    population: str, n_trackers: int, r: float, interaction: float = 0.3, noise_r: float = 0.5
) -> World:
    return World(population, n_trackers, ((1.0, r), (r, 1.0)), interaction, noise_r)


def two_metrics(population: str, n_trackers: int, r_a: float, r_b: float, r_ab: float) -> World:
    return World(population, n_trackers, ((1.0, r_ab, r_a), (r_ab, 1.0, r_b), (r_a, r_b, 1.0)))


ORDERS = ("equal", "three best", "steep")
"""Of many metrics: all alike; three better than the rest; every one better than the next."""

ALIKE = 0.6
"""Correlation of what two of many metrics see beside the target."""


def many_metrics(order: str, n_metrics: int, n_trackers: int, n_datasets: int) -> World:
    r = {
        "equal": np.full(n_metrics, 0.8),
        "three best": np.where(np.arange(n_metrics) < 3, 0.85, 0.7),
        "steep": np.linspace(0.9, 0.2, n_metrics),
    }[order]
    apart = np.sqrt(1.0 - r**2)
    among = np.outer(r, r) + ALIKE * np.outer(apart, apart)
    np.fill_diagonal(among, 1.0)
    matrix = np.block([[among, r[:, None]], [r[None, :], np.ones((1, 1))]])
    return World("normal", n_trackers, tuple(map(tuple, matrix.tolist())), n_datasets=n_datasets)


def effective_points(n_trackers: int) -> int:
    """The number of points, less the degrees of freedom that centring within datasets takes."""
    return n_trackers * N_DATASETS - (N_DATASETS - 1)


def draw_truth(world: World, rng: np.random.Generator) -> Floats:
    """(k, n_datasets, n_trackers) the values that unlimited dialogs would show."""
    k, n_trackers = len(world.correlations), world.n_trackers
    factor = np.linalg.cholesky(np.array(world.correlations))
    own = rng.normal(size=(k, 1, n_trackers))
    there = rng.normal(size=(k, world.n_datasets, n_trackers))
    mixed = np.sqrt(1.0 - world.interaction) * own + np.sqrt(world.interaction) * there
    values = np.tensordot(factor, mixed, axes=1)
    if world.population.startswith("heavy"):
        # One scale a tracker stretches all of its values; `heavy_apart` has one for each of them.
        scales = k if world.population == "heavy_apart" else 1
        chi = rng.chisquare(DEGREES, (scales, 1, n_trackers))
        values = values * np.sqrt((DEGREES - 2.0) / chi)
    if world.population == "degenerate":
        values = values - FAR * (rng.random(n_trackers) < OUTLIERS)
    return np.asarray(values + SHIFT * rng.normal(size=(k, world.n_datasets, 1)))


def draw_dialogs(world: World, truth: Floats, rng: np.random.Generator) -> Floats:
    """(k, n_datasets, n_trackers, n_dialogs) what every dialog shows."""
    return np.asarray(truth[..., None] + world.noise * np.sqrt(0.5) * _noise(world, rng, N_DIALOGS))


def draw_means(world: World, truth: Floats, rng: np.random.Generator) -> Floats:
    """(k, n_datasets, n_trackers) means over dialogs, drawn at once: the same distribution."""
    return np.asarray(truth + world.noise * np.sqrt(0.5 / N_DIALOGS) * _noise(world, rng))


def _noise(world: World, rng: np.random.Generator, *n_dialogs: int) -> Floats:
    """(k, n_datasets, n_trackers, *n_dialogs): what trackers share, and what each has of its own."""
    k = len(world.correlations)
    factor = np.linalg.cholesky(np.full((k, k), world.noise_r) + (1.0 - world.noise_r) * np.eye(k))
    shared, own = (
        np.tensordot(factor, rng.normal(size=(k, world.n_datasets, n, *n_dialogs)), axes=1)
        for n in (1, world.n_trackers)
    )
    return np.asarray(shared + own)


def draw_weights(n_resamples: int, rng: np.random.Generator) -> Floats:
    """(n_datasets, n_resamples, n_dialogs) the weight of each dialog in resamples of dialogs.

    Drawn once for all studies of a cell: what dialogs show is drawn anew for each of them, so that it does
    not matter which are taken.
    """
    shares = np.full(N_DIALOGS, 1.0 / N_DIALOGS)
    return np.asarray(rng.multinomial(N_DIALOGS, shares, (N_DATASETS, n_resamples)) / N_DIALOGS)


def resample_dialogs(dialogs: Floats, weights: Floats) -> Floats:
    """(n_resamples, k, n_datasets, n_trackers) means over resampled dialogs, the same for all trackers."""
    k, n_datasets, n_trackers, n_dialogs = dialogs.shape
    drawn = np.empty((weights.shape[1], k, n_datasets, n_trackers))
    for dataset in range(n_datasets):
        part = dialogs[:, dataset].reshape(-1, n_dialogs)
        drawn[:, :, dataset] = (weights[dataset] @ part.T).reshape(-1, k, n_trackers)
    return drawn


def draw_study(world: World, weights: Floats, rng: np.random.Generator) -> tuple[Floats, Sample]:
    """What every dialog shows; metrics and target as observed, and on resamples of dialogs."""
    dialogs = draw_dialogs(world, draw_truth(world, rng), rng)
    means, drawn = dialogs.mean(axis=-1), resample_dialogs(dialogs, weights)
    return dialogs, Sample(means[:-1], means[-1:], drawn[:, :-1], drawn[:, -1:])


def study_rng(seed: int, *key: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
