"""The ways to learn and reward: the study's own, and those tried for sensitivity."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from extrinsic.errors import Problems
from extrinsic.study.configuration.choices import Choice, has_fill
from extrinsic.study.configuration.grid import baselines, combinations, first_estimator, logged_name
from extrinsic.study.configuration.settings import PolicyTable, StudySettings
from extrinsic.study.configuration.settings_toml import check_overrides
from extrinsic.study.configuration.targets import LOGGED_RETURN, chosen_targets, needed_estimators
from extrinsic.study.stages.inputs import TrackerInput
from extrinsic.study.stages.policy_spec import LEARNED, LOGGED, PolicySpec


class Variant(msgspec.Struct, frozen=True):
    """A way to learn and reward.

    name: what sets it apart, e.g. `fill=argmax` or `fill=argmax, reward.when=terminal`.
    targets: what metrics are correlated with, the primary one first.
    parameter, value: what differs from the study's first variant; None for that one itself.
    brief: only tried for sensitivity, or for a point of a learning curve.
    policy: of a grid, its row.   logged: the name of the logged policy under the row's reward.
    baseline: the row, or the logged policy, that it is compared to.
    """

    name: str
    spec: PolicySpec
    targets: tuple[str, ...]
    parameter: str | None = None
    value: str | None = None
    brief: bool = False
    policy: str = ""
    logged: str = ""
    baseline: str = ""


def variants_of(settings: StudySettings, proxies: Sequence[TrackerInput]) -> list[Variant]:
    """The study's own variants, one for each learner and fill rule, and then those of [sensitivity]."""
    own = _own_variants(settings, proxies)
    first = own[0]
    brief = _brief(settings, first.spec)
    varied = []
    for (parameter, value), changed in check_overrides(settings, Problems()).items():
        spec = _brief(settings, _spec(changed, proxies, changed.policy.learners[0], _first_fill(changed)))
        if spec != brief:
            target = settings.sensitivity.target or first.targets[0]
            name = f"{first.name}, {parameter}={value}"
            varied.append(Variant(name, spec, (target,), parameter, value, brief=True))
    return own + varied


def grid_variants(settings: StudySettings, proxies: Sequence[TrackerInput]) -> list[Variant]:
    """Every combination of a grid, learned from all training dialogs, then from the shares of the curve."""
    assert settings.grid is not None
    rows = combinations(settings)
    names = baselines(settings, rows)
    specs, variants = {}, []
    for row in rows:
        reward = row.settings.reward
        fill = reward.fill[0] if has_fill(reward.kind) else None
        spec = _spec(row.settings, proxies, row.settings.policy.learners[0], fill)
        specs[row.name] = spec = msgspec.structs.replace(spec, policies=(LEARNED,))
        logged = logged_name(settings, row)
        baseline = names[row.name] or logged
        variants.append(Variant(row.name, spec, (), policy=row.name, logged=logged, baseline=baseline))
    for share in sorted(settings.grid.curve):
        for name, spec in specs.items():
            part = msgspec.structs.replace(
                spec, share=share, estimators=(first_estimator(settings),), on_policy=False, placebo=False
            )
            value = f"{share:g}"
            variants.append(Variant(f"{name}, share={value}", part, (), "share", value, True, name))
    return variants


def _own_variants(settings: StudySettings, proxies: Sequence[TrackerInput]) -> list[Variant]:
    """One for each learner and fill rule; all but the first name what differs from the first."""
    reward, targets = settings.reward, tuple(chosen_targets(settings))
    learners = settings.policy.learners
    fills: tuple[str | None, ...] = reward.fill if has_fill(reward.kind) else (None,)
    variants: list[Variant] = []
    for learner in learners:
        for fill in fills:
            parts = [f"learner={learner}"] if len(learners) > 1 else []
            parts += [f"reward={reward.kind}"] if fill is None else [f"fill={fill}"]
            spec = _spec(settings, proxies, learner, fill)
            parameter, value = (None, None) if not variants else _difference(learner, learners[0], fill)
            variants.append(Variant(", ".join(parts), spec, targets, parameter, value))
    return variants


def _difference(learner: str, first: str, fill: str | None) -> tuple[str, str]:
    return ("fill", fill) if learner == first and fill is not None else ("learner", learner)


def _first_fill(settings: StudySettings) -> str | None:
    return settings.reward.fill[0] if has_fill(settings.reward.kind) else None


def _spec(
    settings: StudySettings, proxies: Sequence[TrackerInput], learner: str, fill: str | None
) -> PolicySpec:
    policy, reward, value = settings.policy, settings.reward, settings.value
    options = dict(reward.options) if fill is None else {**reward.options, "fill": fill}
    return PolicySpec(
        features=policy.features,
        conditions=policy.conditions,
        learner=_choice(policy, learner),
        behaviour=_choice(policy, policy.behaviour),
        threshold=policy.threshold,
        reward=Choice(reward.kind, options),
        policies=policy.policies,
        estimators=value.estimators,
        estimator_options=value.tables,
        proxies=tuple(proxies),
        live_dialogs=value.live_dialogs,
        live_seed=settings.seed,
        world_dialogs=value.world_dialogs,
        on_policy=value.on_policy,
        placebo=value.placebo,
        keep=policy.keep,
        training_resamples=value.training_resamples,
    )


def _choice(policy: PolicyTable, name: str) -> Choice:
    return Choice(name, policy.tables.get(name, {}))


def _brief(settings: StudySettings, spec: PolicySpec) -> PolicySpec:
    """Only what the target of the sensitivity needs."""
    target = settings.sensitivity.target or chosen_targets(settings)[0]
    policy = target.partition(".")[0]
    observed = target == LOGGED_RETURN
    return msgspec.structs.replace(
        spec,
        policies=() if policy == LOGGED else (policy,),
        estimators=() if observed else needed_estimators(settings, target),
        on_policy=False,
        placebo=False,
        keep=False,
        training_resamples=0,
    )
