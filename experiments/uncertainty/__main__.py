"""`python -m experiments.uncertainty [CONFIG]`: do intervals and p-values keep their word?"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from math import sqrt
from pathlib import Path

import msgspec

from experiments.main import run_experiment
from experiments.selection import Selection
from experiments.texts import render
from experiments.uncertainty import studies, worlds
from experiments.uncertainty.figure import draw
from experiments.uncertainty.tables import (
    TESTS,
    Carried,
    Chosen,
    Combined,
    Coverage,
    Decided,
    Difference,
    Independent,
    Null,
)
from extrinsic.cli.progress import show_progress
from extrinsic.parallel import run_in_parallel
from extrinsic.tables import read_rows, write_rows
from extrinsic.typed_files import read_toml

FOLDER = Path(__file__).parent
TABLES: dict[str, tuple[type[msgspec.Struct], Callable[..., Sequence[msgspec.Struct]]]] = {
    "coverage": (Coverage, studies.coverage_rows),
    "null": (Null, studies.null_rows),
    "differences": (Difference, studies.difference_rows),
    "independent": (Independent, studies.independent_rows),
    "chosen": (Chosen, studies.chosen_rows),
    "combined": (Combined, studies.combined_rows),
    "decided": (Decided, studies.decided_rows),
    "carried": (Carried, studies.carried_rows),
}
KOLMOGOROV = 1.358
"""Over the root of n: the distance that one in twenty samples exceeds."""


def cell_rows(config: studies.Config, number: int) -> tuple[str, Sequence[msgspec.Struct]]:
    """The table of a cell, and its rows."""
    table, parameters = config.cells()[number]
    return table, TABLES[table][1](config, number, *parameters)


def compute(output: Path, arguments: argparse.Namespace) -> None:
    config = read_toml(arguments.config, studies.Config)
    # Beside the tables, from which the text is made again.
    (output / "config.toml").write_bytes(Path(arguments.config).read_bytes())
    tables: dict[str, list[msgspec.Struct]] = {name: [] for name in arguments.tables}
    tasks = [(config, number) for number, (table, _) in enumerate(config.cells()) if table in tables]
    steps = run_in_parallel(cell_rows, tasks, arguments.n_jobs)
    for table, rows in show_progress(steps, len(tasks), "cell", lambda step: step[0]):
        tables[table] += rows
    for table, rows in tables.items():
        write_rows(output / f"{table}.csv", rows, TABLES[table][0], decimals=3)


NAMES = {
    ("both", "percentile"): "before: resampled dialogs and trackers, percentiles",
    ("closed form", "jackknife"): "jackknife of atanh r",
    ("jackknife", "heavy tails"): "the same, fewer degrees of freedom",
    studies.DEFAULT: "now: the same, dialogs' noise removed",
}


def write_texts(tables: Path, output: Path) -> None:
    shares = Selection(read_rows(tables / "coverage.csv", Coverage))
    coverage = shares.in_percent("coverage", "coverage_here", "below", "above", "withheld")
    null = Selection(read_rows(tables / "null.csv", Null)).in_percent("at_05", "at_01")
    differences = Selection(read_rows(tables / "differences.csv", Difference)).in_percent(*TESTS)
    held = ("best_in_set", "best_in_cluster", "ranks")
    firsts = ("first_simultaneous", "first_jackknife", "first_resampled")
    chosen = Selection(read_rows(tables / "chosen.csv", Chosen)).in_percent(*held, *firsts)
    combined = Selection(read_rows(tables / "combined.csv", Combined)).in_percent("refitted", "resampled")
    decided = Selection(read_rows(tables / "decided.csv", Decided))
    carried = Selection(read_rows(tables / "carried.csv", Carried))
    draw(shares, output / "uncertainty.svg")
    text = render(
        FOLDER / "README.md.j2",
        config=read_toml(str(tables / "config.toml"), studies.Config),
        worlds=worlds,
        tests=TESTS,
        coverage=coverage,
        default=studies.DEFAULT,
        names=NAMES,
        null=null,
        differences=differences,
        equal=Selection([row for row in differences.rows if row.r_a == row.r_b]),
        independent=Selection(read_rows(tables / "independent.csv", Independent)).in_percent("coverage"),
        critical=KOLMOGOROV / sqrt(null.rows[0].studies),
        chosen=chosen,
        combined=combined,
        decided=decided,
        carried=carried,
        heavy_share=pooled_coverage([row for row in carried.rows if row.least >= 0.5]),
        low_share=pooled_coverage(carried.where(population="degenerate", least=0.0).rows),
        shares={key: pooled_right(decided.where(population=key[0], low=key[1])) for key in _bins(decided)},
        pooled_sure=pooled_right(decided.where(low=0.8)),
    )
    (output / "README.md").write_text(text)


def _bins(decided: Selection[Decided]) -> list[tuple[str, float]]:
    return list(dict.fromkeys((row.population, row.low) for row in decided.rows))


def pooled_right(rows: Selection[Decided]) -> float:
    """The share of right pairs over all rows, in percent."""
    return 100.0 * sum(row.pairs * row.right for row in rows.rows) / sum(row.pairs for row in rows.rows)


def pooled_coverage(rows: Sequence[Carried]) -> float:
    """The share of intervals that hold the truth, over all studies of some rows."""
    held = sum(row.of_all * row.coverage for row in rows if row.coverage is not None)
    return held / sum(row.of_all for row in rows)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", nargs="?", default=str(FOLDER / "config.toml"), help="what is simulated")
    parser.add_argument(
        "--tables", nargs="+", default=list(TABLES), choices=list(TABLES), metavar="T", help="default: all"
    )
    parser.add_argument("--n-jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes")


if __name__ == "__main__":
    run_experiment(FOLDER, __doc__, compute, write_texts, add_options)
