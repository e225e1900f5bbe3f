"""The tables of a run, a struct each: its fields are the columns in their order, its docstring is their help.

Lines `columns: meaning` of a docstring hold for the
structs that extend it, too; `column_help` reads them for the site and for the page of a report.
"""

from __future__ import annotations

import inspect
import re

from extrinsic.verdict.rows import ChoiceRow, CompositeRow, CorrelationRow, ErrorRow, Row, TrackerRow

LEARNER = "learner"
"""In place of an estimator, in rows about the learner itself."""


class IntrinsicRow(Row, frozen=True, kw_only=True):
    """Every metric of every tracker, by dataset, component and schedule.

    dataset, tracker: what was scored.
    n: items that were scored.
    value: the score; empty where it is undefined.
    """

    dataset: str
    tracker: str
    component: str
    metric: str
    schedule: int
    label_scheme: str | None = None
    n: int
    value: float | None = None


class ValueRow(Row, frozen=True, kw_only=True):
    """About a policy and an estimator of its value.

    dataset, tracker: the dialogs, and the tracker whose beliefs the policy sees.
    policy: `rl` learned, `sl` imitated, `sl_sampled` imitated by drawing, `expert` the world's own on this
    tracker, `behaviour` logged (on its own tracker), `outcome` from the user's own file.
    estimator: how the value was estimated; `live`: by playing, all policies with the same callers; of an
    outcome, its name. Not returns: `gain`, the return less that of the logged policy with the same dialogs or
    callers, and `completed`, the share of the callers of live play who reached their goal.
    """

    dataset: str
    tracker: str
    policy: str
    estimator: str


class ReturnRow(ValueRow, frozen=True, kw_only=True):
    """The values of policies, by each estimator.

    value: the expected return of a dialog; empty where it is undefined.
    low, high: a 95 % interval over dialogs.
    n: dialogs, or callers of live play.
    feasible_low, feasible_high: the least and the most that a dialog can earn.
    flags: reasons not to trust the value, a word each (`extrinsic ls estimators`).
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int
    feasible_low: float | None = None
    feasible_high: float | None = None
    flags: tuple[str, ...] = ()
    variant: str | None = None


class DiagnosticRow(ValueRow, frozen=True, kw_only=True):
    """Diagnostics of learners and estimators, one number per row.

    estimator: the estimator that reports it; `learner` for the learner.
    diagnostic: its name, e.g. `kernels`, `condition`, `on_policy_gap`.
    value: the number; 1 and 0 for yes and no.
    """

    diagnostic: str
    value: float | None = None
    variant: str | None = None


class GridRow(ValueRow, frozen=True, kw_only=True):
    """About a policy of a grid.

    dataset, tracker: the dialogs, and the tracker whose beliefs it sees; `all`: the mean over all of them.
    policy: its learner and the settings that vary; `logged`: the system that made the dialogs.
    estimator: how the value was estimated; the logged policy has a row for the log, and one for live play.
    value, low, high: the expected return of a dialog, with a 95 % interval over dialogs.
    n: dialogs, or callers of live play.
    flags: reasons not to trust the value, a word each; of a mean, those of any part.
    """


class PolicyRow(GridRow, frozen=True, kw_only=True):
    """The policies of a grid (`extrinsic policies`), each beside its baseline.

    baseline: the policy that it is compared to.
    difference: its value less the baseline's, which of the logged policy is what the dialogs earned; in live
    play what it earns with the same callers.
    difference_low, difference_high: a 95 % interval, over the same dialogs (or callers) for both.
    placebo_gain: what a policy learned from shuffled actions seems to gain over the logged one, by LSTD.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int
    baseline: str = ""
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    placebo_gain: float | None = None
    flags: tuple[str, ...] = ()


class CurveRow(GridRow, frozen=True, kw_only=True):
    """The policies of a grid learned from fewer dialogs: the learning curve.

    share: of the training dialogs, 1 for all; a learned tracker is trained on all of them in any case.
    dialogs: how many these are; of a mean, on average.
    """

    share: float
    dialogs: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int
    flags: tuple[str, ...] = ()


class TimingRow(Row, frozen=True, kw_only=True):
    """How long every stage took; the only table that differs between equal runs.

    stage, name, key: which result.
    status: `computed`, or `reused` from an earlier run.
    seconds: time to compute it.
    """

    stage: str
    name: str = ""
    key: str = ""
    status: str
    seconds: float


class SensitivityRow(Row, frozen=True, kw_only=True):
    """The best metric under settings that papers seldom report, one changed at a time.

    parameter, setting: what was changed, e.g. `policy.kernel_lspi.ridge` to 10.
    metric, schedule, component: the metric that loses least under this setting.
    lost, possible: what a choice between two trackers by it loses, of what a coin loses.
    usual_winner_lost, usual_winner_rank: of the metric that loses least in the study's own setting.
    agreement: Kendall's tau with the study's own order of metrics.
    n_metrics: metrics compared.
    """

    parameter: str
    setting: str | None = None
    trackers: str
    target: str
    metric: str
    schedule: int
    component: str
    lost: float
    possible: float
    usual_winner_lost: float | None = None
    usual_winner_rank: int
    agreement: float | None = None
    n_metrics: int
    variant: str


TABLES: dict[str, type[Row]] = {
    "intrinsic": IntrinsicRow,
    "returns": ReturnRow,
    "choices": ChoiceRow,
    "correlations": CorrelationRow,
    "composite": CompositeRow,
    "sensitivity": SensitivityRow,
    "trackers": TrackerRow,
    "diagnostics": DiagnosticRow,
}
"""The tables of a study whose bytes the manifest records."""

ERRORS_TABLE: dict[str, type[Row]] = {"errors": ErrorRow}
"""Of a study with an evaluator of outcomes, besides."""

POLICY_TABLES: dict[str, type[Row]] = {
    "policies": PolicyRow,
    "learning_curve": CurveRow,
    "returns": ReturnRow,
    "diagnostics": DiagnosticRow,
}
"""The same of a run of `extrinsic policies`."""

READABLE: dict[str, type[Row]] = {**TABLES, **ERRORS_TABLE, **POLICY_TABLES, "timings": TimingRow}
"""Every table that a run may have; the times differ between equal runs, and are recorded nowhere."""

GONE = {
    "best_set": "choices",
    "counts": "choices",
    "decided": "choices",
    "stability": "choices",
    "pairs": "choices",
    "partial": "correlations",
    "influence": "correlations (carried_by)",
    "worlds": "Run.panel.datasets (properties)",
    "swap": "choices",
    "costs": "errors",
}
"""Tables of earlier versions, and where what they said is now."""

HELP_LINE = re.compile(r"(?P<columns>\w+(?:, \w+)*): (?P<help>.+)")


def summary(kind: type[Row]) -> str:
    """One line about a table."""
    return (inspect.getdoc(kind) or "").partition("\n")[0]


def column_help(kind: type[Row]) -> dict[str, str]:
    """The meaning of every column of a table, from the docstrings of its struct and of those it extends."""
    texts: dict[str, str] = {}
    for part in reversed(kind.__mro__):
        columns: list[str] = []
        for line in inspect.cleandoc(part.__doc__ or "").splitlines()[1:] if issubclass(part, Row) else ():
            match = HELP_LINE.match(line)
            if match:
                columns = match["columns"].split(", ")
                texts |= dict.fromkeys(columns, match["help"])
            elif line.strip():
                texts |= {column: f"{texts[column]} {line.strip()}" for column in columns}
    return {column: texts[column] for column in kind.__struct_fields__ if column in texts}
