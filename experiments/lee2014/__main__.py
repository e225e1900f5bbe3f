"""`python -m experiments.lee2014 [--runs DIR]`: which of Lee's findings hold under which policy and rule?

Three seeds of configs/lee2014.toml, of which metrics.csv and returns.csv are kept, and the study as it comes.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import msgspec

from experiments.lee2014.tables import METRICS, RETURNS, MetricValues, ReturnValues
from experiments.main import Made, make_run
from experiments.verdicts import Case, MetricStudy, panel_of
from extrinsic.panel import Panel
from extrinsic.study.run import Run
from extrinsic.study.settings import StudySettings
from extrinsic.study.settings_file import read_study
from extrinsic.tables import read_rows
from extrinsic.verdict.names import Name, is_share

FOLDER = Path(__file__).parent
SEEDS = (541, 542, 543)
"""Never used for anything else, and written down before the run; built on 11 and 12."""

THREE_SEEDS, AS_IT_COMES = "three seeds", "as it comes"

CHANGES = (
    "sensitivity={}",
    "value.on_policy=false",
    'policy.policies=["rl", "sl", "expert"]',
    'value.estimators=["live", "lstd"]',
    'correlation.coefficients=["pearson"]',
    "correlation.permutations=199",
)
"""What is left out of the study for the sake of time: nothing that is reported here."""


def seed_settings(seed: int, changes: tuple[str, ...] = ()) -> StudySettings:
    """The study with other calls and, since live callers depend on the study's own seed, other callers."""
    return read_study("lee2014", [f"seed={seed}", f"simulation.seed={seed}", *CHANGES, *changes])


def kept_rows(run: Run, seed: int) -> tuple[list[msgspec.Struct], list[msgspec.Struct]]:
    """Rows of metrics.csv and of returns.csv."""
    core = {row.tracker: row.core for row in run.table("trackers")}
    metrics: dict[tuple[str, str], dict[Name, int]] = defaultdict(dict)
    returns: dict[tuple[str, str], dict[tuple[str, str], float | None]] = defaultdict(dict)
    for row in run.table("intrinsic"):
        if row.value is not None:
            metrics[row.dataset, row.tracker][Name.of(row)] = round(1000.0 * row.value)
    for row in run.table("returns"):
        scale = 100.0 if row.estimator == "completed" else 1.0
        column = ((row.variant or "").removeprefix("fill="), f"{row.policy}.{row.estimator}")
        returns[row.dataset, row.tracker][column] = None if row.value is None else scale * row.value
    return (
        [MetricValues(seed, *key, core[key[1]], *map(cells.get, METRICS)) for key, cells in metrics.items()],
        [ReturnValues(seed, *key, core[key[1]], *map(cells.get, RETURNS)) for key, cells in returns.items()],
    )


def stored_panel(folder: Path) -> Mapping[str, Panel]:
    """Twelve corpora: the four datasets with every seed's callers."""
    tables = [
        [msgspec.structs.astuple(row) for row in read_rows(folder / f"{name}.csv", kind)]
        for name, kind in (("metrics", MetricValues), ("returns", ReturnValues))
    ]
    metrics = {f"metric {place}": name for place, name in enumerate(METRICS)}
    targets = {f"target {place}": (name, f"fill={fill}") for place, (fill, name) in enumerate(RETURNS)}
    columns = (*metrics, *targets)
    scales = [*[0.001] * len(metrics), *(0.01 if is_share(name) else 1.0 for _, name in RETURNS)]
    rows = []
    by_cell = {cells[:3]: cells[4:] for cells in tables[1]}
    for seed, dataset, tracker, _, *scores in tables[0]:
        values = by_cell[seed, dataset, tracker]
        row: dict[str, object] = {"dataset": f"{dataset} {seed}", "system": tracker, "family": ""}
        row |= {
            name: None if each is None else scale * each
            for name, each, scale in zip(columns, (*scores, *values), scales, strict=True)
        }
        rows.append(row)
    left_out = {row[2] for row in tables[0] if not row[3]}
    return {THREE_SEEDS: panel_of(rows, metrics, targets, sorted(left_out))}


def run_seeds(arguments: argparse.Namespace) -> Made:
    """What is kept of the three seeds, which are run again."""
    if not arguments.existing:
        made = [
            kept_rows(make_run(seed_settings(seed), arguments.runs / f"lee2014-{seed}"), seed)
            for seed in SEEDS
        ]
        yield "metrics", [row for rows, _ in made for row in rows]
        yield "returns", [row for _, rows in made for row in rows]


STUDY = MetricStudy(
    FOLDER,
    __doc__,
    targets=("rl.live", "expert.live", "rl.completed", "rl.lstd"),
    cases={AS_IT_COMES: Case("lee2014", "lee2014")},
    stored=stored_panel,
    gains=(
        ("rl.live", "behaviour.live"),
        ("rl.live", "expert.live"),
        ("rl.live", "sl.live"),
        ("rl.completed", "expert.completed"),
        ("rl.lstd", "behaviour.observed"),
    ),
    own={"metrics": MetricValues, "returns": ReturnValues},
    first=run_seeds,
    decimals={"returns": 1},
    drawn=((THREE_SEEDS, "rl.live"), (THREE_SEEDS, "expert.live")),
)
EXPERIMENT = STUDY.experiment

if __name__ == "__main__":
    EXPERIMENT.main()
