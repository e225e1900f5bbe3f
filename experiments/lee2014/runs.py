"""The tool's own runs, one a seed, and what is kept of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from experiments.runs import make_run
from extrinsic.report.results.lee_findings import findings
from extrinsic.report.results.naming import Name
from extrinsic.report.results.report_tables import read_tables
from extrinsic.report.results.variant_results import variant_results
from extrinsic.study.configuration.settings import StudySettings
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.finished_run import Run
from extrinsic.study.tables.schema import IntrinsicRow, ReturnRow

Rows = list[dict[str, Any]]

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
"""What is left out of the study for the sake of time: nothing that is told here."""

FILLS = ("argmax", "threshold")
POLICIES = ("rl", "sl", "sl_sampled")
ESTIMATORS = ("live", "lstd", "mean_augmented")
BEHAVIOUR = "observed"

LEE = (
    "accuracy",
    "roc.v1_eer",
    "roc.v1_ca05",
    "roc.v1_ca10",
    "roc.v1_ca20",
    "roc.v2_ca05",
    "roc.v2_ca10",
    "roc.v2_ca20",
    "l2",
    "avgp",
    "mrr",
)
"""His eleven metrics."""

STATES = (
    "jga",
    "slot_accuracy",
    "relative_slot_accuracy",
    "average_goal_accuracy",
    "improved_average_goal_accuracy",
    "slot_f1",
    "turn_match",
    "fga(0.5)",
    "gca",
)
"""State-set metrics that stand beside them, filled by the rule of the reward, on schedule 1."""


def settings_of(seed: int, changes: Sequence[str] = ()) -> StudySettings:
    """The study with other calls and, since live callers hang on the study's own seed, other callers."""
    return read_study(CONFIG, [f"seed={seed}", f"simulation.seed={seed}", *CHANGES, *changes])


def run_seed(seed: int, folder: Path, n_jobs: int = -1, changes: Sequence[str] = ()) -> Run:
    return make_run(settings_of(seed, changes), folder, n_jobs)


def metric_rows(run: Run, seed: int) -> Rows:
    """A row for every tracker on every dataset, a column for every metric, in thousandths."""
    return _wide(
        run.table("intrinsic"),
        seed,
        _column_of_metric,
        lambda row: None if row.value is None else round(1000.0 * row.value),
    )


def return_rows(run: Run, seed: int) -> Rows:
    """The same of returns, to a tenth of a point."""
    return _wide(run.table("returns"), seed, _column_of_return, lambda row: f"{row.value:.1f}")


R = TypeVar("R", IntrinsicRow, ReturnRow)


def _wide(rows: Sequence[R], seed: int, column: Callable[[R], str | None], value: Callable[[R], Any]) -> Rows:
    table: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        name = column(row)
        if name is not None:
            blank = {"seed": seed, "dataset": row.dataset, "tracker": row.tracker}
            line = table.setdefault((row.dataset, row.tracker), blank)
            line[name] = value(row)
    return list(table.values())


def _column_of_metric(row: IntrinsicRow) -> str | None:
    name = Name.of(row)
    return column_of(name) if name.metric in LEE or (is_of_states(name) and name.schedule == 1) else None


def is_of_states(name: Name) -> bool:
    return any(name.metric in (filled(metric, rule) for rule in FILLS) for metric in STATES)


def filled(metric: str, rule: str) -> str:
    """The printed form of a state-set metric of beliefs: `jga(fill=argmax)`, `fga(0.5, fill=argmax)`."""
    return f"{metric[:-1]}, fill={rule})" if metric.endswith(")") else f"{metric}(fill={rule})"


def column_of(name: Name) -> str:
    return f"{name.metric} {name.component} {name.schedule}"


def name_of(column: str) -> Name:
    metric, component, schedule = column.rsplit(" ", 2)
    return Name(metric, int(schedule), component)


def _column_of_return(row: ReturnRow) -> str:
    return f"{(row.variant or '').removeprefix('fill=')} {row.policy} {row.estimator}"


def tracker_rows(run: Run, seed: int) -> Rows:
    """Who is a core tracker, and why others are not."""
    columns = ("tracker", "core", "degenerate", "recalibrated", "near_duplicate_of")
    return [
        {"seed": seed, **{column: getattr(row, column) for column in columns}}
        for row in run.table("trackers")
    ]


def verdict_rows(run: Run, seed: int) -> Rows:
    """What the tool's own report says of Lee's findings: live return, resampled dialogs and trackers."""
    return [
        {
            "seed": seed,
            "fill": evidence.variant.removeprefix("fill="),
            "trackers": group,
            "claim": finding.claim,
            "verdict": finding.verdict,
        }
        for evidence in variant_results(read_tables(run.folder))
        for group in evidence.groups
        for finding in findings(evidence, group)
    ]
