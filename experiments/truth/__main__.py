"""`python -m experiments.truth [CONFIG]`: what estimators say a policy is worth, against live play."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from experiments.main import run_experiment
from experiments.selection import Selection
from experiments.texts import render
from experiments.truth import policy_values
from experiments.truth.figure import draw
from experiments.truth.summary import summarise
from experiments.truth.tables import EstimatorSummary, PolicyEstimate, RealValue, VariantSummary
from extrinsic.cli.progress import show_progress
from extrinsic.parallel import run_in_parallel
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.tables.table_files import read_rows, write_rows

FOLDER = Path(__file__).parent
TABLES: dict[str, type[msgspec.Struct]] = {
    "estimates": PolicyEstimate,
    "summary": EstimatorSummary,
    "variants": VariantSummary,
    "dstc2": RealValue,
}
COMPUTED = ("estimates", "variants", "dstc2")
R = TypeVar("R", PolicyEstimate, RealValue)


def compute(output: Path, arguments: argparse.Namespace) -> None:
    study = read_study(arguments.config)
    tables: dict[str, Sequence[msgspec.Struct]] = {}
    if "estimates" in arguments.table:
        rows = _rows(policy_values.estimate_rows, policy_values.estimate_cells(study))
        write_rows(output / "estimates.csv", rows, PolicyEstimate, decimals=3)
        # Of the rounded numbers: anybody can make it again from the table.
        tables["summary"] = summarise(read_rows(output / "estimates.csv", PolicyEstimate))
    if "variants" in arguments.table:
        summaries = summarise(_rows(policy_values.variant_rows, policy_values.variant_cells(study)))
        names = VariantSummary.__struct_fields__
        tables["variants"] = [VariantSummary(*(getattr(row, n) for n in names)) for row in summaries]
    if "dstc2" in arguments.table:
        cells = policy_values.real_cells(read_study(FOLDER / "dstc2.toml"))
        tables["dstc2"] = _rows(policy_values.real_rows, cells)
    for name, made in tables.items():
        write_rows(output / f"{name}.csv", made, TABLES[name], decimals=3)


def _rows(function: Callable[..., list[R]], cells: Sequence[tuple[object, ...]]) -> list[R]:
    steps = run_in_parallel(function, cells, -1)
    parts = show_progress(steps, len(cells), "cell", lambda rows: rows[0].tracker)
    return [row for rows in parts for row in rows]


def write_texts(tables: Path, output: Path) -> None:
    estimates = Selection(read_rows(tables / "estimates.csv", PolicyEstimate))
    draw(estimates, output / "truth.svg")
    errors = [msgspec.structs.replace(row, value=row.value - row.live) for row in estimates.rows]
    text = render(
        FOLDER / "README.md.j2",
        estimates=estimates,
        lstd_errors=Selection(errors).where(estimator="lstd", degenerate=False),
        summary=Selection(read_rows(tables / "summary.csv", EstimatorSummary)),
        variants=Selection(read_rows(tables / "variants.csv", VariantSummary)),
        dstc2=Selection(read_rows(tables / "dstc2.csv", RealValue)),
    )
    (output / "README.md").write_text(text)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", nargs="?", default=str(FOLDER / "config.toml"), help="what is played")
    parser.add_argument(
        "--table", nargs="+", choices=COMPUTED, default=COMPUTED, help="compute only these; DIR has the rest"
    )


if __name__ == "__main__":
    run_experiment(FOLDER, __doc__, compute, write_texts, add_options)
