"""What the engine of a study costs: beside the work itself, with two processes, and from stored statistics.

`quick` in small: its trackers and metrics, fewer callers. The shares are of wall time, so they mean something
only on a machine that has nothing else to do.
"""

from __future__ import annotations

import csv
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from extrinsic.correlation.resampling import draw_trackers, resampled_correlations
from extrinsic.study.resampled_points import TargetValue, build_panel
from pytest_benchmark.fixture import BenchmarkFixture
from threadpoolctl import threadpool_limits

from benchmarks.measuring import LINES, seconds
from extrinsic.study.engine import Engine
from extrinsic.study.plan import plan_study
from extrinsic.study.runner import run_study
from extrinsic.study.score_stage import Measurements, ScoreTask, TrackerScores
from extrinsic.study.settings import MetricsTable, SimulationTable, StudySettings, TrackersTable
from extrinsic.study.settings_file import read_study
from extrinsic.study.store import Result, StageKey, Store

CONFIG = Path(__file__).resolve().parents[1] / "configs" / "quick.toml"
CHANGES = (
    "trackers.population.size=6",
    'trackers.built_in=["hwu", "focus", "vote"]',
    "value.live_dialogs=500",
    "correlation.resamples=200",
    "correlation.permutations=999",
)

OVERHEAD, SPEED_UP, RESAMPLING = 0.05, 1.7, 3.0

DATASETS = ("ds1", "ds2", "ds3", "ds4")
TRACKERS = (
    "accumulate",
    "baseline",
    "bayes_high",
    "bayes_low",
    "confident_only",
    "confirm_aware",
    "dempster_shafer",
    "focus",
    "focus_overconfident",
    "hwu",
    "last_mention",
    "last_turn",
    "rank_only",
    "top_hypothesis",
    "vote",
    "window",
)
N_RESAMPLES = 1_000


@cache
def settings() -> StudySettings:
    return read_study(CONFIG, CHANGES)


def timings(folder: Path) -> list[dict[str, str]]:
    with (folder / "timings.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_engine_beside_the_work(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """Reading, planning, storing, writing tables: what is not a stage, with one process."""
    walls: list[float] = []

    def study() -> None:
        walls.append(seconds(lambda: run_study(settings(), tmp_path / str(len(walls)), Engine(n_jobs=1))))

    benchmark.pedantic(study, rounds=1)
    work = sum(float(row["seconds"]) for row in timings(tmp_path / "0") if row["key"])
    share = 1.0 - work / walls[0]
    LINES.append(
        f"engine beside the work: {walls[0] - work:.2f} s of {walls[0]:.1f} s, "
        f"{100 * share:.1f} % (at most {100 * OVERHEAD:.0f} %)"
    )
    assert share <= OVERHEAD


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="there is only one processor")
def test_two_processes_against_one(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """Wall time of the demo; the two processes are started anew, as on the command line."""
    walls: dict[int, float] = {}

    def study(n_jobs: int) -> None:
        from joblib.externals.loky import get_reusable_executor

        get_reusable_executor().shutdown(wait=True)
        engine = Engine(n_jobs=n_jobs)
        walls[n_jobs] = seconds(lambda: run_study(CONFIG, tmp_path / str(n_jobs), engine))

    study(1)
    benchmark.pedantic(study, args=(2,), rounds=1)
    times = walls[1] / walls[2]
    LINES.append(
        f"two processes: {walls[2]:.1f} s against {walls[1]:.1f} s of one, "
        f"{times:.2f} times (at least {SPEED_UP:.1f})"
    )
    assert times >= SPEED_UP


@cache
def stored() -> dict[tuple[str, str], tuple[StageKey, bytes]]:
    """The stage files of 16 trackers on four datasets of the sizes of DSTC1, all metrics by one fill rule."""
    settings = StudySettings(
        name="stored",
        simulation=SimulationTable(datasets=DATASETS),
        trackers=TrackersTable(built_in=TRACKERS),
        metrics=MetricsTable(fill=("argmax",)),
    )
    tasks = [task for bundle in plan_study(settings).bundles for task in bundle]
    return {
        (task.unit.name, task.system.name): (task.key, task.run(Store(Path())).encode(task.key))
        for task in tasks
        if isinstance(task, ScoreTask)
    }


def test_resamples_from_stored_statistics(benchmark: BenchmarkFixture) -> None:
    """Read the stages, resample dialogs and trackers, correlate: what `relate` does for its intervals."""
    files = stored()
    shapes: list[tuple[int, ...]] = []

    def resample() -> None:
        cells = {
            (dataset, tracker): Measurements.of(Result.decode(data, key, TrackerScores), dataset)
            for (dataset, tracker), (key, data) in files.items()
        }
        rng = np.random.default_rng(0)
        values = {
            key: {
                "rl.live": TargetValue(
                    float(rng.normal()), rng.normal(size=cell.n_dialogs) / cell.n_dialogs, key[0]
                )
            }
            for key, cell in cells.items()
        }
        names = {dataset: dataset for dataset in DATASETS}
        panel = build_panel(
            names, TRACKERS, ["rl.live"], cells, values, N_RESAMPLES, 0, with_contributions=False
        )
        drawn = draw_trackers("benchmark", len(TRACKERS), N_RESAMPLES, 0)
        found = resampled_correlations(panel.sample, "pearson", "within", "both", drawn)
        shapes[:] = [found.shape, panel.sample.metrics.shape]

    with threadpool_limits(1, user_api="blas"):
        took = min(seconds(resample) for _ in range(2))
        benchmark.pedantic(resample, rounds=1)
    (n_resamples, n_metrics, _), (_, n_datasets, n_trackers) = shapes
    assert (n_resamples, n_datasets * n_trackers) == (N_RESAMPLES, 64)
    assert n_metrics >= 90
    LINES.append(
        f"{N_RESAMPLES:,} resamples of dialogs and trackers, {n_metrics} metrics x 64 points, from stored "
        f"statistics: {took:.2f} s (at most {RESAMPLING:.1f})"
    )
    assert took <= RESAMPLING
