"""`python -m experiments.uncertainty [CONFIG]`: is what the verdict promises true?"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from experiments.main import run_experiment
from experiments.selection import Selection
from experiments.texts import render
from experiments.uncertainty import worlds
from experiments.uncertainty.studies import DECLARED, Cell, Config, cell_rows, lines_of
from extrinsic.cli.progress import show_progress
from extrinsic.parallel import run_in_parallel
from extrinsic.tables import read_rows, write_rows
from extrinsic.typed_files import read_toml

FOLDER = Path(__file__).parent


def compute(output: Path, arguments: argparse.Namespace) -> None:
    config = read_toml(arguments.config, Config)
    # Beside the tables, from which the text is made again.
    (output / "config.toml").write_bytes(Path(arguments.config).read_bytes())
    kept = not arguments.development
    tasks = [(config, kept, *world) for world in config.worlds(kept)]
    steps = run_in_parallel(cell_rows, tasks, arguments.n_jobs)
    progress = show_progress(steps, len(tasks), "world", lambda rows: rows[0].shape)
    write_rows(output / "cells.csv", [row for rows in progress for row in rows], Cell, decimals=3)


def write_texts(tables: Path, output: Path) -> None:
    cells = read_rows(tables / "cells.csv", Cell)
    shares = ("promised", "held", "given", "lowest", "false_as_good", "false_worse", "idle", "r_held", "p_05")
    text = render(
        FOLDER / "README.md.j2",
        config=read_toml(str(tables / "config.toml"), Config),
        worlds=worlds,
        declared=DECLARED,
        lines=Selection(lines_of(cells)).in_percent(*shares),
    )
    (output / "README.md").write_text(text)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", nargs="?", default=str(FOLDER / "config.toml"), help="what is simulated")
    parser.add_argument(
        "--development", action="store_true", help="the other seed, without the shapes that were kept aside"
    )
    parser.add_argument("--n-jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes")


if __name__ == "__main__":
    run_experiment(FOLDER, __doc__, compute, write_texts, add_options)
