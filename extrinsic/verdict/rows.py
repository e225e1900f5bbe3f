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
    coefficient: pearson, spearman, kendall or pairwise.
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


class CorrelationRow(Row, frozen=True, kw_only=True):
    """How well a metric predicts a target over the trackers of a study.

    r: the coefficient; compare rows of one coefficient only.
    low, high: the interval for one metric named in advance, over trackers, by the jackknife.
    p: by permuting trackers.
    p_adjusted: by Holm, over the metrics of a target.
    q: by Benjamini and Hochberg.
    p_max_t: by the largest of all metrics in each permutation (Westfall and Young).
    reason: why the correlation is undefined, or has no interval.
    carried_by: the tracker that alone has half of the variance of metric and target or more: r and its
    interval are then about that one against the rest.
    """

    target: str
    metric: str
    schedule: int
    component: str
    scope: str
    coefficient: str
    r: float | None = None
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


class ChoiceRow(Row, frozen=True, kw_only=True):
    """What choosing between two systems by a metric earns over a coin, and what it may lose.

    systems: `all`, or `core` without degenerate, recalibrated and nearly equal ones.
    datasets, n: how many datasets, and how many systems.
    family: `declared` beforehand ([verdict] metrics), or `exploratory`: every other combination.
    earned: the mean over datasets and pairs of sign(m_i - m_j)(y_i - y_j) / 2, in the target's units.
    possible: what a perfect choice earns over the same pairs; choosing by a coin loses this.
    possible_corrected: the same without the noise of the target's own values.
    lost: possible less earned.
    share: earned over possible.
    bound: for other systems like these at most so much is lost (95 %, for all metrics of the family at once).
    group: `recommended`; `as good`, shown to cost at most a margin more than that one; `worse`, shown to cost
    more; or `open`.
    reason: why there is no bound.
    lost_of_3, lost_of_5, lost_of_10: what choosing the best of so many systems loses.
    lost_hard: over the pairs whose values differ by less than those of the median pair.
    needed: with so many systems the bound would come to half of what a coin loses, where that can be told.
    """

    target: str
    variant: str | None = None
    systems: str
    metric: str
    schedule: int
    component: str
    label_scheme: str | None = None
    datasets: int
    n: int
    family: str
    earned: float | None = None
    possible: float | None = None
    possible_corrected: float | None = None
    lost: float | None = None
    share: float | None = None
    bound: float | None = None
    group: str | None = None
    reason: str | None = None
    lost_of_3: float | None = None
    lost_of_5: float | None = None
    lost_of_10: float | None = None
    lost_hard: float | None = None
    needed: int | None = None


class ErrorRow(Row, frozen=True, kw_only=True):
    """What each kind of error of a state costs, by slot; only where an evaluator computes outcomes.

    target: the outcome.
    error: `missed`, `wrong`, `overshot`, or `any` of them.
    slots: `all`, the `search` or the `booking` slots, or one slot.
    share: of systems' dialogs that have such an error in some turn.
    cost: by how much the outcome is lower with it than without, within each generator and dialog.
    low, high: its interval over systems, generators and dialogs.
    systems: `all`, or `core`.
    """

    target: str
    error: str
    slots: str
    share: float
    cost: float | None = None
    low: float | None = None
    high: float | None = None
    systems: str


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
