"""`python -m experiments.truth`: what estimators say a policy is worth, against live play, on fresh logs."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from experiments.main import Experiment, Made, Tables
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
from extrinsic.tables import read_rows
from extrinsic.typed_files import read_toml

FOLDER = Path(__file__).parent
STUDIES = {"bus": "config.toml", "restaurants": "restaurants.toml"}
BY_DATASET = ("observed", "fqe_augmented", "mean_augmented", "ceiling")
TABLES: dict[str, type[msgspec.Struct]] = {
    **{f"{world}_estimates": PolicyEstimate for world in STUDIES},
    "summary": EstimatorSummary,
    "datasets": DatasetBias,
}


def compute(output: Path, arguments: argparse.Namespace) -> Made:
    registered = read_toml(FOLDER / "registered.toml", Registered)
    for world in arguments.world:
        seeds: Sequence[int] = arguments.seeds or getattr(registered.seeds, world)
        yield f"{world}_estimates", list(estimate_rows(world, _computed(world, seeds)))
    # Of the rounded numbers: anybody can make them again from the tables.
    paths = [path for world in STUDIES if (path := output / f"{world}_estimates.csv").exists()]
    made = [read_rows(path, PolicyEstimate) for path in paths]
    yield "summary", [row for rows in made for row in summarise(rows)]
    yield "datasets", [row for rows in made for row in dataset_biases(rows, BY_DATASET)]


def _computed(world: str, seeds: Sequence[int]) -> list[TrackerCell]:
    """The cells of all logs; a process has all trackers of a log."""
    tasks = [tuple(log) for log in logs(read_study(FOLDER / STUDIES[world]), seeds)]
    steps = run_in_parallel(compute_log, tasks, -1)
    shown = show_progress(steps, len(tasks), "log", lambda cells: f"{cells[0].seed} {cells[0].dataset}")
    return [cell for of_log in shown for cell in of_log]


def page_values(tables: Tables) -> Mapping[str, object]:
    registered = read_toml(FOLDER / "registered.toml", Registered)
    return {"registered": registered, "estimates": tables["bus_estimates"]}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--world", nargs="*", choices=STUDIES, default=tuple(STUDIES), help="compute only these"
    )
    parser.add_argument("--seeds", nargs="+", type=int, help="other seeds than those of registered.toml")


EXPERIMENT = Experiment(
    FOLDER,
    __doc__,
    TABLES,
    compute,
    page_values,
    lambda tables, output: draw(tables["bus_estimates"], output / "truth.svg"),
    options=add_options,
)

if __name__ == "__main__":
    EXPERIMENT.main()
