"""`python -m experiments.truth`: what estimators say a policy is worth, against live play, on fresh logs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import msgspec

from experiments.main import run_experiment
from experiments.selection import Selection
from experiments.texts import render
from experiments.truth.figure import draw
from experiments.truth.policy_values import (
    Registered,
    TrackerCell,
    compute_log,
    estimate_rows,
    logs,
)
from experiments.truth.summary import dataset_biases, summarise
from experiments.truth.tables import (
    DatasetBias,
    EstimatorSummary,
    PolicyEstimate,
)
from extrinsic.cli.progress import show_progress
from extrinsic.parallel import run_in_parallel
from extrinsic.study.settings_file import read_study
from extrinsic.tables import read_rows, write_rows
from extrinsic.typed_files import read_toml

FOLDER = Path(__file__).parent
STUDIES = {"bus": "config.toml", "restaurants": "restaurants.toml"}
BY_DATASET = ("observed", "fqe_augmented", "mean_augmented", "ceiling")
TABLES: dict[str, type[msgspec.Struct]] = {
    **{f"{world}_estimates": PolicyEstimate for world in STUDIES},
    "summary": EstimatorSummary,
    "datasets": DatasetBias,
}


def compute(output: Path, arguments: argparse.Namespace) -> None:
    registered = read_toml(FOLDER / "registered.toml", Registered)
    for world in arguments.world:
        seeds: Sequence[int] = arguments.seeds or getattr(registered.seeds, world)
        computed = _computed(world, seeds)
        rows = list(estimate_rows(world, computed))
        write_rows(output / f"{world}_estimates.csv", rows, PolicyEstimate, decimals=3)
    # Of the rounded numbers: anybody can make them again from the tables.
    paths = [path for world in STUDIES if (path := _estimates(output, world)).exists()]
    made = [read_rows(path, PolicyEstimate) for path in paths]
    summaries = [row for rows in made for row in summarise(rows)]
    write_rows(output / "summary.csv", summaries, EstimatorSummary, decimals=3)
    biases = [row for rows in made for row in dataset_biases(rows, BY_DATASET)]
    write_rows(output / "datasets.csv", biases, DatasetBias, decimals=3)


def _estimates(folder: Path, world: str) -> Path:
    return folder / f"{world}_estimates.csv"


def _computed(world: str, seeds: Sequence[int]) -> list[TrackerCell]:
    """The cells of all logs; a process has all trackers of a log."""
    tasks = [tuple(log) for log in logs(read_study(FOLDER / STUDIES[world]), seeds)]
    steps = run_in_parallel(compute_log, tasks, -1)
    shown = show_progress(steps, len(tasks), "log", lambda cells: f"{cells[0].seed} {cells[0].dataset}")
    return [cell for of_log in shown for cell in of_log]


def write_texts(tables: Path, output: Path) -> None:
    estimates = Selection(read_rows(_estimates(tables, "bus"), PolicyEstimate))
    draw(estimates, output / "truth.svg")
    text = render(
        FOLDER / "README.md.j2",
        registered=read_toml(FOLDER / "registered.toml", Registered),
        estimates=estimates,
        summary=Selection(read_rows(tables / "summary.csv", EstimatorSummary)),
        datasets=Selection(read_rows(tables / "datasets.csv", DatasetBias)),
    )
    (output / "README.md").write_text(text)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--world", nargs="*", choices=STUDIES, default=tuple(STUDIES), help="compute only these"
    )
    parser.add_argument("--seeds", nargs="+", type=int, help="other seeds than those of registered.toml")


if __name__ == "__main__":
    run_experiment(FOLDER, __doc__, compute, write_texts, add_options)
