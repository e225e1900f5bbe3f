"""What the statistics cost: permutations of 100 metrics, and choices and bounds of a large study.

The peer of the permutations is what one would write with scipy, a metric at a time. It takes minutes for all
of it; a part is timed, and the figure is what the whole would take at that pace.
"""

from __future__ import annotations

import resource
from functools import cache

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from scipy import stats
from threadpoolctl import threadpool_limits

from benchmarks.measuring import LINES, computing, seconds
from extrinsic.arrays import Floats
from extrinsic.panel import MetricKey, Target
from extrinsic.verdict.choice_table import Declaration, choice_rows
from extrinsic.verdict.intervals import draw_permutations, permutation_test
from tests.verdict.panels import made_panel

N_METRICS, N_DATASETS, N_TRACKERS = 100, 4, 16
N_PERMUTATIONS = 1_000

# Seconds, and how many times faster than the peer.
PERMUTATION_LIMIT, PERMUTATION_TIMES = 0.05, 8.0

CHOICES_LIMIT, CHOICES_MEMORY = 10.0, 1.0
"""Seconds and GB."""


@cache
def sample() -> tuple[Floats, Floats]:
    """Metrics (M, D, S) and a target (1, D, S)."""
    rng = np.random.default_rng(0)
    shape = (N_METRICS, N_DATASETS, N_TRACKERS)
    target = rng.normal(size=(1, *shape[1:]))
    return target + rng.normal(size=shape), target


def centred(values: Floats) -> Floats:
    """(..., n_points) less the dataset's mean."""
    return (values - values.mean(axis=-1, keepdims=True)).reshape(*values.shape[:-2], -1)


def test_permutations(benchmark: BenchmarkFixture) -> None:
    """Against scipy's permutation test with a statistic that takes many permutations at once."""
    metrics, targets = sample()
    drawn = draw_permutations("benchmark", N_TRACKERS, N_PERMUTATIONS, 0)
    target, few = targets[0], 5
    y = centred(target)

    def ours() -> Floats:
        return permutation_test(metrics, targets, "pearson", "within", drawn).p

    def peer() -> list[float]:
        p = []
        for metric in metrics[:few]:
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
    LINES.append(
        f"{N_PERMUTATIONS:,} permutations: {took * 1000:,.1f} ms (at most {PERMUTATION_LIMIT * 1000:,.0f}) "
        f"against {its * 1000:,.0f} ms of scipy, {its / took:,.1f} times (at least {PERMUTATION_TIMES:.1f})"
    )
    assert took <= PERMUTATION_LIMIT
    assert its / took >= PERMUTATION_TIMES


def test_choices_of_two_hundred_trackers(benchmark: BenchmarkFixture) -> None:
    """All rows of choices.csv for one target: 134 metrics on 4 datasets, bounds by 2,000 draws."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(4, 200))
    scores = values + np.linspace(0.2, 2.0, 134)[:, None, None] * rng.normal(size=(134, 4, 200))
    keys = [MetricKey(f"m{number}", 1, "joint") for number in range(134)]
    panel = made_panel(
        [f"t{number}" for number in range(200)],
        [Target("rl.live", items="none", primary=True, unit="points")],
        [f"ds{number}" for number in range(4)],
        keys,
        scores,
        values[None],
    )
    declaration = Declaration(metrics=tuple(key.metric for key in keys[:10]), draws=2_000)
    found: list[int] = []

    def rows() -> None:
        found.append(len(list(choice_rows(panel, panel.names, declaration))))

    with threadpool_limits(1, user_api="blas"):
        took = computing(rows)
        benchmark.pedantic(rows, rounds=1)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    LINES.append(
        f"choices and bounds of 200 trackers x 4 datasets x 134 metrics, all and core: {took:.1f} s of CPU "
        f"(at most {CHOICES_LIMIT:.0f}), peak of the process {memory:.2f} GB (at most {CHOICES_MEMORY:.0f})"
    )
    assert found[0] == 2 * 134
    assert took <= CHOICES_LIMIT
    assert memory <= CHOICES_MEMORY
