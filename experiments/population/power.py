"""`configs/population.toml` run whole: which metrics may be the best, Lee's findings, under each policy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from experiments.runs import make_run
from extrinsic.report.run_data import Tables, read_tables, variant_results
from extrinsic.study.settings_file import read_study
from extrinsic.study.tables import IntrinsicRow
from extrinsic.tables import write_rows
from extrinsic.verdict.findings import findings
from extrinsic.verdict.names import Name
from extrinsic.verdict.rows import PairRow

CONFIG = Path(__file__).parents[2] / "configs" / "population.toml"
TARGETS = {"learned": "rl.live", "fixed": "expert.live"}


class BestSet(msgspec.Struct, frozen=True):
    """How many metrics may be the best by the live return of a policy, the first of them, and the others.

    low, high: an interval of the first one's r that holds for all metrics at once.
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
    others: str


class LeeFinding(msgspec.Struct, frozen=True):
    """What the report says of a finding of Lee's, under a policy and a fill rule."""

    policy: str
    fill: str
    claim: str
    verdict: str
    numbers: str


def compute_power(output: Path, folder: Path, n_jobs: int = 2) -> None:
    """Run the study, or take what the folder has of it.

    Pairs of metrics, and with them Lee's findings, are computed for the primary target: for each policy in
    turn. The other stages do not depend on it.
    """
    study = read_study(CONFIG)
    found: list[LeeFinding] = []
    for policy, target in TARGETS.items():
        correlation = msgspec.structs.replace(study.correlation, primary=target)
        run = make_run(msgspec.structs.replace(study, correlation=correlation), folder, n_jobs)
        write_power(output, read_tables(run.folder), policy, found)


def write_power(output: Path, tables: Tables, primary: str, found: list[LeeFinding]) -> None:
    """The best sets of both policies, and the findings so far with those of the policy that is primary."""
    sets = [row for policy, target in TARGETS.items() for row in _sets(tables, policy, target)]
    found += _findings(tables, primary)
    write_rows(output / "best_sets.csv", sets, BestSet, decimals=3)
    write_rows(output / "findings.csv", found, LeeFinding)


def _sets(tables: Tables, policy: str, target: str) -> Iterator[BestSet]:
    for results in variant_results(tables, target=target):
        rows = sorted(results.sets.values(), key=lambda row: row.rank or len(results.sets))
        first, *others = rows
        yield BestSet(
            policy,
            results.variant.removeprefix("fill="),
            results.n_trackers(results.group),
            len({row.dataset for row in tables[IntrinsicRow]}),
            len(rows),
            sum(bool(row.in_set) for row in rows),
            Name.of(first).title(),
            first.r or 0.0,
            first.low,
            first.high,
            "; ".join(Name.of(row).title() for row in others if row.in_set),
        )


def _findings(tables: Tables, policy: str) -> Iterator[LeeFinding]:
    for results in variant_results(tables):
        pairs = results.rows(PairRow, results.group)
        for finding in findings(results.ranked[results.group], pairs):
            fill = results.variant.removeprefix("fill=")
            yield LeeFinding(policy, fill, finding.claim, finding.verdict, finding.numbers)
