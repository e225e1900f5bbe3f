"""The schemas of a run's tables: one struct each.

The field order is the column order, the types drive the reader and the writer, and the lines
`column: meaning` of a docstring are the help that the site and the page show.
"""

from __future__ import annotations

import inspect
import re

import msgspec


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A row of a table; an undefined value is None, and an empty cell in the file."""


class IntrinsicRow(Row, frozen=True, kw_only=True):
    """Every metric of every tracker, by dataset, component and schedule.

    dataset, tracker: what was scored.
    component: the slot, or slots taken together: `joint`, `all`, `goal.joint`, `state`.
    metric: its printed form, e.g. `fga(0.5, fill=argmax)`.
    schedule: 1 every turn, 2 where or since the component was mentioned, 3 the last turn.
    label_scheme: a or b of DSTC2; empty elsewhere.
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


class ReturnRow(Row, frozen=True, kw_only=True):
    """The values of policies, by each estimator.

    dataset, tracker: the dialogs, and the tracker whose beliefs the policy sees.
    policy: `rl` learned, `sl` imitated, `sl_sampled` imitated by drawing, `expert` the world's own on this
    tracker, `behaviour` logged (on its own tracker), `outcome` from the user's own file.
    estimator: how the value was estimated; `live`: by playing, all policies with the same callers; of an
    outcome, its name. Not returns: `gain`, the return less that of the logged policy with the same dialogs or
    callers, and `completed`, the share of the callers of live play who reached their goal.
    value: the expected return of a dialog; empty where it is undefined.
    low, high: a 95 % interval over dialogs.
    n: dialogs, or callers of live play.
    feasible_low, feasible_high: the least and the most that a dialog can earn.
    flags: reasons not to trust the value, a word each (`extrinsic ls estimators`).
    variant: the way of learning and rewarding, e.g. `fill=argmax`.
    """

    dataset: str
    tracker: str
    policy: str
    estimator: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int
    feasible_low: float | None = None
    feasible_high: float | None = None
    flags: tuple[str, ...] = ()
    variant: str | None = None


class MetricRow(Row, frozen=True, kw_only=True):
    """About a metric and a target.

    target: `rl.live`, `rl.gain`, `rl.completed`, `behaviour.observed`, `outcome.success`, ...
    metric, schedule, component: as in `intrinsic`.
    """

    target: str
    metric: str
    schedule: int
    component: str


class CoefficientRow(MetricRow, frozen=True, kw_only=True):
    """A coefficient between a metric and a target.

    scope: `within` datasets (each centred), or `pooled` over all points.
    coefficient: pearson, spearman, kendall, pairwise or soft_pairwise.
    r: the coefficient; compare rows of one coefficient only.
    """

    scope: str
    coefficient: str
    r: float | None = None


class CorrelationRow(CoefficientRow, frozen=True, kw_only=True):
    """How well a metric predicts a target over the trackers of a study.

    low, high: the interval for one metric named in advance, over trackers, by the jackknife; of Pearson's r
    with the noise of the dialogs removed, so that it is about r_true. For the metric that came first see
    `best_set`.
    p: by permuting trackers.
    p_adjusted: by Holm, over the metrics of a target.
    n: points, datasets times trackers.
    trackers: `all`, or `core` without degenerate, recalibrated and nearly equal ones.
    q: by Benjamini and Hochberg.
    p_max_t: by the largest of all metrics in each permutation (Westfall and Young).
    r_true: Pearson's r that unlimited dialogs would show.
    reliability, target_reliability: the share of the variance of metric and target that is not noise of
    dialogs.
    resampled_low, resampled_high: the interval over resampled dialogs and trackers.
    dialogs_low, dialogs_high: the interval over dialogs alone.
    trackers_low, trackers_high: the interval over trackers alone.
    jackknife_low, jackknife_high: the interval by leaving out each tracker, of r itself.
    label_scheme: as in `intrinsic`.
    variant: as in `returns`.
    reason: why the correlation is undefined, or has no interval.
    carried_by: the tracker that alone has half of the variance of metric and target or more: r and its
    interval are then about that one against the rest.
    """

    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    n: int
    trackers: str
    q: float | None = None
    p_max_t: float | None = None
    r_true: float | None = None
    reliability: float | None = None
    target_reliability: float | None = None
    resampled_low: float | None = None
    resampled_high: float | None = None
    dialogs_low: float | None = None
    dialogs_high: float | None = None
    trackers_low: float | None = None
    trackers_high: float | None = None
    jackknife_low: float | None = None
    jackknife_high: float | None = None
    label_scheme: str | None = None
    variant: str | None = None
    reason: str | None = None
    carried_by: str | None = None


class PartialRow(Row, frozen=True, kw_only=True):
    """What a metric predicts of a target beyond what the logged return already does.

    target, metric, schedule, component, scope: as in `correlations`.
    given: the target that is held constant.
    r: Pearson's r of the metric with the target.
    r_given: with what is held constant.
    partial: with the target, after both were regressed on what is held constant.
    low, high: its interval over resampled dialogs and trackers.
    jackknife_low, jackknife_high: the interval by leaving out each tracker.
    n, trackers, variant: as in `correlations`.
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

    target: as in `correlations`.
    given: the target that is held constant; empty for none.
    clear: metrics whose Pearson's r within datasets exceeds what permuted trackers give (by the level).
    metrics: of how many.
    expected: how many would by chance, on average; metrics that go together are clear together.
    most: by chance at most so many, in 95 % of the permutations.
    p: the chance of at least so many where no metric predicts anything.
    trackers, variant: as in `correlations`.
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
    trackers, variant: as in `correlations`.
    """

    low: float
    high: float
    pairs: int
    predicted: float | None = None
    right: float | None = None
    trackers: str
    variant: str | None = None


class BestSetRow(CoefficientRow, frozen=True, kw_only=True):
    """Which metrics may be the best by a target, and which ranks each may have.

    low, high: an interval that holds for all metrics at once, so that the first of them may be read off.
    in_set: whether the metric may be the best: p is above .05 (1 less the level).
    p: of the claim that no metric is better, by trackers resampled.
    rank: by r, 1 for the highest.
    rank_low, rank_high: the rank is at least and at most this; each end with the study's level, for each
    metric alone.
    trackers_needed: with so many trackers in all it would be ruled out, if all else is as estimated.
    trackers, variant: as in `correlations`.
    label_scheme: as in `intrinsic`.
    reason: why nothing is decided, or why there is no interval.
    n_generators: where trackers are crossed with generators, how many; r is then Pearson's of `swap`, and the
    rest is over trackers, generators and dialogs.
    """

    low: float | None = None
    high: float | None = None
    in_set: bool = False
    p: float | None = None
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    trackers_needed: int | None = None
    trackers: str
    variant: str | None = None
    label_scheme: str | None = None
    reason: str | None = None
    n_generators: int | None = None


class PairRow(Row, frozen=True, kw_only=True):
    """Every two metrics against the primary target, the better one first.

    target: the primary one.
    metric_a, schedule_a, component_a, metric_b, schedule_b, component_b: the two metrics.
    scope: as in `correlations`.
    r_a, r_b: Pearson's r of both.
    difference: r_a less r_b.
    low, high: its interval over resampled dialogs and trackers.
    p: by swapping the two metrics' scores tracker by tracker.
    p_both: by swapping dialog by dialog and tracker by tracker; for these trackers only.
    williams_t, williams_p: Williams's test, which assumes independent points.
    zou_low, zou_high: Zou's interval, likewise.
    r_ab: Pearson's r of the two metrics with each other.
    n, n_independent: points, and points less the degrees of freedom lost by centring.
    trackers, variant: as in `correlations`.
    """

    target: str
    metric_a: str
    schedule_a: int
    component_a: str
    metric_b: str
    schedule_b: int
    component_b: str
    scope: str
    r_a: float
    r_b: float
    difference: float
    low: float | None = None
    high: float | None = None
    p: float
    p_both: float
    williams_t: float | None = None
    williams_p: float | None = None
    zou_low: float | None = None
    zou_high: float | None = None
    r_ab: float
    n: int
    n_independent: int
    trackers: str
    variant: str | None = None


class CompositeRow(Row, frozen=True, kw_only=True):
    """How well combinations of metrics predict trackers that were left out.

    target, scope: as in `correlations`.
    method: how metrics are combined; `best_single` and `behaviour` are the baselines.
    r: between prediction and target, over trackers left out.
    low, high: its interval over trackers, by the jackknife: all is fitted again without each.
    r_in_sample: over the trackers it was fitted to; too optimistic.
    above_best_single, above_low, above_high: r less that of the best single metric, with its interval.
    n: points.
    trackers, variant: as in `correlations`.
    weights: of the heaviest metrics.
    """

    target: str
    scope: str
    method: str
    r: float | None = None
    low: float | None = None
    high: float | None = None
    r_in_sample: float | None = None
    above_best_single: float | None = None
    above_low: float | None = None
    above_high: float | None = None
    n: int
    trackers: str
    variant: str | None = None
    weights: str = ""


class InfluenceRow(CoefficientRow, frozen=True, kw_only=True):
    """The influence of single trackers on a correlation.

    lowest, highest: r without any one tracker.
    tracker: the one that changes r most when it is left out.
    r_without: r without it.
    trackers, variant: as in `correlations`.
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

    target, scope, coefficient: as in `correlations`.
    n_trackers, n_subsets: the size of the subsets of trackers, and how many were drawn.
    agreement: Kendall's tau between the order of a subset and that of all, on average.
    low, high: the middle 90 % of the subsets.
    same_winner: share of subsets with the same first metric.
    loss: how much less the subset's first metric correlates over all trackers, on average.
    trackers, variant: as in `correlations`.
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
    trackers, target: as in `correlations`.
    metric, schedule, component, r, low, high: the best metric under this setting.
    usual_winner_r, usual_winner_rank: of the metric that is first in the study's own setting.
    agreement: Kendall's tau with the study's own order of metrics.
    n_metrics: metrics compared.
    variant: as in `returns`.
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


class TrackerRow(Row, frozen=True, kw_only=True):
    """Which trackers are the core of a study, and why others are not.

    tracker: its name.
    core: neither degenerate nor recalibrated nor a near-duplicate, and without flags but `joint_only`.
    degenerate: ignores what it hears, on purpose.
    recalibrated: another tracker with its scores transformed.
    near_duplicate_of: an earlier tracker with nearly the same beliefs.
    nearest, agreement: the tracker that agrees most, and by how much.
    flags: `joint_only`, a file without beliefs about single slots; rules by which a file of states may be no
    tracker's: `gold`, `unfilled`, `forgets`, `copies`.
    """

    tracker: str
    core: bool
    degenerate: bool
    recalibrated: bool
    near_duplicate_of: str | None = None
    nearest: str | None = None
    agreement: float | None = None
    flags: tuple[str, ...] = ()


class PolicyRow(Row, frozen=True, kw_only=True):
    """The policies of a grid (`extrinsic policies`), each beside its baseline.

    dataset, tracker: the dialogs, and the tracker whose beliefs it sees; `all`: the mean over all of them.
    policy: its learner and the settings that vary; `logged`: the system that made the dialogs.
    estimator: how the value was estimated; the logged policy has a row for the log, and one for live play.
    value, low, high: the expected return of a dialog, with a 95 % interval over dialogs.
    n: dialogs, or callers of live play.
    baseline: the policy that it is compared to.
    difference: its value less the baseline's, which of the logged policy is what the dialogs earned; in live
    play what it earns with the same callers.
    difference_low, difference_high: a 95 % interval, over the same dialogs (or callers) for both.
    placebo_gain: what a policy learned from shuffled actions seems to gain over the logged one, by LSTD.
    flags: reasons not to trust the value, a word each; of a mean, those of any part.
    """

    dataset: str
    tracker: str
    policy: str
    estimator: str
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


class CurveRow(Row, frozen=True, kw_only=True):
    """The policies of a grid learned from fewer dialogs: the learning curve.

    dataset, tracker, policy, estimator: as in `policies`.
    share: of the training dialogs, 1 for all; a learned tracker is trained on all of them in any case.
    dialogs: how many these are; of a mean, on average.
    value, low, high: as in `policies`.
    n: as in `policies`.
    flags: as in `policies`.
    """

    dataset: str
    tracker: str
    policy: str
    estimator: str
    share: float
    dialogs: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int
    flags: tuple[str, ...] = ()


LEARNER = "learner"
"""In place of an estimator, in rows about the learner itself."""


class DiagnosticRow(Row, frozen=True, kw_only=True):
    """Diagnostics of learners and estimators, one number per row.

    dataset, tracker, policy: as in `returns`.
    estimator: the estimator that reports it; `learner` for the learner.
    diagnostic: its name, e.g. `kernels`, `condition`, `effective_size`, `on_policy_gap`.
    value: the number; 1 and 0 for yes and no.
    variant: as in `returns`.
    """

    dataset: str
    tracker: str
    policy: str
    estimator: str
    diagnostic: str
    value: float | None = None
    variant: str | None = None


class WorldFitRow(Row, frozen=True, kw_only=True):
    """How well the worlds that were fitted to the logs fit them: a measure of both.

    dataset: whose test dialogs it was fitted to, beside the training dialogs.
    measure: what is compared.
    logged, low, high: in the test dialogs, with a 95 % interval over them.
    fitted: in dialogs of the logged policy, or of its clone, in the fitted world.
    misfit: whether that is clearly outside of the interval.
    """

    dataset: str
    measure: str
    logged: float | None
    low: float | None
    high: float | None
    fitted: float | None
    misfit: bool


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
    trackers: as in `correlations`.
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
    trackers: as in `correlations`.
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
    "fit": WorldFitRow,
    "swap": SwapRow,
    "costs": CostRow,
}
"""The tables whose bytes the manifest records; `timings` is not among them."""

POLICY_TABLES: dict[str, type[Row]] = {
    "policies": PolicyRow,
    "learning_curve": CurveRow,
    "returns": ReturnRow,
    "diagnostics": DiagnosticRow,
    "fit": WorldFitRow,
}
"""The same of a run of `extrinsic policies`."""

WORLDS_TABLE: dict[str, type[Row]] = {"worlds": WorldRow}
"""Of a study that draws worlds, besides."""

HELP_LINE = re.compile(r"(?P<columns>\w+(?:, \w+)*): (?P<help>.+)")
ELSEWHERE = re.compile(r"as in `(?P<table>\w+)`\.")


def summary(kind: type[Row]) -> str:
    """One line about a table."""
    return (inspect.getdoc(kind) or "").partition("\n")[0]


def column_help(kind: type[Row]) -> dict[str, str]:
    """The meaning of every column of a table, from the docstrings of its struct and of those it extends."""
    texts: dict[str, str] = {}
    columns: list[str] = []
    documents = [
        inspect.cleandoc(each.__doc__ or "") for each in reversed(kind.__mro__) if issubclass(each, Row)
    ]
    for line in (line for document in documents for line in document.splitlines()[1:]):
        match = HELP_LINE.match(line)
        if match:
            columns = match["columns"].split(", ")
            texts |= dict.fromkeys(columns, match["help"])
        elif line.strip():
            texts |= {column: f"{texts[column]} {line.strip()}" for column in columns}
    return {column: _resolved(column, text) for column, text in texts.items()}


def _resolved(column: str, text: str) -> str:
    """Replace a reference to another table by the text of that table."""
    reference = ELSEWHERE.fullmatch(text)
    return column_help((TABLES | POLICY_TABLES)[reference["table"]])[column] if reference else text
