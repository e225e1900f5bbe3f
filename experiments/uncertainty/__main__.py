"""`python -m experiments.uncertainty`: is what the verdict promises true?"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from experiments.main import Experiment, Made, Tables
from experiments.selection import Selection
from experiments.uncertainty import worlds
from experiments.uncertainty.studies import DECLARED, MANY, Cell, Config, cell_rows, lines_of
from extrinsic.cli.progress import show_progress
from extrinsic.parallel import run_in_parallel
from extrinsic.typed_files import read_toml

FOLDER = Path(__file__).parent
SHARES = ("promised", "held", "given", "lowest", "false_as_good", "false_worse", "idle", "r_held", "p_05")


def read_config() -> Config:
    return read_toml(str(FOLDER / "config.toml"), Config)


def compute(output: Path, arguments: argparse.Namespace) -> Made:
    config, kept = read_config(), not arguments.development
    tasks = [(config, kept, *world) for world in config.worlds(kept)]
    steps = run_in_parallel(cell_rows, tasks, arguments.n_jobs)
    progress = show_progress(steps, len(tasks), "world", lambda rows: rows[0].shape)
    yield "cells", [row for rows in progress for row in rows]


def values(tables: Tables) -> Mapping[str, object]:
    return {
        "config": read_config(),
        "worlds": worlds,
        "declared": DECLARED,
        "many": MANY,
        "lines": Selection(lines_of(tables["cells"].rows)).in_percent(*SHARES),
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--development", action="store_true", help="the other seed, without the shapes kept aside")
    add("--n-jobs", type=int, default=-1, metavar="N", help="processes (-1: one a processor)")


EXPERIMENT = Experiment(FOLDER, __doc__, {"cells": Cell}, compute, values, options=add_options)

if __name__ == "__main__":
    EXPERIMENT.main()
