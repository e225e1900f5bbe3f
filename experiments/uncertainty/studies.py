"""Simulated studies of known truth: which there are, and the rows of each cell."""

from __future__ import annotations

from itertools import product
from typing import Any

import msgspec
import numpy as np
from scipy.stats import kstest

from experiments.uncertainty import worlds
from experiments.uncertainty.tables import TESTS, Coverage, Difference, Independent, Null
from experiments.uncertainty.worlds import N_DATASETS, N_DIALOGS, effective_points, study_rng
from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.coefficients import correlate
from extrinsic.correlation.dependent import fisher_interval, williams, zou_interval
from extrinsic.correlation.estimate import correlation_estimate
from extrinsic.correlation.intervals import METHODS
from extrinsic.correlation.paired_permutation import swapped_p
from extrinsic.correlation.permutation import draw_permutations, permutation_p
from extrinsic.correlation.resampling import WAYS, Sample, draw_trackers

LEVEL, ALPHA = 0.95, 0.05

Pair = tuple[float, float, float]
"""r_a, r_b, r_ab: of two metrics with the target, and with each other."""


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is simulated; see config.toml."""

    seed: int
    n_trackers: tuple[int, ...]
    populations: tuple[str, ...]
    correlations: tuple[float, ...]
    studies: int
    resamples: int
    null_worlds: tuple[tuple[str, float], ...]
    interactions: tuple[float, ...]
    null_studies: int
    permutations: int
    pairs: tuple[Pair, ...]
    pair_studies: int
    pair_permutations: int
    n_points: tuple[int, ...]
    zou_pairs: tuple[Pair, ...]
    zou_studies: int

    def cells(self) -> list[tuple[str, tuple[Any, ...]]]:
        """Tables and parameters; a cell's random numbers depend on the seed and its index in this list."""
        parameters = {
            "coverage": product(self.populations, self.n_trackers, self.correlations),
            "null": product(self.null_worlds, self.n_trackers, self.interactions),
            "differences": product(self.pairs, self.n_trackers),
            "independent": product(self.zou_pairs, self.n_points),
        }
        return [(table, cell) for table, cells in parameters.items() for cell in cells]


def coverage_rows(config: Config, number: int, population: str, n_trackers: int, r: float) -> list[Coverage]:
    """How often intervals contain the truth, and how wide they are: a row for every way and method."""
    world = worlds.one_metric(population, n_trackers, r)
    weights = worlds.draw_weights(config.resamples, study_rng(config.seed, number))
    studies = []
    for study in range(config.studies):
        _, sample = worlds.draw_study(world, weights, study_rng(config.seed, number, study))
        trackers = draw_trackers(f"{number} {study}", n_trackers, config.resamples, config.seed)
        studies.append(study_intervals(sample, trackers))
    truth, here, mean_r = world.truth(), world.truth_here(), float(np.mean([r for r, _ in studies]))
    rows = []
    for way, method in studies[0][1]:
        low, high = np.array([intervals[way, method] for _, intervals in studies]).T
        below, above = truth < low, truth > high
        shares = (~below & ~above, (low <= here) & (here <= high), high - low, below, above)
        means = (float(share.mean()) for share in shares)
        cell = (population, n_trackers, r, truth, here, mean_r)
        rows.append(Coverage(*cell, way, method, config.studies, *means))
    return rows


def study_intervals(sample: Sample, trackers: Ints) -> tuple[float, dict[tuple[str, str], Floats]]:
    """r, and low and high (2,) by way and method: resampled in every way, and three without resamples."""
    intervals: dict[tuple[str, str], Floats] = {}
    for way in WAYS:
        r = correlation_estimate(sample, "pearson", "within", way, trackers, leave_out=way != "dialogs")
        for method in METHODS:
            intervals[way, method] = np.ravel(r.interval(LEVEL, method))
    observed, n_trackers = float(r.value[0, 0]), sample.n_trackers
    for name, n in (("points", effective_points(n_trackers)), ("trackers", n_trackers)):
        intervals["closed form", f"fisher, {name}"] = np.array(fisher_interval(observed, n, LEVEL))
    intervals["closed form", "jackknife"] = np.ravel(r.jackknife(LEVEL))
    return observed, intervals


def null_rows(
    config: Config, number: int, null_world: tuple[str, float], n_trackers: int, interaction: float
) -> list[Null]:
    """p-values of a metric that is unrelated to the target: they should be spread evenly."""
    population, noise_r = null_world
    world = worlds.one_metric(population, n_trackers, 0.0, interaction, noise_r)
    p = np.empty(config.null_studies)
    for study in range(config.null_studies):
        rng = study_rng(config.seed, number, study)
        values = worlds.draw_means(world, worlds.draw_truth(world, rng), rng)
        drawn = draw_permutations(f"{number} {study}", n_trackers, config.permutations, config.seed)
        p[study] = permutation_p(values[:1], values[1:], "pearson", "within", drawn)[0, 0]
    at_05, at_01 = (float((p <= alpha).mean()) for alpha in (0.05, 0.01))
    distance = float(kstest(p, "uniform").statistic)
    return [Null(population, n_trackers, interaction, noise_r, config.null_studies, distance, at_05, at_01)]


def difference_rows(config: Config, number: int, pair: Pair, n_trackers: int) -> list[Difference]:
    """The share of studies in which each test finds two metrics different."""
    world = worlds.two_metrics("normal", n_trackers, *pair)
    weights = worlds.draw_weights(config.resamples, study_rng(config.seed, number))
    studies = []
    for study in range(config.pair_studies):
        dialogs, sample = worlds.draw_study(world, weights, study_rng(config.seed, number, study))
        studies.append(study_tests(config, f"{number} {study}", dialogs, sample))
    shares = {test: float(np.mean([different[test] for different in studies])) for test in TESTS}
    return [Difference(n_trackers, *pair, config.pair_studies, **shares)]


def study_tests(config: Config, identity: str, dialogs: Floats, sample: Sample) -> dict[str, bool]:
    """Whether two metrics differ: when swapped, when resampled, by Williams's test and Zou's interval."""
    different = {}
    # All trackers swap alike over a dataset's dialogs, so that their sum is all it takes.
    contributions = {"trackers": sample.metrics[..., None], "both": dialogs[:2] / N_DIALOGS}
    for way in ("trackers", "both"):
        parts = [contributions[way][:, dataset] for dataset in range(N_DATASETS)]
        target, permutations = sample.targets[0], config.pair_permutations
        p = swapped_p(parts, target, "within", way, permutations, identity, config.seed)
        different[f"swapped_{way}"] = bool(p[0, 1] <= ALPHA)
    trackers = draw_trackers(identity, sample.n_trackers, config.resamples, config.seed)
    r = correlation_estimate(sample, "pearson", "within", "both", trackers, leave_out=False)
    ends = r.take(0, 0).minus(r.take(1, 0)).interval(1.0 - ALPHA)
    different["resampled_both"] = bool(not ends.low <= 0.0 <= ends.high)
    r_a, r_b = map(float, r.value[:, 0])
    r_ab = float(correlate(sample.metrics[:1], sample.metrics[1:], "pearson", "within")[0, 0])
    for name, n in (("points", effective_points(sample.n_trackers)), ("trackers", sample.n_trackers)):
        low, high = zou_interval(r_a, r_b, r_ab, n)
        different[f"zou_{name}"] = not low <= 0.0 <= high
        different[f"williams_{name}"] = williams(r_a, r_b, r_ab, n).p <= ALPHA
    return different


def independent_rows(config: Config, number: int, pair: Pair, n_points: int) -> list[Independent]:
    """Zou's interval where its assumption holds: independent draws from a normal distribution."""
    factor = np.linalg.cholesky(np.array(worlds.two_metrics("normal", n_points, *pair).correlations))
    points = factor @ study_rng(config.seed, number).normal(size=(config.zou_studies, 3, n_points))
    r = correlate(points[:, :, None], points[:, :, None], "pearson", "pooled")
    low, high = np.array([zou_interval(each[0, 2], each[1, 2], each[0, 1], n_points) for each in r]).T
    inside = (low <= pair[0] - pair[1]) & (pair[0] - pair[1] <= high)
    width = float((high - low).mean())
    return [Independent(n_points, *pair, config.zou_studies, float(inside.mean()), width)]
