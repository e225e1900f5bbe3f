"""Rows about trackers and policies: scores, values, diagnostics; the field order is the column order."""

from __future__ import annotations

import msgspec

LEARNER = "learner"
"""In place of an estimator, in rows about the learner itself."""


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


class DiagnosticRow(Row, frozen=True, kw_only=True):
    """Diagnostics of learners and estimators, one number per row.

    estimator: the estimator that reports it; `learner` for the learner.
    diagnostic: its name, e.g. `kernels`, `condition`, `effective_size`, `on_policy_gap`.
    value: the number; 1 and 0 for yes and no.
    dataset, tracker, policy, variant: as in `returns`.
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

    share: of the training dialogs, 1 for all; a learned tracker is trained on all of them in any case.
    dialogs: how many these are; of a mean, on average.
    dataset, tracker, policy, estimator, value, low, high, n, flags: as in `policies`.
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
