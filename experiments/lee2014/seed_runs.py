"""The tool's own runs, one a seed, and what is kept of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import msgspec

from experiments.lee2014.tables import METRICS, RETURNS, MetricValues, ReturnValues, ToolVerdict, TrackerKind
from experiments.runs import findings_of_report, make_run
from extrinsic.study.configuration.settings import StudySettings
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.finished_run import Run
from extrinsic.study.naming import Name

CONFIG = Path(__file__).parents[2] / "configs" / "lee2014.toml"

SEEDS = (501, 502, 503)
"""Not used while building."""

CHANGES = (
    "sensitivity={}",
    "value.on_policy=false",
    'value.estimators=["live", "mean_augmented", "lstd"]',
    'correlation.coefficients=["pearson"]',
    "correlation.permutations=199",
    "correlation.resamples=500",
    "correlation.subsets=1",
)
"""What is left out of the study for the sake of time: nothing that is reported here."""


def seed_settings(seed: int, changes: Sequence[str] = ()) -> StudySettings:
    """The study with other calls and, since live callers depend on the study's own seed, other callers."""
    return read_study(CONFIG, [f"seed={seed}", f"simulation.seed={seed}", *CHANGES, *changes])


def run_seed(seed: int, folder: Path, n_jobs: int = -1, changes: Sequence[str] = ()) -> Run:
    return make_run(seed_settings(seed, changes), folder, n_jobs)


def metric_rows(run: Run, seed: int) -> list[msgspec.Struct]:
    values: dict[tuple[str, str], dict[Name, int]] = defaultdict(dict)
    for row in run.table("intrinsic"):
        if row.value is not None:
            values[row.dataset, row.tracker][Name.of(row)] = round(1000.0 * row.value)
    return [MetricValues(seed, *key, *map(cells.get, METRICS)) for key, cells in values.items()]


def return_rows(run: Run, seed: int) -> list[msgspec.Struct]:
    values: dict[tuple[str, str], dict[tuple[str, str, str], float | None]] = defaultdict(dict)
    for row in run.table("returns"):
        column = ((row.variant or "").removeprefix("fill="), row.policy, row.estimator)
        values[row.dataset, row.tracker][column] = row.value
    return [ReturnValues(seed, *key, *map(cells.get, RETURNS)) for key, cells in values.items()]


def tracker_rows(run: Run, seed: int) -> list[TrackerKind]:
    return [
        TrackerKind(seed, row.tracker, row.core, row.degenerate, row.recalibrated, row.near_duplicate_of)
        for row in run.table("trackers")
    ]


def verdict_rows(run: Run, seed: int) -> list[ToolVerdict]:
    """What the report of the run says of Lee's findings, for each fill rule and group of trackers."""
    return [
        ToolVerdict(seed, fill, group, finding.claim, finding.verdict)
        for fill, group, finding in findings_of_report(run)
    ]
