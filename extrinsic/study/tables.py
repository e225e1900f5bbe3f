"""The tables of a run, a struct each: its fields are the columns in their order, its docstring is their help.

Long because there are 21 tables, each a list of columns. Lines `columns: meaning` of a docstring hold for the
structs that extend it, too; `column_help` reads them for the site and for the page of a report.
"""

from __future__ import annotations

import inspect
import re

from extrinsic.verdict.rows import (
    BestSetRow,
    CoefficientRow,
    CompositeRow,
    CorrelationRow,
    MetricRow,
    PairRow,
    Row,
    TrackerRow,
)

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


class WorldRow(Row, frozen=True, kw_only=True):
    """Properties of the worlds of a study that draws worlds (`[simulation.worlds]`), a row each.

    dataset: the world.
    property: its name (`extrinsic ls worlds KIND`), or a measure of its test dialogs.
    drawn: whether it was drawn; otherwise it was measured.
    value: its value.
    """

    dataset: str
    property: str
    drawn: bool
    value: float


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


class PartialRow(Row, frozen=True, kw_only=True):
    """What a metric predicts of a target beyond what the logged return already does.

    given: the target that is held constant.
    r: Pearson's r of the metric with the target.
    r_given: with what is held constant.
    partial: with the target, after both were regressed on what is held constant.
    low, high: its interval over resampled dialogs and trackers.
    jackknife_low, jackknife_high: the interval by leaving out each tracker.
    p: of the partial correlation, by permuting what the logged return leaves of the target.
    p_max_t: by the largest of all metrics in each permutation (Westfall and Young).
    """

    target: str
    given: str
    metric: str
    schedule: int
    component: str
    scope: str
    r: float
    r_given: float
    partial: float
    low: float | None = None
    high: float | None = None
    jackknife_low: float | None = None
    jackknife_high: float | None = None
    n: int
    trackers: str
    variant: str | None = None
    p: float | None = None
    p_max_t: float | None = None


class CountRow(Row, frozen=True, kw_only=True):
    """How many metrics clearly rise with a target, beside how many would by chance.

    given: the target that is held constant; empty for none.
    clear: metrics whose Pearson's r within datasets exceeds what permuted trackers give (by the level).
    metrics: of how many.
    expected: how many would by chance, on average; metrics that go together are clear together.
    most: by chance at most so many, in 95 % of the permutations.
    p: the chance of at least so many where no metric predicts anything.
    """

    target: str
    given: str | None = None
    clear: int
    metrics: int
    expected: float
    most: int
    p: float
    trackers: str
    variant: str | None = None


class DecidedRow(MetricRow, frozen=True, kw_only=True):
    """Which of two trackers is better, decided by the first metric: what is said of pairs that were left out.

    metric: that with the highest r; a pair is decided by that with the highest r over the other trackers,
    which need not be the same.
    low, high: the pairs that were given a chance from low to high for the likelier side.
    pairs: how many.
    predicted: their mean chance.
    right: the share of them that is right.
    """

    low: float
    high: float
    pairs: int
    predicted: float | None = None
    right: float | None = None
    trackers: str
    variant: str | None = None


class InfluenceRow(CoefficientRow, frozen=True, kw_only=True):
    """The influence of single trackers on a correlation.

    lowest, highest: r without any one tracker.
    tracker: the one that changes r most when it is left out.
    r_without: r without it.
    share: the part of the variance that is this tracker's, the mean of metric and target.
    """

    lowest: float | None = None
    highest: float | None = None
    tracker: str
    r_without: float | None = None
    trackers: str
    variant: str | None = None
    share: float | None = None


class StabilityRow(Row, frozen=True, kw_only=True):
    """How the order of metrics settles as trackers are added.

    n_trackers, n_subsets: the size of the subsets of trackers, and how many were drawn.
    agreement: Kendall's tau between the order of a subset and that of all, on average.
    low, high: the middle 90 % of the subsets.
    same_winner: share of subsets with the same first metric.
    loss: how much less the subset's first metric correlates over all trackers, on average.
    """

    target: str
    scope: str
    coefficient: str
    n_trackers: int
    n_subsets: int
    agreement: float | None = None
    low: float | None = None
    high: float | None = None
    same_winner: float | None = None
    loss: float | None = None
    trackers: str
    variant: str | None = None


class SensitivityRow(Row, frozen=True, kw_only=True):
    """The best metric under settings that papers seldom report, one changed at a time.

    parameter, setting: what was changed, e.g. `policy.kernel_lspi.ridge` to 10.
    metric, schedule, component, r, low, high: the best metric under this setting.
    usual_winner_r, usual_winner_rank: of the metric that is first in the study's own setting.
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
    r: float | None = None
    low: float | None = None
    high: float | None = None
    usual_winner_r: float | None = None
    usual_winner_rank: int
    agreement: float | None = None
    n_metrics: int
    variant: str


class SwapRow(MetricRow, frozen=True, kw_only=True):
    """How well a metric predicts outcomes over trackers x generators, or of dialogs; only of states.

    level: `tracker`, the trackers' outcomes within each generator; `dialog`, within each generator and
    dialog; `within`, over the dialogs of each tracker.
    generator: whose responses the states are put under; `all`: all of them; `own`: each system's own.
    r: Pearson's, the means of generators (and dialogs) taken away.
    low, high: its interval over trackers, generators and dialogs, by leaving out each of them.
    difference: r less that of jga; empty where there is none.
    difference_low, difference_high: its interval, likewise.
    in_set: whether the metric may be the best one (p above 1 less the level); of all generators together.
    p: of the claim that no metric is better, by trackers, generators and dialogs left out.
    rank: by r, 1 for the highest.
    rank_low, rank_high: the rank is at least and at most this, each with the level, for each metric alone.
    n_trackers, n_generators, n_dialogs: how many there are of each.
    """

    level: str
    generator: str
    r: float | None = None
    low: float | None = None
    high: float | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    in_set: bool | None = None
    p: float | None = None
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    n_trackers: int
    n_generators: int
    n_dialogs: int
    trackers: str


class CostRow(Row, frozen=True, kw_only=True):
    """What each kind of error costs, by slot; only where an evaluator computes outcomes.

    target: the first outcome.
    error: `missed`, `wrong`, `overshot`, or `any` of them.
    slots: `all`, the `search` or the `booking` slots, or one slot.
    share: of trackers' dialogs that have such an error in some turn.
    cost: by how much the outcome is lower with it than without, within each generator and dialog.
    low, high: its interval over trackers, generators and dialogs.
    r: over trackers within generators, of fewer such errors with the outcome.
    r_low, r_high: its interval.
    """

    target: str
    error: str
    slots: str
    share: float
    cost: float | None = None
    low: float | None = None
    high: float | None = None
    r: float | None = None
    r_low: float | None = None
    r_high: float | None = None
    trackers: str


TABLES: dict[str, type[Row]] = {
    "intrinsic": IntrinsicRow,
    "returns": ReturnRow,
    "correlations": CorrelationRow,
    "partial": PartialRow,
    "counts": CountRow,
    "best_set": BestSetRow,
    "decided": DecidedRow,
    "pairs": PairRow,
    "composite": CompositeRow,
    "influence": InfluenceRow,
    "stability": StabilityRow,
    "sensitivity": SensitivityRow,
    "trackers": TrackerRow,
    "diagnostics": DiagnosticRow,
    "swap": SwapRow,
    "costs": CostRow,
}
"""The tables of a study whose bytes the manifest records."""

POLICY_TABLES: dict[str, type[Row]] = {
    "policies": PolicyRow,
    "learning_curve": CurveRow,
    "returns": ReturnRow,
    "diagnostics": DiagnosticRow,
}
"""The same of a run of `extrinsic policies`."""

WORLDS_TABLE: dict[str, type[Row]] = {"worlds": WorldRow}
"""Of a study that draws worlds, besides."""

READABLE: dict[str, type[Row]] = {**TABLES, **POLICY_TABLES, **WORLDS_TABLE, "timings": TimingRow}
"""Every table that a run may have; the times differ between equal runs, and are recorded nowhere."""

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
