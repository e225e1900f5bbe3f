"""`python -m experiments.lee2014 [--runs DIR]`: which of Lee's findings hold, under which policy and rule?"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

import msgspec

from experiments.lee2014 import study, tables
from experiments.lee2014.figure import draw_correlations, draw_policies
from experiments.lee2014.tables import FILLS, TARGETS
from experiments.main import run_experiment
from experiments.selection import Selection
from experiments.texts import render
from extrinsic.parallel import run_in_parallel
from extrinsic.study.tables.table_files import read_rows, write_rows

FOLDER = Path(__file__).parent
KEPT: dict[str, tuple[type[msgspec.Struct], Callable[..., Sequence[msgspec.Struct]], int]] = {
    "metrics": (tables.MetricValues, study.metric_rows, 3),
    "returns": (tables.ReturnValues, study.return_rows, 1),
}
"""What is kept of the runs, with the decimals of its numbers; all other tables are made from these."""

MADE: dict[str, type[msgspec.Struct]] = {
    "correlations": tables.Correlation,
    "verdicts": tables.Verdict,
    "policies": tables.PolicyGain,
}


def keep(runs: Path, output: Path, seeds: Sequence[int] = study.SEEDS, changes: Sequence[str] = ()) -> None:
    """Run the tool with every seed and store what is kept of it."""
    rows: dict[str, list[msgspec.Struct]] = {name: [] for name in KEPT}
    for seed in seeds:
        run = study.run_seed(seed, runs / f"lee2014-{seed}", changes=changes)
        for name, (_, make_rows, _) in KEPT.items():
            rows[name] += make_rows(run, seed)
    for name, (kind, _, decimals) in KEPT.items():
        write_rows(output / f"{name}.csv", rows[name], kind, decimals)


def make_tables(folder: Path, output: Path) -> None:
    """All other tables, from those that were kept."""
    points = study.read_points(folder)
    conditions = [(points, fill, target) for fill in FILLS for target in TARGETS]
    n_jobs = os.cpu_count() or 1
    rows: dict[str, Sequence[msgspec.Struct]] = {
        "correlations": list(chain(*run_in_parallel(study.correlations, conditions, n_jobs))),
        "verdicts": list(chain(*run_in_parallel(study.verdicts, conditions, n_jobs))),
        "policies": list(study.policy_gains(points)),
    }
    for name, kind in MADE.items():
        write_rows(output / f"{name}.csv", rows[name], kind, decimals=3)


def compute(output: Path, arguments: argparse.Namespace) -> None:
    keep(arguments.runs, output)
    make_tables(output, output)


def write_texts(folder: Path, output: Path) -> None:
    points = study.read_points(folder)
    correlations = Selection(read_rows(folder / "correlations.csv", tables.Correlation))
    draw_policies(points, output / "fig2.svg")
    draw_correlations(correlations, output / "fig3.svg")
    text = render(
        FOLDER / "README.md.j2",
        points=points,
        fills=FILLS,
        targets=TARGETS,
        correlations=correlations,
        verdicts=Selection(read_rows(folder / "verdicts.csv", tables.Verdict)),
        policies=Selection(read_rows(folder / "policies.csv", tables.PolicyGain)),
        quality=["l2", "l2.lee", "avgp"],
        shown=len({tables.Name.of(row) for row in correlations.where(fill=FILLS[0]).rows}),
    )
    (output / "README.md").write_text(text)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="where the tool's runs are or go")


if __name__ == "__main__":
    run_experiment(FOLDER, __doc__, compute, write_texts, add_options)
