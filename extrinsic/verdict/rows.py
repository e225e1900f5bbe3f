"""The rows that are made below the waist, a struct a table: fields are columns, docstrings their help."""

from __future__ import annotations

import msgspec


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A row of a table; an undefined value is None, and an empty cell in the file.

    What columns mean wherever a table does not say otherwise:
    component: the slot, or slots taken together: `joint`, `all`, `goal.joint`, `state`.
    metric: its printed form, e.g. `fga(0.5, fill=argmax)`.
    schedule: 1 every turn, 2 where or since the component was mentioned, 3 the last turn.
    label_scheme: a or b of DSTC2; empty elsewhere.
    target: `rl.live`, `rl.gain`, `rl.completed`, `behaviour.observed`, `outcome.success`, ...
    scope: `within` datasets (each centred), or `pooled` over all points.
    coefficient: pearson, spearman, kendall, pairwise or soft_pairwise.
    n: points, datasets times trackers.
    trackers: `all`, or `core` without degenerate, recalibrated and nearly equal ones.
    variant: the way of learning and rewarding, e.g. `fill=argmax`.
    """


class TrackerRow(Row, frozen=True, kw_only=True):
    """Which trackers are the core of a study, and why others are not.

    tracker: its name.
    core: neither degenerate nor recalibrated nor a near-duplicate, and without flags but `joint_only`.
    degenerate: ignores what it hears, on purpose.
    recalibrated: another tracker with its scores transformed.
    near_duplicate_of: an earlier tracker with nearly the same beliefs.
    nearest, agreement: the tracker that agrees most, and by how much.
    flags: `joint_only`, a file without beliefs about single slots; `silent`, hardly ever a value; rules by
    which a file of states may be no tracker's: `gold`, `unfilled`, `forgets`, `copies`.
    """

    tracker: str
    core: bool
    degenerate: bool
    recalibrated: bool
    near_duplicate_of: str | None = None
    nearest: str | None = None
    agreement: float | None = None
    flags: tuple[str, ...] = ()


class MetricRow(Row, frozen=True, kw_only=True):
    """About a metric and a target."""

    target: str
    metric: str
    schedule: int
    component: str


class CoefficientRow(MetricRow, frozen=True, kw_only=True):
    """A coefficient between a metric and a target.

    r: the coefficient; compare rows of one coefficient only.
    """

    scope: str
    coefficient: str
    r: float | None = None


class CorrelationRow(CoefficientRow, frozen=True, kw_only=True):
    """How well a metric predicts a target over the trackers of a study.

    low, high: the interval for one metric named in advance, over trackers, by the jackknife. For the metric
    that came first see `best_set`.
    p: by permuting trackers.
    p_adjusted: by Holm, over the metrics of a target.
    q: by Benjamini and Hochberg.
    p_max_t: by the largest of all metrics in each permutation (Westfall and Young).
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
    label_scheme: str | None = None
    variant: str | None = None
    reason: str | None = None
    carried_by: str | None = None


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
