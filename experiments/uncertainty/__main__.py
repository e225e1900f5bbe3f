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
from experiments.uncertainty.tables import TESTS, Coverage, Difference, Independent, Null
from extrinsic.cli.progress import show_progress
from extrinsic.parallel import run_in_parallel
from extrinsic.study.tables.table_files import read_rows, write_rows
from extrinsic.toml_files import read_toml

FOLDER = Path(__file__).parent
TABLES: dict[str, tuple[type[msgspec.Struct], Callable[..., Sequence[msgspec.Struct]]]] = {
    "coverage": (Coverage, studies.coverage_rows),
    "null": (Null, studies.null_rows),
    "differences": (Difference, studies.difference_rows),
    "independent": (Independent, studies.independent_rows),
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
    tables: dict[str, list[msgspec.Struct]] = {name: [] for name in TABLES}
    tasks = [(config, number) for number in range(len(config.cells()))]
    steps = run_in_parallel(cell_rows, tasks, os.cpu_count() or 1)
    for table, rows in show_progress(steps, len(tasks), "cell", lambda step: step[0]):
        tables[table] += rows
    for table, (kind, _) in TABLES.items():
        write_rows(output / f"{table}.csv", tables[table], kind, decimals=3)


def write_texts(tables: Path, output: Path) -> None:
    shares = Selection(read_rows(tables / "coverage.csv", Coverage))
    coverage = shares.in_percent("coverage", "coverage_here", "below", "above")
    plain = coverage.where(population=["normal", "heavy"]).rows
    off = Selection([msgspec.structs.replace(row, coverage=abs(row.coverage - 95.0)) for row in plain])
    null = Selection(read_rows(tables / "null.csv", Null)).in_percent("at_05", "at_01")
    differences = Selection(read_rows(tables / "differences.csv", Difference)).in_percent(*TESTS)
    draw(shares, output / "uncertainty.svg")
    text = render(
        FOLDER / "README.md.j2",
        config=read_toml(str(tables / "config.toml"), studies.Config),
        worlds=worlds,
        tests=TESTS,
        coverage=coverage,
        off=off.means("coverage", "way", "method"),
        null=null,
        differences=differences,
        equal=Selection([row for row in differences.rows if row.r_a == row.r_b]),
        independent=Selection(read_rows(tables / "independent.csv", Independent)).in_percent("coverage"),
        chance=sqrt(95.0 * 5.0 / coverage.rows[0].studies),
        critical=KOLMOGOROV / sqrt(null.rows[0].studies),
    )
    (output / "README.md").write_text(text)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", nargs="?", default=str(FOLDER / "config.toml"), help="what is simulated")


if __name__ == "__main__":
    run_experiment(FOLDER, __doc__, compute, write_texts, add_options)
