"""What the engine of a study costs: beside the work itself, and with two processes.

`quick` in small: its trackers and metrics, fewer callers. The shares are of wall time, so they mean something
only on a machine that has nothing else to do.
"""

from __future__ import annotations

import csv
import os
from functools import cache
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.measuring import LINES, seconds
from extrinsic.study.engine import Engine
from extrinsic.study.runner import run_study
from extrinsic.study.settings import StudySettings
from extrinsic.study.settings_file import read_study

CONFIG = Path(__file__).resolve().parents[1] / "configs" / "quick.toml"
CHANGES = (
    "trackers.population.size=6",
    'trackers.built_in=["hwu", "focus", "vote"]',
    "value.live_dialogs=500",
    "correlation.resamples=200",
    "correlation.permutations=999",
)

OVERHEAD, SPEED_UP = 0.05, 1.7


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
