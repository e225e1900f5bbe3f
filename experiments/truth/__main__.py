"""`python -m experiments.truth`: what estimators say a policy is worth, against live play, on fresh logs."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from experiments.main import run_experiment
from experiments.selection import Selection
from experiments.texts import render
from experiments.truth.ablations import AblationCell, ablation_log, ablation_rows
from experiments.truth.figure import draw
from experiments.truth.policy_values import (
    Registered,
    TrackerCell,
    compute_log,
    estimate_rows,
    fit_table,
    logs,
    part_rows,
)
from experiments.truth.real_logs import real_tables
from experiments.truth.summary import dataset_biases, share_held, summarise
from experiments.truth.tables import (
    DatasetBias,
    EstimatorSummary,
    LogFit,
    PolicyEstimate,
    RealValue,
    WorldFit,
)
from extrinsic.cli.progress import show_progress
from extrinsic.parallel import run_in_parallel
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.tables.table_files import read_rows, write_rows
from extrinsic.toml_files import read_toml
from extrinsic.value.world_value import LEVEL_ERROR

C = TypeVar("C", TrackerCell, AblationCell)
FOLDER = Path(__file__).parent
STUDIES = {"bus": "config.toml", "restaurants": "restaurants.toml"}
BY_DATASET = ("observed", "fqe_augmented", "mean_augmented", "world_mixed", "ceiling")
TABLES: dict[str, type[msgspec.Struct]] = {
    **{f"{world}_estimates": PolicyEstimate for world in STUDIES},
    **{f"{world}_parts": EstimatorSummary for world in STUDIES},
    **{f"{world}_fit": WorldFit for world in STUDIES},
    "ablations": EstimatorSummary,
    "summary": EstimatorSummary,
    "datasets": DatasetBias,
    "real_logs": RealValue,
    "real_fit": LogFit,
}


def compute(output: Path, arguments: argparse.Namespace) -> None:
    registered = read_toml(FOLDER / "registered.toml", Registered)
    for world in arguments.world:
        seeds: Sequence[int] = arguments.seeds or getattr(registered.seeds, world)
        computed = _computed(world, seeds, compute_log)
        rows = list(estimate_rows(world, computed))
        write_rows(output / f"{world}_estimates.csv", rows, PolicyEstimate, decimals=3)
        parts = summarise(list(part_rows(world, computed)))
        write_rows(output / f"{world}_parts.csv", parts, EstimatorSummary, decimals=3)
        write_rows(output / f"{world}_fit.csv", fit_table(world, computed), WorldFit, decimals=3)
    if arguments.ablations:
        seeds = arguments.seeds or registered.seeds.ablations
        estimates = Selection(read_rows(_estimates(output, "bus"), PolicyEstimate))
        left_out = ablation_rows(_computed("bus", seeds, ablation_log, registered.ablated), estimates)
        write_rows(output / "ablations.csv", summarise(list(left_out)), EstimatorSummary, decimals=3)
    if arguments.real:
        values, fits = real_tables()
        write_rows(output / "real_logs.csv", values, RealValue, decimals=3)
        write_rows(output / "real_fit.csv", fits, LogFit, decimals=3)
    # Of the rounded numbers: anybody can make them again from the tables.
    paths = [path for world in STUDIES if (path := _estimates(output, world)).exists()]
    made = [read_rows(path, PolicyEstimate) for path in paths]
    summaries = [row for rows in made for row in summarise(rows)]
    write_rows(output / "summary.csv", summaries, EstimatorSummary, decimals=3)
    biases = [row for rows in made for row in dataset_biases(rows, BY_DATASET)]
    write_rows(output / "datasets.csv", biases, DatasetBias, decimals=3)


def _estimates(folder: Path, world: str) -> Path:
    return folder / f"{world}_estimates.csv"


def _computed(
    world: str, seeds: Sequence[int], compute: Callable[..., list[C]], datasets: Sequence[str] | None = None
) -> list[C]:
    """The cells of all logs, or of those of some datasets; a process has all trackers of a log, which share
    its world."""
    every = logs(read_study(FOLDER / STUDIES[world]), seeds)
    tasks = [tuple(log) for log in every if datasets is None or log[0].unit.name in datasets]
    steps = run_in_parallel(compute, tasks, -1)
    shown = show_progress(steps, len(tasks), "log", lambda cells: f"{cells[0].seed} {cells[0].dataset}")
    return [cell for of_log in shown for cell in of_log]


def write_texts(tables: Path, output: Path) -> None:
    estimates = Selection(read_rows(_estimates(tables, "bus"), PolicyEstimate))
    draw(estimates, output / "truth.svg")
    registered = read_toml(FOLDER / "registered.toml", Registered)
    text = render(
        FOLDER / "README.md.j2",
        registered=registered,
        estimates=estimates,
        held_now=_held_now(registered, estimates),
        level_error=LEVEL_ERROR,
        summary=Selection(read_rows(tables / "summary.csv", EstimatorSummary)),
        datasets=Selection(read_rows(tables / "datasets.csv", DatasetBias)),
        parts=Selection(read_rows(tables / "bus_parts.csv", EstimatorSummary)),
        **_optional(tables),
    )
    (output / "README.md").write_text(text)


def _held_now(registered: Registered, estimates: Selection[PolicyEstimate]) -> float:
    """The share of world_mixed's intervals that would hold with today's error of a log's level."""
    mixed = estimates.where(estimator="world_mixed", degenerate=False)
    return share_held(mixed.rows, registered.level_error, LEVEL_ERROR)


def _optional(tables: Path) -> dict[str, Selection[msgspec.Struct]]:
    """The tables that a run makes only when asked, and after others."""
    names = (*(f"{world}_fit" for world in STUDIES), "ablations", "real_logs", "real_fit")
    paths = {name: tables / f"{name}.csv" for name in names}
    return {
        name: Selection(read_rows(path, TABLES[name]) if path.exists() else ())
        for name, path in paths.items()
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--world", nargs="*", choices=STUDIES, default=tuple(STUDIES), help="compute only these"
    )
    parser.add_argument(
        "--ablations", action="store_true", help="also leave out parts of the fitted world: ablations.csv"
    )
    parser.add_argument(
        "--real", action="store_true", help="also values on DSTC2 and DSTC1 (EXTRINSIC_DATA): real_logs.csv"
    )
    parser.add_argument("--seeds", nargs="+", type=int, help="other seeds than those of registered.toml")


if __name__ == "__main__":
    run_experiment(FOLDER, __doc__, compute, write_texts, add_options)
