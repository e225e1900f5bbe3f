"""`python -m experiments.dstc1 [--runs DIR]`: Lee's study on the plain calls of DSTC1's train3.

A run of the tool (configs/dstc1.toml), both directions and both fill rules, and a shorter one with the domain
file of a prototype; a run that is there is not made again. Needs EXTRINSIC_DATA, or ../shared/data.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from experiments.data import require
from experiments.dstc1 import run_rows
from experiments.dstc1.figure import draw_correlations, draw_policies
from experiments.dstc1.tables import ESTIMATORS, LEE, TABLES
from experiments.dstc2.gains import flag_rows
from experiments.estimate_rows import row_verdict
from experiments.main import run_experiment
from experiments.runs import make_run
from experiments.selection import Selection
from experiments.texts import render
from extrinsic.study.run import Run
from extrinsic.study.settings_file import read_study
from extrinsic.tables import read_rows, write_rows

FOLDER = Path(__file__).parent
CONFIG = FOLDER.parents[1] / "configs" / "dstc1.toml"

WITHOUT_WORLDS = (f"value.estimators={list(ESTIMATORS)}".replace("'", '"'),)

OTHER_DOMAIN = (
    'corpus.domain="${EXTRINSIC_DATA:-../../shared/data}/dstc1/bus_att.toml"',
    'value.estimators=["mean_augmented"]',
    "value.placebo=false",
    "correlation.permutations=99",
    "correlation.subsets=1",
)
"""The domain file that a prototype of this study had, and less of everything else."""

MAKE: dict[str, Callable[[Run], Iterable[msgspec.Struct]]] = {
    "correlations": run_rows.correlation_rows,
    "differences": run_rows.difference_rows,
    "values": run_rows.value_rows,
    "accuracy": run_rows.accuracy_rows,
    "beyond": run_rows.beyond_rows,
    "findings": run_rows.verdict_rows,
    "flags": flag_rows,
}


def compute(output: Path, arguments: argparse.Namespace) -> None:
    require("dstc1")
    run = make_run(read_study(CONFIG, WITHOUT_WORLDS), arguments.runs / "dstc1")
    tables = {name: list(make_rows(run)) for name, make_rows in MAKE.items()}
    other = make_run(read_study(CONFIG, OTHER_DOMAIN), arguments.runs / "dstc1-bus_att")
    tables["other_domain"] = [row for row in run_rows.correlation_rows(other) if row.component != "state"]
    for name, rows in tables.items():
        write_rows(output / f"{name}.csv", rows, TABLES[name], decimals=3)


def write_texts(tables: Path, output: Path) -> None:
    rows: dict[str, Selection[Any]] = {
        name: Selection(read_rows(tables / f"{name}.csv", kind)) for name, kind in TABLES.items()
    }
    draw_policies(rows["values"], rows["accuracy"], output / "fig2.svg")
    draw_correlations(rows["correlations"], output / "fig3.svg")
    text = render(
        FOLDER / "README.md.j2",
        **rows,
        fills=run_rows.FILLS,
        targets=run_rows.TARGETS,
        primary=run_rows.PRIMARY,
        estimators=ESTIMATORS,
        lee=LEE,
        verdict=row_verdict,
    )
    (output / "README.md").write_text(text)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--runs", type=Path, default=Path("runs"), metavar="DIR", help="where the run is, or will be"
    )


if __name__ == "__main__":
    run_experiment(FOLDER, __doc__, compute, write_texts, add_options)
