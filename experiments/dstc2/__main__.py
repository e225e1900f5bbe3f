"""`python -m experiments.dstc2 [--runs DIR]`: which metric predicts the return on real calls?

Learned on train, valued on dev, with settings chosen on train (`python -m experiments.dstc2.choose`). Four
runs of the tool, each with both fill rules; a run that is there is not made again. Needs EXTRINSIC_DATA, or
../shared/data.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from extrinsic.study.stored_panel import stored_panel

from experiments.data import require
from experiments.dstc2.candidate_settings import ESTIMATOR, FILLS, N_FOLDS
from experiments.dstc2.choose import FOLDER, NEAR_BEST, TRIED, read_choices
from experiments.dstc2.control import RETURN, control_rows
from experiments.dstc2.figure import draw
from experiments.dstc2.gains import check_rows, flag_rows, gain_rows
from experiments.dstc2.return_correlations import (
    SLOTS,
    beyond_rows,
    correlate_sample,
    correlation_rows,
    difference_rows,
    tracker_groups,
)
from experiments.dstc2.scenarios import OTHER_TARGETS, SCENARIOS, TARGET, Scenario
from experiments.dstc2.tables import CHOSEN, COMPUTED
from experiments.estimate_rows import row_verdict
from experiments.main import run_experiment
from experiments.runs import make_run
from experiments.selection import Selection
from experiments.texts import render
from extrinsic.cli.progress import show_progress
from extrinsic.parallel import run_in_parallel
from extrinsic.study.run import Run
from extrinsic.study.settings_file import read_study
from extrinsic.tables import read_rows, write_rows

DEGENERATE = "last_turn"

Tables = dict[str, list[msgspec.Struct]]


def scenario_tables(scenario: Scenario, run: Run, good: Sequence[str]) -> Tables:
    """The rows that a run adds to each table."""
    settings = read_study(run.folder / "config.toml")
    level = settings.correlation.level
    trackers = run.table("trackers")
    names = [row.tracker for row in trackers]
    groups = tracker_groups(names, [row.tracker for row in trackers if row.core], good)
    targets = (TARGET, *OTHER_TARGETS) if scenario.is_main else (TARGET,)
    tables: Tables = {name: [] for name in COMPUTED}
    for fill in FILLS:
        panel = stored_panel(run, f"fill={fill}", targets)
        for group, members in groups.items():
            some = panel.take_trackers(np.flatnonzero([name in members for name in panel.trackers]))
            correlations = correlate_sample(some.sample, some, settings)
            tables["correlations"] += correlation_rows(scenario, fill, group, some, correlations, level)
            if group != SLOTS:
                tables["differences"] += difference_rows(scenario, fill, group, some, correlations, level)
            if group == "core" and scenario.is_main:
                tables["beyond"] += beyond_rows(fill, some, settings)
    tables["gains"] += gain_rows(scenario, run, names)
    if scenario.is_main:
        tables["checks"] += check_rows(scenario, run, names)
        tables["flags"] += flag_rows(run)
        tables["control"] += control_rows(
            run, settings, [row.tracker for row in trackers if not row.degenerate]
        )
    return tables


def compute(output: Path, arguments: argparse.Namespace) -> None:
    require("dstc2")
    good = read_choices().good
    tasks = [
        (scenario, make_run(scenario.settings(), arguments.runs / scenario.folder), good)
        for scenario in SCENARIOS
    ]
    steps = run_in_parallel(scenario_tables, tasks, os.cpu_count() or 1)
    parts = list(show_progress(steps, len(tasks), "summary", lambda tables: str(len(tables))))
    for name, kind in COMPUTED.items():
        write_rows(output / f"{name}.csv", [row for part in parts for row in part[name]], kind, decimals=3)


def write_texts(tables: Path, output: Path) -> None:
    rows: dict[str, Selection[Any]] = {
        name: Selection(read_rows(folder / f"{name}.csv", kind))
        for folder, kinds in ((tables, COMPUTED), (FOLDER, CHOSEN))
        for name, kind in kinds.items()
    }
    headline = rows["correlations"].where(headline=True)
    main = headline.where(manager="seen", absent="correct", target=TARGET)
    draw(main, rows["gains"], output / "dstc2.svg")
    for name in ("gains", "checks"):
        rows[name] = Selection([row for row in rows[name].rows if row.tracker != DEGENERATE])
    with (FOLDER.parent / "truth" / "summary.csv").open(newline="") as file:
        truth = {row["estimator"]: row for row in csv.DictReader(file) if row["world"] == "restaurants"}
    text = render(
        FOLDER / "README.md.j2",
        **rows,
        headline=headline,
        main=main,
        good=[row.tracker for row in rows["trackers"].rows if row.good and not row.nearly],
        spread=spread,
        clear=n_clear,
        verdict=row_verdict,
        error=float(truth[ESTIMATOR]["rmse"]),
        r_live={estimator: float(row["r_core"]) for estimator, row in truth.items()},
        fills=FILLS,
        scenarios=SCENARIOS,
        targets=(TARGET, *OTHER_TARGETS),
        estimator=ESTIMATOR,
        n_folds=N_FOLDS,
        tried=TRIED,
        near_best=NEAR_BEST,
        degenerate=DEGENERATE,
        logged_return=RETURN,
    )
    (output / "README.md").write_text(text)


def n_clear(rows: Selection[Any], side: str) -> int:
    """How many rows lie clearly `above` or `below` 0."""
    return sum(row_verdict(row) == side for row in rows.rows)


def spread(rows: Selection[Any], name: str) -> float:
    return float(np.std(rows.column(name), ddof=1))


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--runs", type=Path, default=Path("runs"), metavar="DIR", help="where the runs are, or will be"
    )


if __name__ == "__main__":
    run_experiment(FOLDER, __doc__, compute, write_texts, add_options)
