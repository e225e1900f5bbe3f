"""`python -m experiments.lee2014 [--runs DIR]`: which of Lee's findings hold, and where?"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from experiments.estimate_rows import row_verdict
from experiments.lee2014 import findings, seed_runs, summaries, tables, tracker_subsets
from experiments.lee2014.figure import draw_correlations, draw_datasets, draw_policies
from experiments.lee2014.metric_correlations import RESAMPLES, beyond_rows, correlation_rows, spread_rows
from experiments.lee2014.points import Condition, Points, read_points
from experiments.lee2014.policies import policy_rows, trackers_by_return
from experiments.lee2014.tables import FILLS, GROUPS, LEE, TARGETS
from experiments.lee2014.tracker_subsets import SUBSET_TARGETS, needed_rows, subset_rows, subset_sizes
from experiments.main import run_experiment
from experiments.selection import Selection
from experiments.texts import render
from extrinsic.cli.progress import show_progress
from extrinsic.correlation.coefficients import SCOPES
from extrinsic.parallel import run_in_parallel
from extrinsic.study.tables.table_files import read_rows, write_rows

FOLDER = Path(__file__).parent
MakeRows = Callable[..., Sequence[msgspec.Struct]]

KEPT: dict[str, tuple[type[msgspec.Struct], MakeRows, int]] = {
    "metrics": (tables.MetricValues, seed_runs.metric_rows, 3),
    "returns": (tables.ReturnValues, seed_runs.return_rows, 1),
    "trackers": (tables.TrackerKind, seed_runs.tracker_rows, 3),
    "tool": (tables.ToolVerdict, seed_runs.verdict_rows, 3),
}
"""What is kept of the runs, with the decimals of its numbers; all other tables are made from these."""

MADE: dict[str, tuple[type[msgspec.Struct], MakeRows]] = {
    "correlations": (tables.Correlation, correlation_rows),
    "beyond": (tables.Beyond, beyond_rows),
    "spread": (tables.Spread, spread_rows),
    "findings": (tables.Finding, findings.finding_rows),
    "policies": (tables.PolicyClaim, policy_rows),
    "subsets": (tables.Subset, subset_rows),
}


def keep(runs: Path, output: Path, seeds: Sequence[int] = seed_runs.SEEDS) -> None:
    """Run the tool with every seed and store what is kept of it."""
    rows: dict[str, list[msgspec.Struct]] = {name: [] for name in KEPT}
    for seed in seeds:
        run = seed_runs.run_seed(seed, runs / f"lee2014-{seed}")
        for name, (_, make_rows, _) in KEPT.items():
            rows[name] += make_rows(run, seed)
    for name, (kind, _, decimals) in KEPT.items():
        write_rows(output / f"{name}.csv", rows[name], kind, decimals)


def table_tasks(points: Points) -> list[tuple[Any, ...]]:
    """The parts of the tables in the order of their rows: a table, and what its function takes."""
    tasks: list[tuple[Any, ...]] = []
    for condition in (Condition(fill, target) for fill in FILLS for target in TARGETS):
        tasks += [("correlations", points, condition), ("policies", points, condition)]
        if condition.target == "live":
            tasks.append(("beyond", points, condition))
        for group in GROUPS:
            tasks.append(("spread", points, condition, group))
            tasks += [("findings", points, replace(condition, scope=scope), group) for scope in SCOPES]
            if condition.target in SUBSET_TARGETS:
                sizes = subset_sizes(len(points.group(group)))
                tasks += [("subsets", points, condition, group, size) for size in sizes]
    return tasks


def table_part(table: str, *arguments: Any) -> tuple[str, Sequence[msgspec.Struct]]:
    return table, MADE[table][1](*arguments)


def compute(output: Path, arguments: argparse.Namespace) -> None:
    keep(arguments.runs, output)
    tasks = table_tasks(read_points(output))
    rows: dict[str, list[msgspec.Struct]] = {name: [] for name in MADE}
    steps = run_in_parallel(table_part, tasks, os.cpu_count() or 1)
    for table, part in show_progress(steps, len(tasks), "part", lambda step: step[0]):
        rows[table] += part
    for name, (kind, _) in MADE.items():
        write_rows(output / f"{name}.csv", rows[name], kind, decimals=3)
    # From the stored tables, so that its numbers follow from theirs.
    subsets = read_rows(output / "subsets.csv", tables.Subset)
    needed = needed_rows(subsets, read_rows(output / "findings.csv", tables.Finding))
    write_rows(output / "numbers.csv", needed, tables.Needed, decimals=3)


def write_texts(folder: Path, output: Path) -> None:
    points = read_points(folder)
    correlations = Selection(read_rows(folder / "correlations.csv", tables.Correlation))
    beyond = Selection(read_rows(folder / "beyond.csv", tables.Beyond))
    stored_findings = Selection(read_rows(folder / "findings.csv", tables.Finding))
    subsets = Selection(read_rows(folder / "subsets.csv", tables.Subset))
    needed = Selection(read_rows(folder / "numbers.csv", tables.Needed))
    draw_policies(points, output / "fig2.svg")
    draw_datasets(points, output / "fig2_datasets.svg")
    draw_correlations(correlations, output / "fig3.svg")
    conditions = [(fill, target) for fill in FILLS for target in TARGETS]
    ranked = [correlations.where(fill=fill, target=target) for fill, target in conditions]
    text = render(
        FOLDER / "README.md.j2",
        points=points,
        fills=FILLS,
        targets=TARGETS,
        groups=GROUPS,
        conditions=conditions,
        names=findings,
        tracker_subsets=tracker_subsets,
        resamples=RESAMPLES,
        findings=stored_findings,
        changed=summaries.changed_by_pooling(stored_findings),
        policies=Selection(read_rows(folder / "policies.csv", tables.PolicyClaim)),
        by_return={key: trackers_by_return(points, Condition(*key)) for key in conditions},
        correlations=correlations,
        families=summaries.FAMILIES,
        first=Selection([rows.rows[0] for rows in ranked]),
        lee=[rows.where(metric=list(LEE)).rows for rows in ranked],
        apart=summaries.score_metrics_apart(correlations),
        beyond=beyond,
        shown_beyond=summaries.shown_beyond(beyond.rows),
        above=Selection([row for row in beyond.rows if row_verdict(row) == "above"]),
        below=Selection([row for row in beyond.rows if row_verdict(row) == "below"]),
        tool=Selection(read_rows(folder / "tool.csv", tables.ToolVerdict)),
        needed=needed,
        subsets=subsets,
        decided={target: summaries.share_decided(needed, subsets, target) for target in SUBSET_TARGETS},
        extrapolations=Selection(summaries.extrapolations(needed)),
        spread=Selection(read_rows(folder / "spread.csv", tables.Spread)),
    )
    (output / "README.md").write_text(text)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="where the tool's runs are or go")


if __name__ == "__main__":
    run_experiment(FOLDER, __doc__, compute, write_texts, add_options)
