"""The settings under which policies are learned: the study's own, and those tried for sensitivity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from extrinsic.study.configuration.settings import StudySettings
from extrinsic.study.configuration.targets import chosen_targets
from extrinsic.study.stages.inputs import TrackerInput
from extrinsic.study.stages.learning import PolicySpec

LEARNER = (
    "height",
    "width",
    "nu",
    "ridge",
    "gamma",
    "threshold",
    "behaviour",
    "behaviour_width",
    "improvement",
    "iterations",
)
IN_REWARD = ("when", "absent")
IN_LEARNER = ("gamma", "ridge", "threshold")
TRIED = ("when", "absent", "features", "conditions", "gamma", "ridge", "threshold")


@dataclass(frozen=True)
class Variant:
    """A way to learn and reward; `brief`: only tried for sensitivity.

    name: what sets it apart, e.g. `fill=argmax` or `fill=argmax, when=terminal`.
    parameter, value: what differs from the study's first fill rule; None for that one itself.
    targets: what metrics are correlated with, the primary one first.
    """

    name: str
    setting: PolicySpec
    targets: tuple[str, ...]
    parameter: str | None = None
    value: str | None = None
    brief: bool = False


def variants_of(settings: StudySettings, proxies: Sequence[TrackerInput]) -> list[Variant]:
    """The study's own variants, one for each fill rule, and then those of [sensitivity]."""
    own = [_variant(settings, proxies, number, fill) for number, fill in enumerate(settings.reward.fill)]
    first = own[0]
    tried = []
    for parameter in TRIED:
        for value in getattr(settings.sensitivity, parameter):
            variant = _changed(settings, first, parameter, value)
            if variant.setting != _brief(settings, first.setting):
                tried.append(variant)
    return own + tried


def _variant(settings: StudySettings, proxies: Sequence[TrackerInput], number: int, fill: str) -> Variant:
    policy, reward = settings.policy, msgspec.structs.asdict(settings.reward)
    setting = PolicySpec(
        features=policy.features,
        conditions=policy.conditions,
        learner={name: getattr(policy, name) for name in LEARNER},
        reward={**{name: value for name, value in reward.items() if value is not None}, "fill": fill},
        policies=policy.policies,
        estimators=settings.value.estimators,
        proxies=tuple(proxies),
        live_dialogs=settings.value.live_dialogs,
        live_seed=settings.seed,
        on_policy=settings.value.on_policy,
        placebo=settings.value.placebo,
    )
    targets = tuple(chosen_targets(settings))
    if number == 0:
        return Variant(f"fill={fill}", setting, targets)
    return Variant(f"fill={fill}", setting, targets, "fill", fill)


def _changed(settings: StudySettings, first: Variant, parameter: str, value: Any) -> Variant:
    setting = _brief(settings, first.setting)
    if parameter in IN_REWARD:
        setting = msgspec.structs.replace(setting, reward={**setting.reward, parameter: value})
    elif parameter in IN_LEARNER:
        setting = msgspec.structs.replace(setting, learner={**setting.learner, parameter: value})
    else:
        setting = msgspec.structs.replace(setting, **{parameter: value})
    text = str(value).lower() if isinstance(value, bool) else str(value)
    target = settings.sensitivity.target or first.targets[0]
    return Variant(f"{first.name}, {parameter}={text}", setting, (target,), parameter, text, brief=True)


def _brief(settings: StudySettings, setting: PolicySpec) -> PolicySpec:
    """Only what the target of the sensitivity needs."""
    policy, _, estimator = (settings.sensitivity.target or chosen_targets(settings)[0]).partition(".")
    estimators = () if estimator == "observed" else (estimator,)
    policies = () if policy == "behaviour" else (policy,)
    return msgspec.structs.replace(
        setting, policies=policies, estimators=estimators, on_policy=False, placebo=False
    )
