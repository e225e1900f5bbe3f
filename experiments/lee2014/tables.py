"""The tables of this experiment: one struct per csv file, whose fields are the columns."""

from __future__ import annotations

import msgspec

from extrinsic.verdict.names import Name, is_higher_better

__all__ = ["Name", "is_higher_better"]

FILLS = ("argmax", "threshold")
GROUPS = ("all", "core")
TARGETS = {
    "rl.live": "return of the learned policy",
    "rl.gain": "its gain over the logged policy",
    "rl.completed": "callers it serves",
    "expert.live": "return of the fixed expert",
    "rl.lstd": "return of the learned policy by LSTD, as Lee",
}
"""All but the last are played live."""

LEE = (
    *("accuracy", "l2", "l2.lee", "avgp", "mrr", "roc.v1_eer", "roc.v1_ca05", "roc.v1_ca10", "roc.v1_ca20"),
    *("roc.v2_ca05", "roc.v2_ca10", "roc.v2_ca20"),
)
"""His eleven metrics; L2 as the challenge scores it, and in his words."""

STATES = (
    *("jga", "slot_accuracy", "relative_slot_accuracy", "average_goal_accuracy"),
    *("improved_average_goal_accuracy", "slot_f1", "turn_match", "fga(0.5)", "gca"),
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
    *(Name("brier", schedule, part) for schedule in (1, 2, 3) for part in ("joint", "all")),
    *(Name(filled(metric, rule), 1, "state") for rule in FILLS for metric in STATES),
)
"""The metrics that are kept of the runs, in the order of the columns of metrics.csv; Lee's are the first."""

KEPT_RETURNS = (*TARGETS, "sl.live", "expert.completed", "behaviour.live", "behaviour.observed")
RETURNS = tuple((fill, target) for fill in FILLS for target in KEPT_RETURNS)
"""Fill rule, and policy with estimator, of every column of returns.csv."""


def _wide(name: str, columns: list[str], kind: object) -> type[msgspec.Struct]:
    """A row for every tracker on every dataset with every seed, and a column for every value."""
    fields = {f"value_{number}": column for number, column in enumerate(columns)}
    keys = [("seed", int), ("dataset", str), ("tracker", str), ("core", bool)]
    return msgspec.defstruct(name, [*keys, *((field, kind) for field in fields)], frozen=True, rename=fields)


MetricValues = _wide("MetricValues", [f"{n.metric} {n.component} {n.schedule}" for n in METRICS], int | None)
"""Metrics in thousandths, in the order of METRICS."""

ReturnValues = _wide("ReturnValues", [" ".join(column) for column in RETURNS], float | None)
"""Returns to a tenth of a point and shares of callers in percent, in the order of RETURNS."""


class Correlation(msgspec.Struct, frozen=True):
    """A metric with a target, within datasets; metric and target are means over seeds.

    low, high: for one metric named in advance; first_low, first_high: for all metrics at once, so that the
    first may be read off; empty with a `reason`.   p: max-T over all metrics, by permuted trackers.
    in_set: whether it may be the best metric.   rank_low, rank_high: the ranks that it may have.
    carried_by: the tracker that alone has half of the variance or more.
    """

    fill: str
    target: str
    trackers: str
    metric: str
    schedule: int
    component: str
    r: float | None
    low: float | None
    high: float | None
    first_low: float | None
    first_high: float | None
    p: float | None
    in_set: bool
    rank: int | None
    rank_low: int | None
    rank_high: int | None
    reason: str | None
    carried_by: str | None


class Verdict(msgspec.Struct, frozen=True):
    """What the tool's report says of a finding of Lee's, for means over seeds.

    seeds_same: how many seeds alone come to the same verdict.
    """

    fill: str
    target: str
    trackers: str
    finding: str
    verdict: str
    seeds_same: int


class Decided(msgspec.Struct, frozen=True):
    """Which of two trackers is better by scores alone, every two left out: `decided.csv` of a run."""

    fill: str
    target: str
    trackers: str
    low: float
    high: float
    pairs: int
    predicted: float | None
    right: float | None


class PolicyGain(msgspec.Struct, frozen=True):
    """By how much one policy exceeds another, all trackers: mean over datasets and seeds, and its interval.

    unit: points of return, or percent of callers.   lowest_seed, highest_seed: the means of single seeds.
    above, trackers: on how many trackers the mean is above 0.
    """

    fill: str
    more: str
    less: str
    unit: str
    value: float
    low: float
    high: float
    lowest_seed: float
    highest_seed: float
    above: int
    trackers: int
