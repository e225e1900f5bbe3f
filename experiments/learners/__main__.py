"""`python -m experiments.learners`: which learner holds up in live play, on worlds it was not tuned on."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from experiments.learners.ceiling import Config, learner_returns
from experiments.learners.live_returns import DATASETS, N_LIVE, SEEDS, TRACKED, live_returns
from experiments.learners.tables import LiveReturn, PolicySummary
from experiments.main import Experiment, Made, Tables, make_run
from experiments.selection import Selection
from extrinsic.cli.progress import show_progress
from extrinsic.parallel import run_in_parallel
from extrinsic.study.settings_file import read_policies
from extrinsic.study.tables import PolicyRow
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


def compute(output: Path, arguments: argparse.Namespace) -> Made:
    if arguments.part in (None, "states"):
        worlds = [(seed, dataset) for seed in SEEDS for dataset in DATASETS]
        tasks: list[tuple[Any, ...]] = [(*world, tracker) for world in worlds for tracker in TRACKED]
        rows = _computed(live_returns, tasks)
        yield from (("live_returns", rows), ("summary", summarise(rows)))
    if arguments.part in (None, "learners"):
        config = read_toml(arguments.config, Config)
        yield "learner_returns", _computed(learner_returns, [(config, *cell) for cell in config.cells()])
    if arguments.part in (None, "dstc2"):
        run = make_run(read_policies(FOLDER / "dstc2_learners.toml"), arguments.runs / "dstc2_learners")
        yield "dstc2_learners", run.table("policies")


def _computed(function: Callable[..., list[LiveReturn]], tasks: list[tuple[Any, ...]]) -> list[LiveReturn]:
    steps = run_in_parallel(function, tasks, -1)
    parts = show_progress(steps, len(tasks), "cell", lambda rows: f"{rows[0].dataset} {rows[0].tracker}")
    return [row for part in parts for row in part]


def page_values(tables: Tables) -> Mapping[str, object]:
    rows, learners = tables["live_returns"], tables["learner_returns"]
    return {
        "rows": rows,
        "gain": lambda policy, other="behaviour": gain(rows, policy, other),
        "n_live": N_LIVE,
        "learners": learners,
        "real": tables["dstc2_learners"],
        "learner_summary": Selection(summarise(learners.rows)),
        "learner_gain": lambda policy, other="behaviour": gain(learners, policy, other),
    }


EXPERIMENT = Experiment(
    FOLDER,
    __doc__,
    {
        "live_returns": LiveReturn,
        "summary": PolicySummary,
        "learner_returns": LiveReturn,
        "dstc2_learners": PolicyRow,
    },
    compute,
    page_values,
    options=add_options,
)

if __name__ == "__main__":
    EXPERIMENT.main()
