"""Names of metrics, targets, policies and variants in the report, and the families of metrics."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Protocol

from extrinsic.errors import ExtrinsicError
from extrinsic.study.tables.schema import PairRow


class MetricRow(Protocol):
    """A row about a metric."""

    @property
    def metric(self) -> str: ...
    @property
    def schedule(self) -> int: ...
    @property
    def component(self) -> str: ...


class Name(NamedTuple):
    """A metric with its schedule and component, as it is correlated."""

    metric: str
    schedule: int
    component: str

    @classmethod
    def of(cls, row: MetricRow) -> Name:
        return cls(row.metric, row.schedule, row.component)

    @classmethod
    def of_pair(cls, row: PairRow) -> tuple[Name, Name]:
        """Both metrics of a pair, the better one first."""
        first = cls(row.metric_a, row.schedule_a, row.component_a)
        return first, cls(row.metric_b, row.schedule_b, row.component_b)

    def in_words(self) -> str:
        where = f" ({self.component})" if self.component else ""
        return f"{self.metric} on schedule {self.schedule}{where}"

    def label(self, most: int = 60) -> str:
        """`avgp · joint · 1`; a metric with a name longer than `most` is cut."""
        metric = shortened(self.metric)
        metric = metric if len(metric) <= most else metric[: most - 1] + "…"
        return " · ".join(filter(None, (metric, self.component, str(self.schedule))))


def shortened(metric: str) -> str:
    """For figures: `fga(0.5, fill=argmax)` is `fga(0.5, argmax)`."""
    return metric.replace("fill=", "")


@dataclass(frozen=True)
class Family:
    """Metrics that measure the same thing, with the colour and marker of their points."""

    title: str
    colour: str
    marker: str
    members: tuple[str, ...] = ()


FAMILIES = (
    Family("score quality", "#0072b2", "o", ("l2", "l2.lee", "brier", "l2.binary", "avgp", "neglogp")),
    Family("rank", "#7b5ea7", "h", ("mrr",)),
    Family("accuracy", "#d55e00", "s", ("accuracy", "update.acc", "update.prec")),
    Family("ROC v1", "#009e73", "^", ("roc.v1",)),
    Family("ROC v2", "#b8860b", "v", ("roc.v2",)),
    Family(
        "state sets",
        "#b0508c",
        "D",
        (
            "jga",
            "slot_accuracy",
            "relative_slot_accuracy",
            "average_goal_accuracy",
            "improved_average_goal_accuracy",
            "slot_f1",
            "turn_match",
            "fga",
            "gca",
        ),
    ),
    Family(
        "traits of mistakes",
        "#3a9bd9",
        "P",
        (
            "tail_orientation",
            "non_uniformity",
            "first_error",
            "changes",
            "turn_errors",
        ),
    ),
    Family("other", "#7a7f87", "X"),
)


def family_of(metric: str) -> Family:
    base = metric.partition("(")[0]
    for family in FAMILIES:
        if base in family.members or base.partition("_")[0] in family.members:
            return family
    return FAMILIES[-1]


@cache
def is_higher_better(metric: str) -> bool:
    """The direction of a metric; True for one that this version does not have."""
    from extrinsic.metrics.parsing import parse_metric

    try:
        return parse_metric(metric).higher_is_better is not False
    except ExtrinsicError:
        return True


def policy_in_words(policy: str) -> str:
    return POLICIES.get(policy, policy)


POLICIES = {
    "rl": "learned",
    "sl": "supervised",
    "sl_sampled": "supervised, sampled",
    "expert": "fixed",
    "behaviour": "behaviour",
    "outcome": "outcome",
}


NO_RETURNS = ("gain", "completed")
"""In place of an estimator: what is no return, though it stands among them."""


def target_in_words(target: str) -> str:
    """`rl.live` -> the live return of the learned policies."""
    policy, _, estimator = target.partition(".")
    if policy == "outcome":
        return f"the outcome {estimator}"
    if target == "behaviour.observed":
        return "the return observed in the logged dialogs"
    named = {
        "sl_sampled": "the sampled supervised policies",
        "expert": "the world's fixed policy",
        "behaviour": "the logged policy",
    }
    policies = named.get(policy, f"the {policy_in_words(policy)} policies")
    if estimator == "gain":
        return f"the gain of {policies} over the logged one"
    if estimator == "completed":
        return f"the share of live callers served by {policies}"
    return (
        f"the live return of {policies}"
        if estimator == "live"
        else f"the return of {policies} by {estimator}"
    )


def target_on_axis(target: str) -> str:
    """Short, for the axis of a figure."""
    policy, _, estimator = target.partition(".")
    if policy == "outcome":
        return estimator
    names = {
        "live": "live return",
        "observed": "observed return",
        "gain": "gain over the logged policy",
        "completed": "share of callers served",
    }
    return names.get(estimator, f"return by {estimator}")


COEFFICIENTS = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's ρ",
    "kendall": "Kendall's τ",
    "pairwise": "pairwise accuracy",
    "soft_pairwise": "soft pairwise accuracy",
}

SYMBOLS = {"pearson": "r", "spearman": "ρ", "kendall": "τ"}


def symbol(coefficient: str) -> str:
    return SYMBOLS.get(coefficient, coefficient.replace("_", " "))


def slug(text: str | None) -> str:
    """A variant as part of a file's name."""
    return re.sub(r"[^a-z0-9.]+", "_", (text or "").lower()).strip("_.")
