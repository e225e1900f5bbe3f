"""`python -m experiments.multiwoz [--output DIR] [--runs DIR]`: does a metric of states predict success?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from experiments.data import require, run
from experiments.multiwoz import between, controls, within
from experiments.multiwoz.ceilings import rows_of_ceilings
from experiments.multiwoz.figure import draw
from experiments.multiwoz.grid import METRICS, OUTCOMES, Grid, build_grid, read_all_states, read_outcomes
from experiments.multiwoz.permuting import permutation_tests
from experiments.multiwoz.text import describe
from experiments.tables import read_csv, write_csv
from extrinsic.cli.progress import show_progress
from extrinsic.correlation.two_way import draw_two_way

FOLDER = Path(__file__).parent
SEED = 13
RESAMPLES = 2_000
PERMUTATIONS = 999
"""Of dialogs; .001 is the lowest p that three decimals can show."""

OWN_PERMUTATIONS = 4_999
"""Of systems on their own dialogs: as many as the tool takes."""

TABLES = (
    "systems",
    "between",
    "left_out",
    "steps",
    "splits",
    "by_system",
    "controls",
    "final",
    "others",
    "ceilings",
    "counts",
)

Rows = list[dict[str, Any]]


def compute(runs_folder: Path) -> Iterator[tuple[str, Rows]]:
    """The tables, one after the other."""
    states = read_all_states()
    grid = build_grid(states, read_outcomes())
    runs = between.run_tool(runs_folder)
    own = between.values_of_own(states, grid)
    shared = between.values_of_run(runs[between.SHARED], grid.systems)
    yield "systems", between.rows_of_systems(own, grid)
    yield (
        "between",
        [
            *between.rows_of_run(runs[between.SHARED], between.SHARED),
            *between.rows_of_own(*own, SEED, OWN_PERMUTATIONS),
            *between.rows_of_run(runs[between.WITHOUT], between.WITHOUT),
        ],
    )
    yield "left_out", between.rows_left_out(*shared, grid.systems)
    yield "steps", between.rows_of_steps(own, shared, grid.systems)
    yield from of_dialogs(grid, RESAMPLES, PERMUTATIONS)


def of_dialogs(grid: Grid, resamples: int, permutations: int) -> Iterator[tuple[str, Rows]]:
    """The tables whose points are dialogs of systems."""
    drawn = draw_two_way(grid.systems, grid.dialogs, resamples, SEED)
    found = within.scatters_of(grid, drawn, (*METRICS, *OUTCOMES))
    yield "splits", within.rows_of_splits(found, permutation_tests(grid, permutations, SEED))
    yield "by_system", within.rows_by_system(grid)
    found = within.scatters_of(grid, drawn, grid.names)
    yield "controls", controls.rows_of_controls(found)
    yield "final", controls.rows_of_final(found)
    yield "others", controls.rows_of_others(found)
    yield "ceilings", rows_of_ceilings(grid, drawn)
    yield "counts", [count(grid, resamples, permutations)]


def count(grid: Grid, resamples: int, permutations: int) -> dict[str, Any]:
    fewest = grid.present.sum(axis=1).argmin()
    others = [s for s in range(len(grid.systems)) if s != fewest]
    return {
        "systems": len(grid.systems),
        "dialogs": len(grid.dialogs),
        "points": int(grid.present.sum()),
        "shared": int(grid.present.all(axis=0).sum()),
        "shared_by_others": int(grid.present[others].all(axis=0).sum()),
        "without_value": sum(grid.no_value.values()),
        "seed": SEED,
        "resamples": resamples,
        "permutations": permutations,
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.multiwoz", description=__doc__)
    parser.add_argument("--output", default=str(FOLDER), metavar="DIR", help="tables, figure and text")
    parser.add_argument("--runs", default="runs", help="where the runs of the tool are, or will be")
    arguments = parser.parse_args()
    require("multiwoz")
    folder = Path(arguments.output)
    folder.mkdir(parents=True, exist_ok=True)
    tables: dict[str, Rows] = {}
    # The last bits of a matrix product depend on the number of BLAS threads.
    with threadpool_limits(1, user_api="blas"):
        made = compute(Path(arguments.runs))
        for table, rows in show_progress(made, len(TABLES), "table", lambda step: step[0]):
            write_csv(folder / f"{table}.csv", rows)
            tables[table] = read_csv(folder / f"{table}.csv")
    write_texts(tables, folder)


def write_texts(tables: dict[str, Rows], folder: Path) -> None:
    """From the tables as they are stored."""
    draw(tables["splits"], folder / "multiwoz.svg")
    (folder / "README.md").write_text(describe(tables))


if __name__ == "__main__":
    run(main)
