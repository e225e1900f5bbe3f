"""The tables of the study of DSTC1's calls: one struct per csv file, whose fields are the columns.

Columns that several have. fill: when a concept counts as filled for the reward, by `argmax` or `threshold`.
dataset: which half was learned from and which was valued on, `a_to_b` or `b_to_a`. trackers: `all`, or `core`
ones. low, high: a 95 % interval over trackers; of correlations the tool's own, withheld where a metric has
more noise than signal.
"""

from __future__ import annotations

import msgspec

from experiments.dstc2.tables import FlagCount

ESTIMATORS = ("mean_augmented", "lstd_augmented", "fqe_augmented", "lstd")
"""Who says what a policy is worth: the study's own estimator first, Lee's last."""

LEE = (
    *("accuracy", "l2", "l2.lee", "avgp", "mrr", "roc.v1_eer", "roc.v1_ca05", "roc.v1_ca10", "roc.v1_ca20"),
    *("roc.v2_ca05", "roc.v2_ca10", "roc.v2_ca20"),
)
"""The metrics of his Fig. 3; L2 as the challenge scores it, and in his words."""


class Correlation(msgspec.Struct, frozen=True):
    """Pearson's r between a metric and a target, within each direction.

    jackknife_low, jackknife_high: an interval by leaving out each tracker. carried_by: the tracker without
    which r changes most, and r_without it.
    """

    fill: str
    target: str
    trackers: str
    metric: str
    schedule: int
    component: str
    r: float
    low: float | None
    high: float | None
    jackknife_low: float
    jackknife_high: float
    carried_by: str
    r_without: float

    @property
    def name(self) -> str:
        return f"{self.metric}@{self.schedule}"


class Difference(msgspec.Struct, frozen=True):
    """r of `metric` less r of `than`, against the study's own estimate; p: by swapping trackers."""

    fill: str
    trackers: str
    component: str
    metric: str
    than: str
    difference: float
    low: float
    high: float
    p: float


class PolicyValue(msgspec.Struct, frozen=True):
    """What the learned policy is worth with a tracker, by an estimator, in points.

    logged: what the logged policy earned. rl: learned; sl, sl_sampled: imitated by likeliest act, by a draw.
    gain: rl less logged, with a normal 95 % interval over calls; what the estimator gets wrong is not in it.
    on_policy_gap: what the estimator says of the logged policy, less what was observed. placebo: what is
    gained, always by LSTD, when learned from shuffled actions.
    """

    dataset: str
    fill: str
    tracker: str
    estimator: str
    logged: float
    rl: float
    sl: float
    sl_sampled: float
    gain: float
    low: float
    high: float
    on_policy_gap: float | None
    placebo: float | None


class Accuracy(msgspec.Struct, frozen=True):
    """The right axis of Lee's Fig. 2: accuracy of all slots at the end; and who is a core tracker."""

    dataset: str
    tracker: str
    accuracy: float
    core: bool


class Beyond(msgspec.Struct, frozen=True):
    """A metric with the return of the learned policy, core trackers.

    kind: `given` the logged return (a partial correlation), or with the `gain` over it.
    """

    fill: str
    metric: str
    schedule: int
    component: str
    kind: str
    r: float
    low: float
    high: float
    jackknife_low: float
    jackknife_high: float


class ToolVerdict(msgspec.Struct, frozen=True):
    """What the tool's own report says of a finding of Lee's."""

    fill: str
    trackers: str
    claim: str
    verdict: str
    numbers: str


TABLES: dict[str, type[msgspec.Struct]] = {
    "correlations": Correlation,
    "differences": Difference,
    "values": PolicyValue,
    "accuracy": Accuracy,
    "beyond": Beyond,
    "findings": ToolVerdict,
    "flags": FlagCount,
    "other_domain": Correlation,
}
