"""`python -m experiments.multiwoz [--runs DIR]`: does a metric of states predict success?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from threadpoolctl import threadpool_limits

from experiments.data import require
from experiments.main import run_experiment
from experiments.multiwoz import benchmark, dialog_correlations, system_correlations
from experiments.multiwoz.ceilings import ceiling_rows
from experiments.multiwoz.dialog_correlations import all_weights, grid_scatters
from experiments.multiwoz.dialog_grid import (
    METRICS,
    OUTCOMES,
    Grid,
    build_grid,
    read_all_states,
    read_outcomes,
)
from experiments.multiwoz.figure import draw
from experiments.multiwoz.system_correlations import SHARED, WITHOUT, Scores
from experiments.multiwoz.tables import TABLES, Counts, DialogCorrelation
from experiments.selection import Selection
from experiments.texts import render
from extrinsic.cli.progress import show_progress
from extrinsic.correlation.coefficients import correlate
from extrinsic.correlation.dialog_level import BOTH
from extrinsic.correlation.two_way import draw_two_way
from extrinsic.study.tables.table_files import read_rows, write_rows

FOLDER = Path(__file__).parent
SEED = 13
RESAMPLES = 2_000
PERMUTATIONS = 999
"""Of dialogs; .001 is the lowest p that three decimals can show."""

OWN_PERMUTATIONS = 4_999
"""Of systems on their own dialogs: as many as the tool takes."""

Table = tuple[str, Sequence[msgspec.Struct]]


def compute(output: Path, arguments: argparse.Namespace) -> None:
    require("multiwoz")
    # The last bits of a matrix product depend on the number of BLAS threads.
    with threadpool_limits(1, user_api="blas"):
        steps = compute_tables(arguments.runs)
        for table, rows in show_progress(steps, len(TABLES), "table", lambda step: step[0]):
            write_rows(output / f"{table}.csv", rows, TABLES[table], decimals=3)


def compute_tables(runs_folder: Path) -> Iterator[Table]:
    states = read_all_states()
    grid = build_grid(states, read_outcomes())
    runs = system_correlations.run_tool(runs_folder)
    own, shared = Scores.of_own_dialogs(states, grid), Scores.of_run(runs[SHARED], grid.systems)
    yield "systems", system_correlations.score_rows(own, grid)
    yield (
        "between",
        [
            *system_correlations.run_rows(runs[SHARED], SHARED),
            *system_correlations.own_rows(own, SEED, OWN_PERMUTATIONS),
            *system_correlations.run_rows(runs[WITHOUT], WITHOUT),
        ],
    )
    yield "left_out", system_correlations.left_out_rows(shared)
    yield "steps", system_correlations.step_rows(own, shared)
    yield from compute_dialog_tables(grid, RESAMPLES, PERMUTATIONS)


def compute_dialog_tables(grid: Grid, resamples: int, permutations: int) -> Iterator[Table]:
    """The tables whose points are dialogs of systems."""
    drawn = draw_two_way(grid.systems, grid.dialogs, resamples, SEED)
    scatters = grid_scatters(grid, (*METRICS, *OUTCOMES), all_weights(grid, drawn))
    p_values = dialog_correlations.permutation_tests(grid, permutations, SEED)
    yield "splits", dialog_correlations.split_rows(scatters, p_values)
    yield "by_system", dialog_correlations.system_rows(grid)
    # Of everything, one way of resampling is enough and fits in memory.
    scatters = grid_scatters(grid, grid.names, {BOTH: drawn})
    yield "controls", dialog_correlations.control_rows(scatters)
    yield "final", dialog_correlations.last_turn_rows(scatters)
    yield "others", dialog_correlations.predictor_rows(scatters)
    yield "ceilings", ceiling_rows(grid, drawn)
    yield "counts", [count(grid, resamples, permutations)]


def count(grid: Grid, resamples: int, permutations: int) -> Counts:
    others = np.arange(len(grid.systems)) != grid.present.sum(axis=1).argmin()
    return Counts(
        systems=len(grid.systems),
        dialogs=len(grid.dialogs),
        points=int(grid.present.sum()),
        shared=int(grid.present.all(axis=0).sum()),
        shared_by_others=int(grid.present[others].all(axis=0).sum()),
        without_value=grid.n_undefined,
        seed=SEED,
        resamples=resamples,
        permutations=permutations,
    )


def write_texts(tables: Path, output: Path) -> None:
    selections: dict[str, Selection[Any]] = {
        table: Selection(read_rows(tables / f"{table}.csv", kind)) for table, kind in TABLES.items()
    }
    splits = selections["splits"]
    draw(splits, output / "multiwoz.svg")
    text = render(
        FOLDER / "README.md.j2",
        **selections,
        benchmark=benchmark,
        largest_change=largest_change,
        agreement={split: order_agreement(splits, split) for split in ("within", "both")},
    )
    (output / "README.md").write_text(text)


def largest_change(before: Sequence[float], after: Sequence[float]) -> float:
    return float(np.abs(np.subtract(before, after)).max())


def order_agreement(splits: Selection[DialogCorrelation], split: str) -> float:
    """Spearman's coefficient, over metrics, of their r with success between systems and in another split."""
    first, second = (
        np.array([[splits.where(outcome="success", split=name).column("r")]]) for name in ("between", split)
    )
    return float(correlate(first, second, "spearman", "pooled")[0, 0])


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--runs", type=Path, default=Path("runs"), help="where the runs of the tool are, or will be"
    )


if __name__ == "__main__":
    run_experiment(FOLDER, __doc__, compute, write_texts, add_options)
