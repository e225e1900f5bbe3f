"""`python -m experiments.learners`: which learner holds up in live play, on worlds it was not tuned on."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from experiments.learners.ceiling import Config, learner_returns
from experiments.learners.live_returns import DATASETS, N_LIVE, SEEDS, TRACKED, live_returns
from experiments.learners.tables import LiveReturn, PolicySummary
from experiments.main import run_experiment
from experiments.runs import make_run
from experiments.selection import Selection
from experiments.texts import render
from extrinsic.cli.progress import show_progress
from extrinsic.parallel import run_in_parallel
from extrinsic.study.settings_file import read_policies
from extrinsic.study.tables import PolicyRow
from extrinsic.tables import read_rows, write_rows
from extrinsic.typed_files import read_toml
from extrinsic.verdict.intervals import jackknife_interval

FOLDER = Path(__file__).parent


class Gain(msgspec.Struct, frozen=True):
    """How much more a policy earns than another, with an interval over worlds (seed and dataset)."""

    value: float
    low: float
    high: float


def gain(rows: Selection[LiveReturn], policy: str, other: str) -> Gain:
    """Of the means over trackers in each world, as all policies of a world learn from the same calls."""
    means = [rows.where(policy=name).means("earned", "seed", "dataset") for name in (policy, other)]
    differences = np.array([means[0][world] - means[1][world] for world in means[0]])
    left_out = (differences.sum() - differences) / (len(differences) - 1)
    low, high = jackknife_interval(differences.mean(), left_out, is_correlation=False)
    return Gain(float(differences.mean()), float(low), float(high))


def summarise(rows: Sequence[LiveReturn]) -> list[PolicySummary]:
    """A row for every policy."""
    table = Selection(rows)
    averaged = ("earned", "difference", "completed", "three_alike", "kernels", "largest_q", "zero_kernel")
    summary = []
    for policy in table.distinct("policy"):
        of_policy = table.where(policy=policy)
        defined = [name for name in averaged if getattr(of_policy.rows[0], name) is not None]
        means = {name: of_policy.mean(name) for name in defined}
        above = sum(row.difference > row.half_width for row in of_policy.rows)
        lowest, cells = of_policy.lowest("difference"), len(of_policy.rows)
        summary.append(PolicySummary(policy=policy, lowest=lowest, above_zero=above, cells=cells, **means))
    return summary


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--part",
        choices=("states", "learners", "dstc2"),
        help="compute only what compares states, or learners and training sizes, or learners on real calls",
    )
    parser.add_argument(
        "--config", default=FOLDER / "config.toml", metavar="FILE", help="seeds and sizes of `learners`"
    )
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="where the tool's runs are or go")


def compute(output: Path, arguments: argparse.Namespace) -> None:
    if arguments.part in (None, "states"):
        worlds = [(seed, dataset) for seed in SEEDS for dataset in DATASETS]
        tasks: list[tuple[Any, ...]] = [(*world, tracker) for world in worlds for tracker in TRACKED]
        rows = _computed(live_returns, tasks)
        write_rows(output / "live_returns.csv", rows, LiveReturn, decimals=3)
        write_rows(output / "summary.csv", summarise(rows), PolicySummary, decimals=3)
    if arguments.part in (None, "learners"):
        config = read_toml(arguments.config, Config)
        rows = _computed(learner_returns, [(config, *cell) for cell in config.cells()])
        write_rows(output / "learner_returns.csv", rows, LiveReturn, decimals=3)
    if arguments.part in (None, "dstc2"):
        run = make_run(read_policies(FOLDER / "dstc2_learners.toml"), arguments.runs / "dstc2_learners")
        write_rows(output / "dstc2_learners.csv", run.table("policies"), PolicyRow, decimals=3)


def _computed(function: Callable[..., list[LiveReturn]], tasks: list[tuple[Any, ...]]) -> list[LiveReturn]:
    steps = run_in_parallel(function, tasks, -1)
    parts = show_progress(steps, len(tasks), "cell", lambda rows: f"{rows[0].dataset} {rows[0].tracker}")
    return [row for part in parts for row in part]


def write_texts(tables: Path, output: Path) -> None:
    rows, learners = (
        Selection(read_rows(tables / f"{name}_returns.csv", LiveReturn)) for name in ("live", "learner")
    )
    text = render(
        FOLDER / "README.md.j2",
        rows=rows,
        summary=Selection(read_rows(tables / "summary.csv", PolicySummary)),
        gain=lambda policy, other="behaviour": gain(rows, policy, other),
        n_live=N_LIVE,
        learners=learners,
        real=Selection(read_rows(tables / "dstc2_learners.csv", PolicyRow)),
        learner_summary=Selection(summarise(learners.rows)),
        learner_gain=lambda policy, other="behaviour": gain(learners, policy, other),
    )
    (output / "README.md").write_text(text)


if __name__ == "__main__":
    run_experiment(FOLDER, __doc__, compute, write_texts, add_options)
