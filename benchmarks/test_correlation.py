"""What correlations cost: resamples, permutations and swaps of 100 metrics over 4 datasets of 16 trackers.

Peers are what one would write with scipy and numpy, a metric (or two of them) at a time. They take minutes
for all of it; a part is timed, and the figure is what the whole would take at that pace.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from functools import cache
from itertools import combinations
from pathlib import Path
from time import process_time

import numpy as np
import pytest
from extrinsic.correlation.best_set import best_set
from extrinsic.correlation.paired_permutation import Swapped, swapped_p
from extrinsic.correlation.resampling import Sample, draw_trackers, resampled_correlations
from extrinsic.study.correlation_stage import CorrelationTask, tables_of
from extrinsic.study.resampled_points import ResampledPoints
from pytest_benchmark.fixture import BenchmarkFixture
from scipy import stats
from threadpoolctl import threadpool_limits

from benchmarks.measuring import LINES, seconds
from extrinsic.arrays import Floats
from extrinsic.study.settings_file import read_study
from extrinsic.verdict.coefficients import Coefficient, correlate
from extrinsic.verdict.intervals import draw_permutations, permutation_test, without_each

N_METRICS, N_DATASETS, N_TRACKERS, N_DIALOGS = 100, 4, 16, 300
N_RESAMPLES = N_PERMUTATIONS = 1_000
N_PAIRS = N_METRICS * (N_METRICS - 1) // 2

SCIPY: dict[str, Callable[[Floats, Floats], Floats]] = {
    "pearson": lambda x, y: stats.pearsonr(x, y, axis=-1).statistic,
    "spearman": lambda x, y: np.array([stats.spearmanr(row, y).statistic for row in x]),
    "kendall": lambda x, y: np.array([stats.kendalltau(row, y).statistic for row in x]),
}

# Seconds, and how many times faster than the peer.
RESAMPLING_LIMITS = {"pearson": (2.0, 2.0), "spearman": (4.0, 15.0), "kendall": (10.0, 5.0)}
PERMUTATION_LIMIT, PERMUTATION_TIMES = 0.05, 8.0
RELATING = 60.0
SWAPPING_LIMITS: dict[Swapped, tuple[float, float]] = {"trackers": (2.0, 5.0), "both": (8.0, 200.0)}


@cache
def sample() -> Sample:
    rng = np.random.default_rng(0)
    shape = (N_METRICS, N_DATASETS, N_TRACKERS)
    target = rng.normal(size=(1, *shape[1:]))
    metrics = target + rng.normal(size=shape)
    return Sample(
        metrics,
        target,
        metrics + 0.2 * rng.normal(size=(N_RESAMPLES, *shape)),
        target + 0.2 * rng.normal(size=(N_RESAMPLES, *target.shape)),
    )


def centred(values: Floats) -> Floats:
    """(..., n_points) less the dataset's mean."""
    return (values - values.mean(axis=-1, keepdims=True)).reshape(*values.shape[:-2], -1)


def told(what: str, ours: float, peer: float, limit: float, times: float, how: str) -> None:
    LINES.append(
        f"{what}: {ours * 1000:,.1f} ms (at most {limit * 1000:,.0f}) against {peer * 1000:,.0f} ms {how}, "
        f"{peer / ours:,.1f} times (at least {times:.1f})"
    )


@pytest.mark.parametrize("coefficient", RESAMPLING_LIMITS)
def test_resamples_of_trackers_and_dialogs(benchmark: BenchmarkFixture, coefficient: Coefficient) -> None:
    """The values on resampled dialogs are there; against scipy's function, resample by resample."""
    limit, times = RESAMPLING_LIMITS[coefficient]
    of, drawn = sample(), draw_trackers("benchmark", N_TRACKERS, N_RESAMPLES, 0)
    few = 40 if coefficient == "pearson" else 4
    found: list[Floats] = []

    def ours() -> None:
        found[:] = [resampled_correlations(of, coefficient, "within", "both", drawn)]

    def peer() -> Floats:
        rows = []
        for row in range(few):
            chosen = drawn[row]
            x, y = centred(of.metrics_drawn[row][..., chosen]), centred(of.targets_drawn[row][..., chosen])[0]
            # Equal values differ by rounding once a mean was taken away.
            rows.append(SCIPY[coefficient](np.round(x, 10), np.round(y, 10)))
        return np.stack(rows)

    with threadpool_limits(1):
        took = min(seconds(ours) for _ in range(3))
        its = min(seconds(peer) for _ in range(3)) * N_RESAMPLES / few
        benchmark.pedantic(ours, rounds=1)
    assert found[0][:few, :, 0] == pytest.approx(peer(), abs=1e-8)
    told(f"{N_RESAMPLES:,} resamples of {coefficient}", took, its, limit, times, "of scipy")
    assert took <= limit
    assert its / took >= times


def test_permutations(benchmark: BenchmarkFixture) -> None:
    """Against scipy's permutation test with a statistic that takes many permutations at once."""
    of = sample()
    drawn = draw_permutations("benchmark", N_TRACKERS, N_PERMUTATIONS, 0)
    target, few = of.targets[0], 5
    y = centred(target)

    def ours() -> Floats:
        return permutation_test(of.metrics, of.targets, "pearson", "within", drawn).p

    def peer() -> list[float]:
        p = []
        for metric in of.metrics[:few]:
            x = centred(metric)

            def distance(order: Floats, axis: int = -1, x: Floats = x) -> Floats:
                moved = y.reshape(N_DATASETS, N_TRACKERS)[:, np.moveaxis(order, axis, -1).astype(np.int64)]
                rows = np.moveaxis(moved, 0, -2)
                rows = rows.reshape(*rows.shape[:-2], -1)
                return np.abs(rows @ x) / (np.linalg.norm(x) * np.linalg.norm(y))

            p.append(
                stats.permutation_test(
                    (np.arange(N_TRACKERS),),
                    distance,
                    permutation_type="pairings",
                    vectorized=True,
                    n_resamples=N_PERMUTATIONS,
                    alternative="greater",
                    rng=np.random.default_rng(0),
                ).pvalue
            )
        return p

    with threadpool_limits(1):
        took = min(seconds(ours) for _ in range(30))
        its = min(seconds(peer) for _ in range(5)) * N_METRICS / few
        benchmark.pedantic(ours, rounds=3)
    # Both draw permutations: within four standard errors of each other.
    assert ours()[:few, 0] == pytest.approx(np.array(peer()), abs=4 * np.sqrt(0.5 / N_PERMUTATIONS))
    told(f"{N_PERMUTATIONS:,} permutations", took, its, PERMUTATION_LIMIT, PERMUTATION_TIMES, "of scipy")
    assert took <= PERMUTATION_LIMIT
    assert its / took >= PERMUTATION_TIMES


@pytest.mark.parametrize("way", SWAPPING_LIMITS)
def test_swaps_of_all_pairs(benchmark: BenchmarkFixture, way: Swapped) -> None:
    """All pairs of metrics, against each pair by itself: scores really swapped, of trackers all permutations
    at once, of dialogs (for which there is no room) one after the other."""
    limit, times = SWAPPING_LIMITS[way]
    rng = np.random.default_rng(1)
    target = sample().targets[0]
    size = N_DIALOGS if way == "both" else 1
    noise = 5.0 * rng.normal(size=(N_DATASETS, N_METRICS, N_TRACKERS, size))
    values = np.moveaxis(sample().metrics, 1, 0)
    parts = list((values[..., None] + noise * (way == "both")) / size)
    few = 3 if way == "both" else 40
    goal = centred(target)

    def ours() -> Floats:
        return swapped_p(parts, target, "within", way, N_PERMUTATIONS, "benchmark", 0)

    def standardised(metric: int) -> Floats:
        """(n_datasets, n_trackers, n_dialogs) the scores of a metric whose values have length 1."""
        scores = np.stack([part[metric] for part in parts])
        whole = scores.sum(axis=-1)
        middle = scores - whole.mean(axis=1)[:, None, None] / size
        return middle / np.linalg.norm(centred(whole))

    def difference(one: Floats, other: Floats) -> Floats:
        r = [centred(v) @ goal / np.linalg.norm(centred(v), axis=-1) for v in (one, other)]
        return np.abs(r[0] - r[1])

    def peer() -> list[float]:
        p = []
        for a, b in list(combinations(range(N_METRICS), 2))[:few]:
            first, second = standardised(a), standardised(b)
            coins = np.random.default_rng(2)
            both = (first + second).sum(axis=-1)
            if way == "trackers":
                tosses = coins.integers(0, 2, (N_PERMUTATIONS, 1, N_TRACKERS))
                kept = np.where(tosses == 1, first[..., 0], second[..., 0])
            else:
                rows = (coins.integers(0, 2, first.shape) for _ in range(N_PERMUTATIONS))
                kept = np.stack([np.where(toss == 1, first, second).sum(axis=-1) for toss in rows])
            observed = difference(first.sum(axis=-1)[None], second.sum(axis=-1)[None])
            p.append(float((np.sum(difference(kept, both - kept) >= observed) + 1) / (N_PERMUTATIONS + 1)))
        return p

    with threadpool_limits(1):
        took = min(seconds(ours) for _ in range(2))
        its = seconds(peer) * N_PAIRS / few
        benchmark.pedantic(ours, rounds=1)
    assert ours()[0, 1 : few + 1] == pytest.approx(np.array(peer()), abs=4 * np.sqrt(0.5 / N_PERMUTATIONS))
    what = f"{N_PERMUTATIONS:,} swaps of {N_PAIRS:,} pairs, {way}"
    told(what, took, its, limit, times, "a pair at a time")
    assert took <= limit
    assert its / took >= times


BEST_SET_LIMIT = 5.0


def test_best_set_and_max_t(benchmark: BenchmarkFixture) -> None:
    """120 metrics, 4 datasets, 200 trackers, 2,000 resamples and as many permutations, on one core."""
    rng = np.random.default_rng(0)
    target = rng.normal(size=(1, 4, 200))
    metrics = target + np.linspace(0.3, 2.0, 120)[:, None, None] * rng.normal(size=(120, 4, 200))

    def ours() -> int:
        r = correlate(metrics, target, "pearson", "within")[:, 0]
        left_out = without_each(metrics, target, "pearson", "within")[..., 0]
        drawn = draw_permutations("benchmark", 200, 2_000, 0)
        test = permutation_test(metrics, target, "pearson", "within", drawn)
        return best_set(r, left_out, 2_000, "benchmark", 0).size + int((test.p_max_t < 0.05).sum())

    with threadpool_limits(1):
        took = min(seconds(ours) for _ in range(2))
        benchmark.pedantic(ours, rounds=1)
    LINES.append(f"best set and max-T of 120 metrics: {took:.2f} s (at most {BEST_SET_LIMIT:.0f})")
    assert took <= BEST_SET_LIMIT


def test_relating_two_hundred_trackers() -> None:
    """Every table of one fill rule of configs/population.toml: 200 trackers, 4 datasets, 120 metrics."""
    settings = read_study(Path(__file__).parents[1] / "configs" / "population.toml").correlation
    rng, targets = np.random.default_rng(0), settings.targets
    quality = rng.normal(size=(N_DATASETS, 200))
    shape = (120, *quality.shape)
    metrics = quality + rng.normal(size=shape) * rng.uniform(0.2, 2.0, (120, 1, 1))
    goals = quality + 0.5 * rng.normal(size=(len(targets), *quality.shape))
    drawn = [
        values + 0.1 * rng.normal(size=(settings.resamples, *values.shape)) for values in (metrics, goals)
    ]
    panel = ResampledPoints(
        tuple(f"ds{number}" for number in range(N_DATASETS)),
        tuple(f"t{number}" for number in range(200)),
        tuple((f"m{number}", 1, "joint", None) for number in range(120)),
        targets,
        Sample(metrics, goals, *drawn),
        tuple(rng.normal(size=(120, 200, N_DIALOGS)) for _ in range(N_DATASETS)),
    )
    task = CorrelationTask({}, panel.trackers, (), targets, settings, 0, {}, {})
    begin = process_time()
    with threadpool_limits(1, user_api="blas"):
        rows = tables_of(panel, task)
    took = process_time() - begin
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    LINES.append(
        f"relating 200 trackers x 4 datasets x 120 metrics: {took:.0f} s of CPU (at most {RELATING:.0f}), "
        f"peak of the process {memory:.1f} GB"
    )
    assert len(rows.best_set) == 120 * len(targets)
    assert took <= RELATING
