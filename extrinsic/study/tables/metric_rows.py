"""Rows about metrics and what they predict; the field order is the column order."""

from __future__ import annotations

from extrinsic.study.tables.value_rows import Row


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

    given: the target that is held constant.
    r: Pearson's r of the metric with the target.
    r_given: with what is held constant.
    partial: with the target, after both were regressed on what is held constant.
    low, high: its interval over resampled dialogs and trackers.
    jackknife_low, jackknife_high: the interval by leaving out each tracker.
    p: of the partial correlation, by permuting what the logged return leaves of the target.
    p_max_t: by the largest of all metrics in each permutation (Westfall and Young).
    target, metric, schedule, component, scope, n, trackers, variant: as in `correlations`.
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
    target, trackers, variant: as in `correlations`.
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
    reason: why nothing is decided, or why there is no interval.
    n_generators: where trackers are crossed with generators, how many; r is then Pearson's of `swap`, and the
    rest is over trackers, generators and dialogs.
    trackers, variant, label_scheme: as in `correlations`.
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
    r_a, r_b: Pearson's r of both.
    difference: r_a less r_b.
    low, high: its interval over resampled dialogs and trackers.
    p: by swapping the two metrics' scores tracker by tracker.
    p_both: by swapping dialog by dialog and tracker by tracker; for these trackers only.
    williams_t, williams_p: Williams's test, which assumes independent points.
    zou_low, zou_high: Zou's interval, likewise.
    r_ab: Pearson's r of the two metrics with each other.
    n, n_independent: points, and points less the degrees of freedom lost by centring.
    scope, trackers, variant: as in `correlations`.
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

    method: how metrics are combined; `best_single` and `behaviour` are the baselines.
    r: between prediction and target, over trackers left out.
    low, high: its interval over trackers, by the jackknife: all is fitted again without each.
    r_in_sample: over the trackers it was fitted to; too optimistic.
    above_best_single, above_low, above_high: r less that of the best single metric, with its interval.
    n: points.
    weights: of the heaviest metrics.
    target, scope, trackers, variant: as in `correlations`.
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

    n_trackers, n_subsets: the size of the subsets of trackers, and how many were drawn.
    agreement: Kendall's tau between the order of a subset and that of all, on average.
    low, high: the middle 90 % of the subsets.
    same_winner: share of subsets with the same first metric.
    loss: how much less the subset's first metric correlates over all trackers, on average.
    target, scope, coefficient, trackers, variant: as in `correlations`.
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
    trackers, target, variant: as in `correlations`.
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
