"""Names with their typed form and definition, which a page shows on hovering and on a tap."""

from __future__ import annotations

from extrinsic.registry import ESTIMATORS
from extrinsic.report.drawing.page_parts import Term
from extrinsic.study.naming import (
    COMPONENTS,
    POLICIES,
    SCHEDULES,
    Name,
    estimator_title,
    metric_definition,
    metric_title,
    policy_title,
    registered_summary,
    target_title,
    variant_title,
)


def name_term(name: Name) -> Term:
    """A metric on its schedule and component: `slot F1, last turn`."""
    parts = [
        metric_definition(name.metric),
        COMPONENTS.get(name.component, ("", ""))[1],
        SCHEDULES.get(name.schedule, ("", ""))[1],
    ]
    return Term(name.title(), name.label(), "; ".join(filter(None, parts)))


def metric_term(metric: str) -> Term:
    return Term(metric_title(metric), metric, metric_definition(metric))


def policy_term(policy: str) -> Term:
    return Term(policy_title(policy), policy, POLICIES.get(policy, ("", ""))[1])


def estimator_term(estimator: str) -> Term:
    return Term(estimator_title(estimator), estimator, registered_summary(ESTIMATORS, estimator))


def target_term(target: str) -> Term:
    policy, _, estimator = target.partition(".")
    parts = (POLICIES.get(policy, ("", ""))[1], registered_summary(ESTIMATORS, estimator))
    return Term(target_title(target), target, "; ".join(filter(None, parts)))


def variant_term(variant: str | None) -> Term:
    """The rule by which the reward counts a concept as filled, not that of a metric."""
    title = variant_title(variant)
    return Term(title, variant or "", RULES.get((variant or "").partition(":")[0], ""))


RULES = {
    "fill=argmax": "the reward counts the value of a concept that the tracker ranks first",
    "fill=threshold": "the reward counts a value of a concept only if its score is above a threshold",
}
