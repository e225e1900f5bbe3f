"""What people call metrics, schedules, components, targets and variants, and numbers as they read them.

The typed form (`slot_f1(fill=argmax)`, `rl.live`) is the key, for tables that programs read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple, Protocol

from extrinsic.errors import ExtrinsicError
from extrinsic.registry import ESTIMATORS, LEARNERS, METRICS, REWARDS, Registry


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

    def title(self) -> str:
        """What people call it: `slot F1, last turn`."""
        return f"{self.short()}, {schedule_title(self.schedule)}"

    def directed(self) -> str:
        """With its direction, where that is not the usual one: `L2, every turn (lower is better)`."""
        return self.title() + ("" if is_higher_better(self.metric) else " (lower is better)")

    def short(self) -> str:
        """Without the schedule: `accuracy, joint goal`."""
        component = component_title(self.component)
        if self.component == WHOLE_STATE or (self.component == "all" and is_of_states(self.metric)):
            component = ""
        return ", ".join(filter(None, (metric_title(self.metric), component)))

    def label(self) -> str:
        """The typed form: `avgp · joint · 1`."""
        metric = self.metric.replace("fill=", "")
        return " · ".join(filter(None, (metric, self.component, str(self.schedule))))


WHOLE_STATE = "state"

SCHEDULES = {
    1: ("every turn", "measured at every turn of a dialog"),
    2: ("when mentioned", "measured at the turns where the slot was mentioned"),
    3: ("last turn", "measured at the last turn of a dialog"),
}
"""The title of each schedule, and what it means."""

COMPONENTS = {
    "joint": ("joint goal", "all slots of the goal at once"),
    "goal.joint": ("joint goal", "all slots of the goal at once"),
    "all": ("all slots", "every slot by itself, taken together"),
    "goal.all": ("all slots", "every slot of the goal by itself, taken together"),
    "requested.all": ("requests", "what the caller asks for, taken together"),
    WHOLE_STATE: ("whole state", "all slots that are filled, as one state"),
}


def schedule_title(schedule: int) -> str:
    return SCHEDULES[schedule][0] if schedule in SCHEDULES else f"schedule {schedule}"


def component_title(component: str) -> str:
    return COMPONENTS[component][0] if component in COMPONENTS else component.removeprefix("goal.")


@cache
def metric_title(metric: str) -> str:
    """`fga(0.5, fill=argmax)` is `FGA 0.5`: a metric of states takes the best values of a tracker.

    Another fill rule of a metric is named: `JGA over 0.5` counts values with a score above that only.
    """
    base, _, parameters = metric.removesuffix(")").partition("(")
    parts = [part.strip() for part in parameters.split(",") if part.strip()]
    rules = [part.removeprefix("fill=") for part in parts if part.startswith("fill=")]
    others = [part for part in parts if not part.startswith("fill=")]
    title = registered_title(METRICS, base)
    if others:
        is_number = len(others) == 1 and others[0].replace(".", "").isdigit()
        title += f" {others[0]}" if is_number else f" ({', '.join(others)})"
    for rule, _, threshold in (rule.partition(":") for rule in rules):
        title += "" if rule == "argmax" else f" over {threshold or '0.5'}"
    return title


def registered_title(registry: Registry[Any], name: str) -> str:
    """What people call what has this name in a registry; the name itself where it has none."""
    entry = registry.about(name)
    return (entry.title if entry else "") or name.replace("_", " ")


def registered_summary(registry: Registry[Any], name: str) -> str:
    """What `extrinsic ls` says of it; nothing where it is not registered."""
    entry = registry.about(name)
    return entry.summary if entry else ""


@cache
def metric_definition(metric: str) -> str:
    """What `extrinsic ls metrics` says of a metric."""
    summary = registered_summary(METRICS, metric.partition("(")[0])
    if "fill=" in metric:
        rule = "of the best values" if "fill=argmax" in metric else "of the values above a threshold"
        summary += f"; on the state {rule} of the tracker"
    direction = "" if is_higher_better(metric) else " (lower is better)"
    return f"{summary}{direction}"


@cache
def registered_metric(metric: str) -> Any:
    """The metric of a printed form; None for what this version does not have."""
    try:
        return METRICS.get(metric if "(" in metric else f"{metric}()")
    except ExtrinsicError:
        return None


def is_of_states(metric: str) -> bool:
    """Whether a metric compares whole states."""
    return getattr(registered_metric(metric), "kind", "") == "state"


def is_of_single_slots(name: Name) -> bool:
    """Whether it scores beliefs about single slots, which some trackers' files lack."""
    other = ("joint", "goal.joint", WHOLE_STATE, "method")
    is_requested = name.component.startswith("requested")
    return name.component not in other and not is_requested and not is_of_states(name.metric)


def counted_metrics(rows: Iterable[MetricRow]) -> str:
    """`2 metrics on 3 schedules`."""
    names = {Name.of(row) for row in rows}
    metrics, schedules = ({name[part] for name in names} for part in (0, 1))
    on = f" on {len(schedules)} schedules" if len(schedules) > 1 else ""
    return counted(len(metrics), "metric") + on


ACCURACIES = (
    *("slot_accuracy", "relative_slot_accuracy"),
    *("average_goal_accuracy", "improved_average_goal_accuracy"),
)
FAMILIES: dict[str, tuple[str, ...]] = {
    "score quality": ("l2", "l2.lee", "brier", "l2.binary", "avgp", "neglogp"),
    "rank": ("mrr",),
    "accuracy": ("accuracy", "update.acc", "update.prec"),
    "ROC v1": ("roc.v1",),
    "ROC v2": ("roc.v2",),
    "state sets": ("jga", *ACCURACIES, "slot_f1", "turn_match", "fga", "gca"),
    "traits of mistakes": ("tail_orientation", "non_uniformity", "first_error", "changes", "turn_errors"),
    "other": (),
}
"""Metrics that measure the same thing."""


def family_of(metric: str) -> str:
    base = metric.partition("(")[0]
    names = {base, base.partition("_")[0]}
    return next((title for title, members in FAMILIES.items() if names.intersection(members)), "other")


def is_higher_better(metric: str) -> bool:
    """The direction of a metric; True for one that this version does not have."""
    return getattr(registered_metric(metric), "higher_is_better", True) is not False


POLICIES = {
    "rl": ("learned policy", "learned on the tracker's beliefs"),
    "sl": ("imitating policy", "takes the act that the logged system would most likely take"),
    "sl_sampled": ("imitating policy, drawn", "draws its acts as often as the logged system takes them"),
    "expert": ("fixed policy", "the world's own policy on this tracker"),
    "behaviour": ("logged policy", "the system that made the dialogs"),
    "outcome": ("outcome", "from the user's own file"),
}
"""The title of each policy, and what it is."""


def policy_title(policy: str) -> str:
    return POLICIES[policy][0] if policy in POLICIES else policy.replace("_", " ")


NO_RETURNS = ("gain", "completed")
"""In place of an estimator: what is no return, though it stands among them."""


def estimator_title(estimator: str) -> str:
    return registered_title(ESTIMATORS, estimator)


BEHAVIOUR = "behaviour.observed"
"""What the logged policy earned in the log."""

ANSWERED = ("expert.live", "rl.completed", "expert.completed")
"""Targets that a study has a verdict of besides its primary one; and every outcome."""


def verdict_targets(targets: Sequence[str]) -> list[str]:
    """Those that a study has a verdict of; the primary one is the first of all."""
    return [
        target
        for number, target in enumerate(targets)
        if number == 0 or target in ANSWERED or is_outcome(target)
    ]


def is_outcome(target: str) -> bool:
    """Whether a target is an outcome of the dialogs themselves: no policy is valued."""
    return target.startswith("outcome.")


def is_share(target: str) -> bool:
    """Whether a target is a share, from 0 to 1, and no return."""
    return is_outcome(target) or target.endswith(".completed")


def target_title(target: str) -> str:
    """`rl.live` is `the learned policy's return`: live play gives the return itself, others estimate it."""
    policy, _, estimator = target.partition(".")
    if policy == "outcome":
        return f"the outcome {estimator}"
    if target == BEHAVIOUR:
        return "the return of the logged dialogs"
    owner = f"the {policy_title(policy)}"
    if estimator == "gain":
        return f"{owner}'s gain over the logged one"
    if estimator == "completed":
        return f"the share of callers served by {owner}"
    return f"{owner}'s return" + ("" if estimator == "live" else f" by {estimator_title(estimator)}")


def variant_title(variant: str | None) -> str:
    """`fill=argmax` is the reward's rule, not a metric's: `reward counts best values`."""
    parts = []
    for part in filter(None, (variant or "").split(", ")):
        key, _, value = part.partition("=")
        rule, _, threshold = value.partition(":")
        if key == "fill":
            values = "best values" if rule == "argmax" else f"values over {threshold or '0.5'}"
            parts.append(f"reward counts {values}")
        elif key == "learner":
            parts.append(f"learned by {registered_title(LEARNERS, value)}")
        elif key == "reward":
            parts.append(f"reward {registered_title(REWARDS, value)}")
        else:
            parts.append(part)
    return ", ".join(parts)


COEFFICIENTS = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's ρ",
    "kendall": "Kendall's τ",
    "pairwise": "pairwise accuracy",
}


def slug(text: str | None) -> str:
    """A variant as part of a file's name."""
    return re.sub(r"[^a-z0-9.]+", "_", (text or "").lower()).strip("_.")


MINUS = "−"
NOTHING = "–"


def correlation(value: float | None, digits: int = 2) -> str:
    """`.92`: no zero before the point, since no correlation is larger than one."""
    if value is None:
        return NOTHING
    text = f"{abs(value):.{digits}f}"
    if float(text) == 1.0 and abs(value) < 1.0:
        # Only exactly 1 is shown as 1: .997 is not.
        text = f"{min(abs(value), 0.9999):.{max(digits, 3)}f}"
        text = text if float(text) < 1.0 else "0.999"
    text = text[1:] if text.startswith("0") else text
    negative = value < 0 and any(digit in text for digit in "123456789")
    return (MINUS if negative else "") + text


def interval(low: float | None, high: float | None) -> str:
    """`[.81, .97]`; empty where an end is undefined."""
    return "" if low is None or high is None else f"[{correlation(low)}, {correlation(high)}]"


def with_interval(value: float | None, low: float | None, high: float | None) -> str:
    return f"{correlation(value)} {interval(low, high)}".strip()


def amount(value: float | None, digits: int | None = None) -> str:
    """A return, a condition number, a share: as many digits as are useful, thousands separated."""
    if value is None:
        return NOTHING
    if math.isinf(value):
        return f"{MINUS if value < 0 else ''}∞"
    if digits is None:
        digits = 0 if abs(value) >= 100 or float(value).is_integer() else 1 if abs(value) >= 10 else 3
    text = f"{abs(value):.2g}" if abs(value) >= 1e6 else f"{abs(value):,.{digits}f}"
    return (MINUS if value < 0 and text.strip("0.,") else "") + text


def unit_title(unit: str) -> str:
    return "percentage points" if unit == "share" else "points"


def in_unit(value: float | None, unit: str) -> str:
    """`4.0`: points of a return, or a share in percentage points; more digits of what is less than .1."""
    if value is None:
        return NOTHING
    value = 100.0 * value if unit == "share" else value
    return amount(value, 1 if abs(value) >= 0.1 or value == 0.0 else 2)


def share(value: float | None) -> str:
    """`37 %`; 0 % and 100 % only where they are exact."""
    if value is None:
        return NOTHING
    if 0 < value < 0.01:
        return "under 1 %"
    if 0.99 < value < 1:
        return "over 99 %"
    return f"{100 * value:.0f} %"


def probability(value: float | None) -> str:
    """`.012`, `< .001`."""
    if value is None:
        return NOTHING
    return "< .001" if value < 0.001 else correlation(value, 3)


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 tracker`, `12 trackers`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listing(items: Sequence[str], most: int | None = None) -> str:
    """`a, b and c`; after `most` of them, how many more there are."""
    shown = list(items if most is None or len(items) <= most else items[:most])
    rest = len(items) - len(shown)
    if rest:
        shown.append(f"{rest} more")
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def in_brackets(text: str) -> str:
    """` (text)`; nothing for nothing."""
    return f" ({text})" if text else ""
