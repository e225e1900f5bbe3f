"""Simulated studies of known truth: which there are, and the rows of each cell."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import msgspec
import numpy as np
from extrinsic.correlation.best_set import best_set
from extrinsic.correlation.deciding import calibration
from extrinsic.correlation.dependent import williams, zou_interval
from extrinsic.correlation.disattenuation import disattenuation
from extrinsic.correlation.estimate import correlation_estimate
from extrinsic.correlation.paired_permutation import swapped_p
from extrinsic.correlation.resampling import Sample, draw_trackers
from scipy.stats import kstest

from experiments.uncertainty import worlds
from experiments.uncertainty.tables import (
    TESTS,
    Carried,
    Chosen,
    Combined,
    Coverage,
    Decided,
    Difference,
    Independent,
    Null,
)
from experiments.uncertainty.worlds import N_DATASETS, N_DIALOGS, effective_points, study_rng
from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.verdict.coefficients import correlate
from extrinsic.verdict.composite import compose, correlation_of
from extrinsic.verdict.intervals import (
    draw_permutations,
    interval,
    jackknife_interval,
    leverage,
    permutation_test,
    without_each,
)

LEVEL, ALPHA = 0.95, 0.05

Pair = tuple[float, float, float]
"""r_a, r_b, r_ab: of two metrics with the target, and with each other."""


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is simulated; see config.toml."""

    seed: int
    chosen_seed: int
    earlier_seed: int
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
    n_metrics: int
    sizes: tuple[tuple[int, int], ...]
    chosen_studies: int
    draws: int
    combined_trackers: tuple[int, ...]
    combined_methods: tuple[str, ...]
    combined_studies: int
    decided_populations: tuple[str, ...]
    decided_studies: int
    carried_populations: tuple[str, ...]
    carried_trackers: tuple[int, ...]
    carried_studies: int

    def cells(self) -> list[tuple[str, tuple[Any, ...]]]:
        """Tables and parameters; a cell's random numbers depend on the seed and its index in this list."""
        parameters = {
            "coverage": product(self.populations, self.n_trackers, self.correlations),
            "null": product(self.null_worlds, self.n_trackers, self.interactions),
            "differences": product(self.pairs, self.n_trackers),
            "independent": product(self.zou_pairs, self.n_points),
            "chosen": product(worlds.ORDERS, self.sizes),
            "combined": product(self.combined_methods, self.combined_trackers),
            "decided": product(self.decided_populations, self.n_trackers),
            "carried": product(self.carried_populations, self.carried_trackers),
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
        withheld = float(np.isnan(low).mean())
        low, high = low[~np.isnan(low)], high[~np.isnan(low)]
        below, above = truth < low, truth > high
        shares = (~below & ~above, (low <= here) & (here <= high), high - low, below, above)
        means = [*(float(share.mean()) for share in shares), withheld]
        cell = (population, n_trackers, r, truth, here, mean_r)
        rows.append(Coverage(*cell, way, method, config.studies, *means))
    return rows


DEFAULT = ("jackknife", "noise removed")
"""What correlations.csv has as low and high."""


def study_intervals(sample: Sample, trackers: Ints) -> tuple[float, dict[tuple[str, str], Floats]]:
    """r, and low and high (2,) by way and method: the default before, the jackknife, and the default now."""
    r = correlation_estimate(sample, "pearson", "within", "both", trackers)
    assert r.left_out is not None
    intervals = {("both", "percentile"): np.ravel(r.interval(LEVEL))}
    intervals["closed form", "jackknife"] = np.ravel(r.jackknife(LEVEL))
    ends = jackknife_interval(r.value, r.left_out, LEVEL, heavy_tails=True)
    intervals["jackknife", "heavy tails"] = np.ravel(ends)
    true_ends = disattenuation(sample, "within").true_interval(ends)
    intervals[DEFAULT] = np.ravel(true_ends)
    return float(r.value[0, 0]), intervals


def null_rows(
    config: Config, number: int, null_world: tuple[str, float], n_trackers: int, interaction: float
) -> list[Null]:
    """p-values of a metric that is unrelated to the target: they should be spread evenly."""
    population, noise_r = null_world
    world = worlds.one_metric(population, n_trackers, 0.0, interaction, noise_r)
    p = np.empty(config.null_studies)
    for study in range(config.null_studies):
        rng = study_rng(config.earlier_seed, number, study)
        values = worlds.draw_means(world, worlds.draw_truth(world, rng), rng)
        drawn = draw_permutations(f"{number} {study}", n_trackers, config.permutations, config.earlier_seed)
        p[study] = permutation_test(values[:1], values[1:], "pearson", "within", drawn).p[0, 0]
    at_05, at_01 = (float((p <= alpha).mean()) for alpha in (0.05, 0.01))
    distance = float(kstest(p, "uniform").statistic)
    return [Null(population, n_trackers, interaction, noise_r, config.null_studies, distance, at_05, at_01)]


def difference_rows(config: Config, number: int, pair: Pair, n_trackers: int) -> list[Difference]:
    """The share of studies in which each test finds two metrics different."""
    world = worlds.two_metrics("normal", n_trackers, *pair)
    weights = worlds.draw_weights(config.resamples, study_rng(config.earlier_seed, number))
    studies = []
    for study in range(config.pair_studies):
        dialogs, sample = worlds.draw_study(world, weights, study_rng(config.earlier_seed, number, study))
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
        p = swapped_p(parts, target, "within", way, permutations, identity, config.earlier_seed)
        different[f"swapped_{way}"] = bool(p[0, 1] <= ALPHA)
    trackers = draw_trackers(identity, sample.n_trackers, config.resamples, config.earlier_seed)
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
    points = factor @ study_rng(config.earlier_seed, number).normal(size=(config.zou_studies, 3, n_points))
    r = correlate(points[:, :, None], points[:, :, None], "pearson", "pooled")
    low, high = np.array([zou_interval(each[0, 2], each[1, 2], each[0, 1], n_points) for each in r]).T
    inside = (low <= pair[0] - pair[1]) & (pair[0] - pair[1] <= high)
    width = float((high - low).mean())
    return [Independent(n_points, *pair, config.zou_studies, float(inside.mean()), width)]


def chosen_rows(config: Config, number: int, order: str, size: tuple[int, int]) -> list[Chosen]:
    """The best set, the ranks and the intervals of the first of many metrics, beside what was said before."""
    n_trackers, n_datasets = size
    world = worlds.many_metrics(order, config.n_metrics, n_trackers, n_datasets)
    r = np.array([world.truth(metric=metric) for metric in range(config.n_metrics)])
    is_best, rank = r == r.max(), 1 + (r[None, :] > r[:, None]).sum(axis=1)
    studies = []
    for study in range(config.chosen_studies):
        rng, identity = study_rng(config.chosen_seed, number, study), f"{number} {study}"
        values = worlds.draw_means(world, worlds.draw_truth(world, rng), rng)
        sample = Sample.of_trackers(values[:-1], values[-1:], config.draws)
        trackers = draw_trackers(identity, n_trackers, config.draws, config.chosen_seed)
        estimate = correlation_estimate(sample, "pearson", "within", "trackers", trackers).take(
            slice(None), 0
        )
        assert estimate.left_out is not None
        made = best_set(estimate.value, estimate.left_out, config.draws, identity, config.chosen_seed, LEVEL)
        cluster = first_cluster(config, identity, sample, estimate.value)
        first = int(estimate.value.argmax())
        truth = world.truth_here(first)
        alone = estimate.take(first)
        intervals = (made.low[first], made.high[first]), alone.jackknife(LEVEL), alone.interval(LEVEL)
        studies.append(
            (
                made.in_set[is_best].mean(),
                made.size,
                cluster[is_best].mean(),
                cluster.sum(),
                *(float(low <= truth <= high) for low, high in intervals),
                ((made.rank_low <= rank) & (rank <= made.rank_high)).mean(),
                (made.rank_high - made.rank_low).mean(),
            )
        )
    return [Chosen(order, n_trackers, n_datasets, config.chosen_studies, *np.mean(studies, axis=0).tolist())]


def first_cluster(config: Config, identity: str, sample: Sample, r: Floats) -> Bools:
    """(n_metrics,) what stood in place of the best set before: from the first down to one clearly worse than
    it."""
    parts = [sample.metrics[:, dataset, :, None] for dataset in range(sample.metrics.shape[1])]
    permutations, seed = config.pair_permutations, config.chosen_seed
    p = swapped_p(parts, sample.targets[0], "within", "trackers", permutations, identity, seed)
    order = np.argsort(-r, kind="stable")
    worse = p[order[0], order] < ALPHA
    inside = np.zeros(len(r), dtype=bool)
    inside[order[: int(worse.argmax()) if worse.any() else len(order)]] = True
    return inside


def combined_rows(config: Config, number: int, method: str, n_trackers: int) -> list[Combined]:
    """Intervals of composites of eight metrics."""
    world = worlds.many_metrics("steep", 8, n_trackers, N_DATASETS)
    matrix = np.array(world.correlations) + 0.5 * worlds.NOISE**2 / N_DIALOGS * (
        world.noise_r + (1.0 - world.noise_r) * np.eye(len(world.correlations))
    )
    studies, truths = [], []
    for study in range(config.combined_studies):
        rng = study_rng(config.chosen_seed, number, study)
        values = worlds.draw_means(world, worlds.draw_truth(world, rng), rng)
        made = compose(values[:-1], values[-1], method, jackknife=True)
        weights = made.weights / np.sqrt(values[:-1].var(axis=-1).mean(axis=-1))
        spread = np.sqrt(weights @ matrix[:-1, :-1] @ weights * matrix[-1, -1])
        truths.append(float(weights @ matrix[:-1, -1] / spread))
        trackers = draw_trackers(f"{number} {study}", n_trackers, config.draws, config.chosen_seed)
        drawn = [correlation_of(made.predicted[:, rows], made.wanted[:, rows]) for rows in trackers]
        observed = np.array(made.r)
        ends = jackknife_interval(observed, made.left_out, LEVEL), interval(observed, np.array(drawn))
        studies.append((made.r, *(float(end) for pair in ends for end in pair)))
    r, low, high, low_before, high_before = np.array(studies).T
    truth = float(np.mean(truths))
    refitted, resampled = (low <= truth) & (truth <= high), (low_before <= truth) & (truth <= high_before)
    shares = (truth, float(r.mean()), float(refitted.mean()), float(resampled.mean()))
    return [Combined(method, n_trackers, config.combined_studies, *shares)]


def decided_rows(config: Config, number: int, population: str, n_trackers: int) -> list[Decided]:
    """Pairs of trackers left out, over studies of every correlation but 0, where nothing can be said."""
    sums: dict[tuple[float, float], Floats] = {}
    for study in range(config.decided_studies):
        rng = study_rng(config.chosen_seed, number, study)
        correlations = [r for r in config.correlations if r > 0.0]
        world = worlds.one_metric(population, n_trackers, correlations[study % len(correlations)])
        values = worlds.draw_means(world, worlds.draw_truth(world, rng), rng)
        for part in calibration(values[0], values[1]).bins:
            counts = np.nan_to_num(np.array([1.0, part.predicted, part.right])) * part.n_pairs
            sums[part.low, part.high] = sums.get((part.low, part.high), np.zeros(3)) + counts
    return [
        Decided(
            population, n_trackers, config.decided_studies, *ends, int(n), float(said / n), float(right / n)
        )
        for ends, (n, said, right) in sums.items()
        if n
    ]


SHARES = (0.0, 0.3, 0.5, 0.7, 1.0)
"""Of the variance, that the tracker with most of it has."""


def carried_rows(config: Config, number: int, population: str, n_trackers: int) -> list[Carried]:
    """Intervals by how much one tracker carries, over studies of every correlation on two datasets."""
    studies = []
    for study in range(config.carried_studies):
        rng = study_rng(config.seed, number, study)
        r = config.correlations[study % len(config.correlations)]
        world = replace(worlds.one_metric(population, n_trackers, r), n_datasets=2)
        values = worlds.draw_means(world, worlds.draw_truth(world, rng), rng)
        r_here = correlate(values[:1], values[1:], "pearson", "within")
        left_out = without_each(values[:1], values[1:], "pearson", "within")
        low, high = jackknife_interval(r_here, left_out, LEVEL, heavy_tails=True)
        share = leverage(values[:1], values[1:], "within").max()
        covered = low.item() <= world.truth_here() <= high.item()
        studies.append((share, covered, (high - low).item()))
    table = np.array(studies)
    rows = []
    for least, most in pairwise(SHARES):
        part = table[(table[:, 0] >= least) & (table[:, 0] < most)]
        of_all = len(part) / len(table)
        means = part[:, 1:].mean(axis=0).tolist() if len(part) else [None, None]
        rows.append(Carried(population, n_trackers, config.carried_studies, least, most, of_all, *means))
    return rows
