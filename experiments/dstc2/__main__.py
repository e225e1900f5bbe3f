"""`python -m experiments.dstc2 [--output DIR] [--runs DIR]`: which metric predicts the return on real calls?

Learned on train, valued on dev, with settings chosen on train (`python -m experiments.dstc2.choose`). Four
runs of the tool, each with both fill rules; a run that is there is not made again. Needs EXTRINSIC_DATA, or
../shared/data.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from experiments.data import require, run
from experiments.dstc2.beyond import beyond_rows
from experiments.dstc2.cells import CELLS, Cell, read_choices, settings_of
from experiments.dstc2.choose import FOLDER
from experiments.dstc2.control import control_rows
from experiments.dstc2.figure import draw
from experiments.dstc2.gains import check_rows, flag_rows, gain_rows
from experiments.dstc2.relations import panels_of, relation_rows
from experiments.dstc2.text import describe
from experiments.runs import make_run
from experiments.tables import read_csv, write_csv
from extrinsic.cli.progress import show_progress
from extrinsic.parallel import run_in_parallel
from extrinsic.study.finished_run import Run

TABLES = ("gains", "checks", "flags", "correlations", "differences", "beyond", "control")

Tables = dict[str, list[dict[str, Any]]]


def tables_of(cell: Cell, made: Run, good: list[str]) -> Tables:
    """What a run says."""
    trackers = [row.tracker for row in made.table("trackers")]
    panels = panels_of(cell, made)
    correlations, differences = relation_rows(cell, made, panels, good)
    tables = {
        "gains": gain_rows(cell, made, trackers),
        "correlations": correlations,
        "differences": differences,
    }
    if cell.is_main:
        tables["checks"] = check_rows(cell, made, trackers)
        tables["flags"] = flag_rows(made)
        tables["beyond"] = beyond_rows(made, panels)
        tables["control"] = control_rows(
            made, [row.tracker for row in made.table("trackers") if not row.degenerate]
        )
    return tables


def write_texts(folder: Path) -> None:
    """From the tables as they are stored beside this file and in the folder."""
    tables = {name: read_csv(folder / f"{name}.csv") for name in TABLES}
    chosen = {name: read_csv(FOLDER / f"{name}.csv") for name in ("candidates", "trackers", "prototype")}
    chosen["truth"] = read_csv(FOLDER.parent / "truth" / "summary.csv")
    draw(tables, folder / "dstc2.svg")
    (folder / "README.md").write_text(describe({**tables, **chosen}))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.dstc2", description=__doc__)
    parser.add_argument("--output", default=str(FOLDER))
    parser.add_argument("--runs", default="runs", help="where the runs of the tool are, or will be")
    arguments = parser.parse_args()
    folder, runs = Path(arguments.output), Path(arguments.runs)
    require("dstc2")
    good = read_choices()["good"]
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [(cell, make_run(settings_of(cell), runs / cell.folder), good) for cell in CELLS]
    done = run_in_parallel(tables_of, tasks, os.cpu_count() or 1)
    parts = list(show_progress(done, len(tasks), "summary", lambda tables: str(len(tables))))
    for name in TABLES:
        write_csv(folder / f"{name}.csv", [row for part in parts for row in part.get(name, [])])
    write_texts(folder)


if __name__ == "__main__":
    run(main)
