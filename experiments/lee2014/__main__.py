"""`python -m experiments.lee2014 [--runs DIR] [--seeds N]`: which of Lee's findings hold under which rule?"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec
from extrinsic.correlation.deciding import EDGES

from experiments.lee2014 import study, tables
from experiments.lee2014.figure import draw_correlations, draw_policies
from experiments.lee2014.tables import FILLS, TARGETS
from experiments.main import run_experiment
from experiments.selection import Selection
from experiments.texts import render
from extrinsic.parallel import run_in_parallel
from extrinsic.study.tables import DecidedRow
from extrinsic.tables import read_rows, write_rows

FOLDER = Path(__file__).parent
KEPT: dict[str, tuple[type[msgspec.Struct], Callable[..., Sequence[msgspec.Struct]], int]] = {
    "metrics": (tables.MetricValues, study.metric_rows, 3),
    "returns": (tables.ReturnValues, study.return_rows, 1),
}
"""What is kept of the runs, with the decimals of its numbers; all other tables are made from these."""

MADE: dict[str, type[msgspec.Struct]] = {
    "correlations": tables.Correlation,
    "verdicts": tables.Verdict,
    "decided": tables.Decided,
    "policies": tables.PolicyGain,
}


def keep(runs: Path, output: Path, seeds: Sequence[int] = study.SEEDS, changes: Sequence[str] = ()) -> None:
    """Run the tool with every seed and store what is kept of it, beside what is kept of other seeds."""
    rows: dict[str, list[Any]] = {name: [] for name in KEPT}
    for name, (kind, _, _) in KEPT.items():
        stored: list[Any] = read_rows(path, kind) if (path := output / f"{name}.csv").exists() else []
        rows[name] = [row for row in stored if row.seed in set(study.SEEDS) - set(seeds)]
    for seed in seeds:
        run = study.run_seed(seed, runs / f"lee2014-{seed}", changes=changes)
        for name, (_, make_rows, _) in KEPT.items():
            rows[name] += make_rows(run, seed)
    for name, (kind, _, decimals) in KEPT.items():
        write_rows(output / f"{name}.csv", sorted(rows[name], key=lambda row: row.seed), kind, decimals)


def make_tables(folder: Path, output: Path) -> None:
    """All other tables, from those that were kept."""
    points = study.read_points(folder)
    conditions = [(points, fill, target) for fill in FILLS for target in TARGETS]
    n_jobs = os.cpu_count() or 1
    rows: dict[str, Sequence[msgspec.Struct]] = {
        "correlations": list(chain(*run_in_parallel(study.correlations, conditions, n_jobs))),
        "verdicts": list(chain(*run_in_parallel(study.verdicts, conditions, n_jobs))),
        "decided": list(chain(*(study.decided(*condition) for condition in conditions))),
        "policies": list(study.policy_gains(points)),
    }
    for name, kind in MADE.items():
        write_rows(output / f"{name}.csv", rows[name], kind, decimals=3)


def keep_decided(run: Path, output: Path) -> None:
    """What a run of configs/lee2014.toml itself says of two trackers: nothing was chosen by its callers."""
    rows: list[tables.Decided] = []
    for row in read_rows(run / "decided.csv", DecidedRow):
        fill = (row.variant or "").removeprefix("fill=")
        if fill in FILLS and row.target in TARGETS:
            rows.append(
                tables.Decided(
                    fill, row.target, row.trackers, row.low, row.high, row.pairs, row.predicted, row.right
                )
            )
    write_rows(output / "whole_decided.csv", rows, tables.Decided, decimals=3)


def compute(output: Path, arguments: argparse.Namespace) -> None:
    if arguments.whole:
        keep_decided(arguments.whole, output)
        return
    keep(arguments.runs, output, arguments.seeds)
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
        decided=_decided(read_rows(folder / "decided.csv", tables.Decided)),
        whole=_decided(read_rows(folder / "whole_decided.csv", tables.Decided)),
        quality=["l2", "l2.lee", "avgp"],
        shown=len({tables.Name.of(row) for row in correlations.where(fill=FILLS[0]).rows}),
    )
    (output / "README.md").write_text(text)


def _decided(rows: Sequence[tables.Decided]) -> list[dict[str, Any]]:
    """By rule, and over both: of all targets together, since one has few pairs of a kind."""
    lines = []
    for group in tables.GROUPS[::-1]:
        for fill in (*FILLS, None):
            chosen = [row for row in rows if row.trackers == group and fill in (None, row.fill) and row.pairs]
            shares = []
            for low in EDGES[:-1]:
                right = [row.right or 0.0 for row in chosen if row.low == low for _ in range(row.pairs)]
                shares.append((len(right), fmean(right) if right else math.nan))
            lines.append({"fill": fill or "both", "trackers": group, "shares": shares})
    return lines


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="where the tool's runs are or go")
    parser.add_argument(
        "--whole", type=Path, metavar="RUN", help="of `extrinsic run lee2014`: keep what it decides, no more"
    )
    parser.add_argument(
        "--seeds",
        type=int,
        nargs="*",
        choices=study.SEEDS,
        default=study.SEEDS,
        help="run only these (or none); what is kept of the others stays",
    )


if __name__ == "__main__":
    run_experiment(FOLDER, __doc__, compute, write_texts, add_options)
