"""The tables of this experiment: one struct per csv file, whose fields are the columns."""

from __future__ import annotations

import msgspec

from extrinsic.study.naming import Name

FILLS = ("argmax", "threshold")
TARGETS = ("live", "lstd", "mean_augmented")
"""Who says what a policy is worth: live play; LSTD, as Lee had it; the best estimate without live play."""

POLICIES = ("rl", "sl", "sl_sampled")
GROUPS = ("all", "core")

ROC_V1 = ("roc.v1_ca05", "roc.v1_ca10", "roc.v1_ca20")
ROC_V2 = ("roc.v2_ca05", "roc.v2_ca10", "roc.v2_ca20")
LEE = ("accuracy", "l2", "l2.lee", "avgp", "mrr", "roc.v1_eer", *ROC_V1, *ROC_V2)
"""His eleven metrics; L2 as the challenge scores it, and in his words."""

BRIER = "brier"

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
"""State-set metrics that stand beside them, filled by both rules of the reward, on schedule 1."""


def filled(metric: str, rule: str) -> str:
    """The printed form of a state-set metric of beliefs: `jga(fill=argmax)`, `fga(0.5, fill=argmax)`."""
    return f"{metric[:-1]}, fill={rule})" if metric.endswith(")") else f"{metric}(fill={rule})"


def without_fill(metric: str) -> str:
    """`fga(0.5)` of `fga(0.5, fill=argmax)`: the inverse of `filled`."""
    return next((plain for plain in STATES for rule in FILLS if filled(plain, rule) == metric), metric)


METRICS = (
    *(Name(metric, schedule, part) for schedule in (1, 2, 3) for part in ("joint", "all") for metric in LEE),
    *(Name(BRIER, schedule, part) for schedule in (1, 2, 3) for part in ("joint", "all")),
    *(Name(filled(metric, rule), 1, "state") for rule in FILLS for metric in STATES),
)
"""The metrics that are kept, in the order of the columns of metrics.csv."""

RETURNS = tuple(
    (fill, policy, estimator)
    for fill in FILLS
    for policy, estimators in (
        ("behaviour", ("observed",)),
        *((policy, ("live", "mean_augmented", "lstd")) for policy in POLICIES),
    )
    for estimator in estimators
)
"""Fill rule, policy and estimator of every column of returns.csv."""


def _wide(name: str, columns: list[str], kind: object) -> type[msgspec.Struct]:
    """A row for every tracker on every dataset with every seed, and a column for every value."""
    fields = {f"value_{number}": column for number, column in enumerate(columns)}
    keys = [("seed", int), ("dataset", str), ("tracker", str)]
    values = [(field, kind) for field in fields]
    return msgspec.defstruct(name, [*keys, *values], frozen=True, rename=fields)


MetricValues = _wide("MetricValues", [f"{n.metric} {n.component} {n.schedule}" for n in METRICS], int | None)
"""Metrics in thousandths, in the order of METRICS."""

ReturnValues = _wide("ReturnValues", [" ".join(column) for column in RETURNS], float | None)
"""Returns to a tenth of a point, in the order of RETURNS."""


class TrackerKind(msgspec.Struct, frozen=True):
    """Who is a core tracker, and why others are not; columns as in a run's trackers.csv."""

    seed: int
    tracker: str
    core: bool
    degenerate: bool
    recalibrated: bool
    near_duplicate_of: str | None


class ToolVerdict(msgspec.Struct, frozen=True):
    """What the tool's own report says of a finding: live return, dialogs and trackers resampled."""

    seed: int
    fill: str
    trackers: str
    claim: str
    verdict: str


class Correlation(msgspec.Struct, frozen=True):
    """A metric with the return of the learned policy, within datasets.

    r: mean over seeds, with their lowest and highest; low, high: its interval over trackers drawn for all
    seeds at once. of_means: r where metric and return are averaged over seeds first; core: the same of core
    trackers. pooled: mean over seeds of r over all points as they are, which is what Lee computed.
    """

    fill: str
    target: str
    metric: str
    schedule: int
    component: str
    r: float | None = None
    lowest_seed: float | None = None
    highest_seed: float | None = None
    low: float | None = None
    high: float | None = None
    of_means: float | None = None
    core: float | None = None
    pooled: float | None = None


class Beyond(msgspec.Struct, frozen=True):
    """A metric with the return of the learned policy, core trackers; of several seeds, their mean.

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


class Spread(msgspec.Struct, frozen=True):
    """Of r with Lee's metrics: what seeds (dialogs and callers) and what trackers add to its spread.

    by_seeds, by_trackers: standard deviations, medians over metrics. seeds_share: median share of the
    variance of a study of one seed. attenuation: how much r gains by averaging over seeds first.
    reliability: correlation of the return itself between two seeds, within datasets.
    """

    fill: str
    target: str
    trackers: str
    metrics: int
    by_seeds: float
    by_trackers: float
    seeds_share: float
    attenuation: float
    reliability: float


class Finding(msgspec.Struct, frozen=True):
    """A finding of Lee's: the verdict, and the number that decides it, with its interval over trackers.

    value of what comes first: r of the best such metric less r of the best of the others, which are the
    `pair`; of schedules: mean r on 1 or 3 less r on 2; of ROC.V2: mean r; of better trackers: r of accuracy
    at the end; of policies: points of return. seeds_same, seeds_hold, seeds_fail: how many seeds alone come
    to the same verdict, to `holds`, to `does not hold`; lowest_seed, highest_seed: their values. Seeds and
    policies are not looked at in the scope `pooled`.
    """

    finding: str
    fill: str
    target: str
    scope: str
    trackers: str
    verdict: str
    value: float
    low: float
    high: float
    seeds_same: int | None = None
    seeds_hold: int | None = None
    seeds_fail: int | None = None
    lowest_seed: float | None = None
    highest_seed: float | None = None
    pair: str | None = None


class PolicyClaim(msgspec.Struct, frozen=True):
    """What Lee says of figure 2, held against all trackers.

    value: a mean difference of returns with its interval over trackers and its range over seeds; above, of:
    trackers on which it is above 0; points_above, points: the same of single points. Baseline: the median
    difference; above, below: trackers that are so with every seed. Alignment: Kendall's tau of mean accuracy
    and mean return; reversed: pairs of trackers that every seed puts in one order by accuracy and in the
    other by return.
    """

    fill: str
    target: str
    claim: str
    verdict: str
    value: float
    low: float | None = None
    high: float | None = None
    lowest_seed: float | None = None
    highest_seed: float | None = None
    above: int | None = None
    of: int | None = None
    points_above: int | None = None
    points: int | None = None
    below: int | None = None
    reversed: int | None = None


class Subset(msgspec.Struct, frozen=True):
    """What subsets of `size` trackers say of a finding.

    error: the standard error of the number, mean over subsets. right, wrong: share of subsets whose interval
    leaves out 0, on the same side as the number of all trackers or on the other. holds, fails: shares of the
    verdicts.
    """

    finding: str
    fill: str
    target: str
    trackers: str
    size: int
    error: float
    right: float
    wrong: float
    holds: float
    fails: float


class Needed(msgspec.Struct, frozen=True):
    """How many trackers a finding needs, and whether small subsets predict what all trackers say.

    needed: trackers at which the 95 % interval leaves out 0 with probability .8, if the number is what all
    `size` trackers say; fewest, most: if it is at the far and at the near end of its interval (none: at 0).
    error: of all trackers; foretold: what small subsets predict of it. right, right_foretold: of the largest
    subsets that are not all trackers, of `right_at` trackers.
    """

    finding: str
    fill: str
    target: str
    trackers: str
    size: int
    value: float
    error: float
    foretold: float
    needed: int
    fewest: int
    most: int | None
    right_at: int
    right: float
    right_foretold: float
