"""`python -m experiments.lee2014 [--output DIR] [--runs DIR]`: which of Lee's findings hold, and where?"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments.data import run
from experiments.lee2014.beyond import beyond_rows
from experiments.lee2014.correlations import correlation_rows, spread_row
from experiments.lee2014.figure import draw_correlations, draw_datasets, draw_policies
from experiments.lee2014.findings import finding_rows
from experiments.lee2014.judging import GROUPS, Where, wheres
from experiments.lee2014.needed import TARGETS, number_rows, sizes_of, subset_rows
from experiments.lee2014.points import Points, read_points
from experiments.lee2014.policies import policy_rows
from experiments.lee2014.runs import SEEDS, metric_rows, return_rows, run_seed, tracker_rows, verdict_rows
from experiments.lee2014.text import describe
from experiments.tables import read_csv, rounded, write_csv
from extrinsic.cli.progress import show_progress
from extrinsic.correlation.coefficients import SCOPES
from extrinsic.parallel import run_in_parallel

FOLDER = Path(__file__).parent

Rows = list[dict[str, Any]]

KEPT = {"metrics": metric_rows, "returns": return_rows, "trackers": tracker_rows, "tool": verdict_rows}
"""The tables that hold what the runs say; all others are made from them."""

MADE = ("correlations", "beyond", "spread", "findings", "policies", "subsets", "numbers")


def keep(runs: Path, folder: Path, seeds: Sequence[int] = SEEDS) -> None:
    """Run the tool with every seed and store what is kept of it."""
    tables: dict[str, Rows] = {name: [] for name in KEPT}
    for seed in seeds:
        made = run_seed(seed, runs / f"lee2014-{seed}")
        for name, rows_of in KEPT.items():
            tables[name] += rows_of(made, seed)
    for name, rows in tables.items():
        write_csv(folder / f"{name}.csv", rows)


def stored(folder: Path, names: Sequence[str]) -> dict[str, Rows]:
    return {name: read_csv(folder / f"{name}.csv") for name in names}


def points_of(kept: dict[str, Rows]) -> Points:
    return read_points(kept["metrics"], kept["returns"], kept["trackers"])


def part_of(table: str, points: Points, where: Where, group: str, size: int = 0) -> tuple[str, Rows]:
    """The rows of a table under one fill rule and target."""
    if table == "correlations":
        return table, correlation_rows(points, where)
    if table == "beyond":
        return table, beyond_rows(points, where)
    if table == "policies":
        return table, policy_rows(points, where)
    if table == "spread":
        return table, [spread_row(points, where, group)]
    if table == "findings":
        return table, finding_rows(points, where, group)
    return table, subset_rows(points, where, group, size)


def make(points: Points, n_jobs: int = 1) -> dict[str, Rows]:
    """Every table that follows from the points."""
    tasks: list[tuple[Any, ...]] = []
    for where in wheres():
        tasks += [(table, points, where, "all") for table in ("correlations", "policies")]
        if where.estimator == "live":
            tasks.append(("beyond", points, where, "core"))
        for group in GROUPS:
            tasks.append(("spread", points, where, group))
            tasks += [("findings", points, replace(where, scope=scope), group) for scope in SCOPES]
            if where.estimator in TARGETS:
                sizes = sizes_of(len(points.chosen(group)))
                tasks += [("subsets", points, where, group, size) for size in sizes]
    tables: dict[str, Rows] = {name: [] for name in MADE}
    done = run_in_parallel(part_of, tasks, n_jobs)
    for table, rows in show_progress(done, len(tasks), "part", lambda step: step[0]):
        tables[table] += rounded(rows)
    tables["numbers"] = rounded(number_rows(tables["subsets"], tables["findings"]))
    return tables


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.lee2014", description=__doc__)
    parser.add_argument("--output", default=str(FOLDER), help="where tables, figures and text go")
    parser.add_argument("--runs", default="runs", help="where the tool's runs are, or will be")
    arguments = parser.parse_args()
    folder = Path(arguments.output)
    folder.mkdir(parents=True, exist_ok=True)
    keep(Path(arguments.runs), folder)
    tables = stored(folder, tuple(KEPT))
    made = make(points_of(tables), os.cpu_count() or 1)
    for name, rows in made.items():
        write_csv(folder / f"{name}.csv", rows)
    write_texts(tables | made, folder)


def write_texts(tables: dict[str, Rows], folder: Path) -> None:
    """From the tables as they are stored."""
    points = points_of(tables)
    draw_policies(points, folder / "fig2.svg")
    draw_datasets(points, folder / "fig2_datasets.svg")
    draw_correlations(tables["correlations"], folder / "fig3.svg")
    (folder / "README.md").write_text(describe(tables, points))


if __name__ == "__main__":
    run(main)
