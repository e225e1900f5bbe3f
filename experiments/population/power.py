"""`configs/population.toml` run whole: which metrics may be the best, Lee's findings, under each policy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from experiments.runs import make_run
from extrinsic.report.results.lee_findings import findings
from extrinsic.report.results.report_tables import read_tables
from extrinsic.report.results.variant_results import variant_results
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.finished_run import Run
from extrinsic.study.naming import Name
from extrinsic.study.tables.table_files import write_rows

CONFIG = Path(__file__).parents[2] / "configs" / "population.toml"
TARGETS = {"learned": "rl.live", "fixed": "expert.live"}


class BestSet(msgspec.Struct, frozen=True):
    """How many metrics may be the best by the live return of a policy, and the first of them.

    low, high: an interval of its r that holds for all metrics at once.
    """

    policy: str
    fill: str
    n_trackers: int
    n_datasets: int
    n_metrics: int
    in_set: int
    first: str
    r: float
    low: float | None
    high: float | None


class LeeFinding(msgspec.Struct, frozen=True):
    """What the report says of a finding of Lee's, under a policy and a fill rule."""

    policy: str
    fill: str
    claim: str
    verdict: str
    numbers: str


def compute_power(output: Path, folder: Path, n_jobs: int = 2) -> None:
    """Run the study, or take what the folder has of it: its stages do not depend on the primary target."""
    study = read_study(CONFIG)
    sets: list[BestSet] = []
    found: list[LeeFinding] = []
    for policy, target in TARGETS.items():
        correlation = msgspec.structs.replace(study.correlation, primary=target)
        run = make_run(msgspec.structs.replace(study, correlation=correlation), folder, n_jobs)
        sets += _sets(run, policy)
        found += _findings(run, policy)
    write_rows(output / "best_sets.csv", sets, BestSet, decimals=3)
    write_rows(output / "findings.csv", found, LeeFinding)


def _sets(run: Run, policy: str) -> Iterator[BestSet]:
    for results in variant_results(read_tables(run.folder)):
        rows = list(results.sets.values())
        first = min(rows, key=lambda row: row.rank or len(rows))
        yield BestSet(
            policy,
            results.variant.removeprefix("fill="),
            results.n_trackers(results.group),
            len(results.datasets),
            len(rows),
            sum(bool(row.in_set) for row in rows),
            Name.of(first).title(),
            first.r or 0.0,
            first.low,
            first.high,
        )


def _findings(run: Run, policy: str) -> Iterator[LeeFinding]:
    for results in variant_results(read_tables(run.folder)):
        for finding in findings(results, results.group):
            fill = results.variant.removeprefix("fill=")
            yield LeeFinding(policy, fill, finding.claim, finding.verdict, finding.numbers)
