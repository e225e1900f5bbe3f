"""The ways to learn and reward that a study has, and the targets that they give.

First the study's own variants, then those tried for sensitivity, and the grid of `extrinsic policies`: every
combination of learners, fill rules and varied settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import msgspec

from extrinsic.errors import InputError, Problems, UsageError, did_you_mean
from extrinsic.plugins import hash_of_source
from extrinsic.policy.features import Features, find_features
from extrinsic.registry import BEHAVIOURS, BLOCKS, ESTIMATORS, LEARNERS, REWARDS
from extrinsic.study.dialog_inputs import has_expert
from extrinsic.study.policy_values import (
    GAIN,
    LEARNED,
    LOGGED,
    LOGGED_LIVE,
    LOGGED_RETURN,
    PREFERRED,
    gain_terms,
)
from extrinsic.study.settings import Component, Option, Options, StudySettings
from extrinsic.study.settings_tree import check_keys, decode, set_key, tree_of
from extrinsic.study.tracker_inputs import TrackerInput
from extrinsic.typed_files import TomlProblems
from extrinsic.value.estimator import Estimator, with_options

LOGGED_COMPLETED = "behaviour.completed"
"""Whom the logged policy serves, on its own tracker: the same for all trackers that are compared."""

USUAL = ("rl", "expert", "outcome", "behaviour")
"""The policies whose values are targets unless a study names others; `sl` imitates."""

UNUSUAL = (LOGGED_LIVE, LOGGED_COMPLETED)
"""The first says nearly the same as the logged return, the second is the same for all trackers."""

LEARNER, FILL = "policy.learner", "reward.fill"
LOGGED_BASELINE = "logged"

VARIED_TABLES = ("policy", "reward", "value")
NOT_VARIED = ("policy.policies", FILL, "value.estimators")
"""Keys that decide which targets and variants a study has."""

NOT_IN_GRID = tuple(key for key in NOT_VARIED if key != FILL)


def possible_targets(settings: StudySettings) -> list[str]:
    """Every target that a study can have."""
    names = [f"outcome.{name}" for name in (settings.outcomes.targets if settings.outcomes else ())]
    if settings.states is not None:
        return names
    estimators = settings.value.estimators
    registered = [name for name in estimators if name in ESTIMATORS]
    played = [name for name in registered if "world" in ESTIMATORS.get(name).needs]
    for policy in settings.policy.policies:
        names += [f"{policy}.{name}" for name in (played if policy == "expert" else estimators)]
        names += [f"{policy}.completed"] if "live" in played else []
    names.append(LOGGED_RETURN)
    if "live" in played and has_expert(settings):
        names += [LOGGED_LIVE, LOGGED_COMPLETED]
    if gain_terms(names) is not None:
        names.append(GAIN)
    return names


def chosen_targets(settings: StudySettings) -> list[str]:
    """The targets that metrics are correlated with; the primary one first."""
    possible = possible_targets(settings)
    usual = [name for name in possible if name.partition(".")[0] in USUAL and name not in UNUSUAL]
    chosen = list(settings.correlation.targets) or usual
    first = settings.correlation.primary
    if first is None:
        first = next((name for name in PREFERRED if name in chosen), chosen[0])
    return [first, *(name for name in chosen if name != first)]


class PolicySpec(msgspec.Struct, frozen=True):
    """Everything that a policy and its values depend on, beside the dialogs and the tracker.

    threshold: of the filter.   proxies: the trackers that augment the state.   keep: the policies, too.
    share: of the training dialogs that are learned from.
    """

    features: str | tuple[str, ...]
    conditions: bool
    learner: Component
    behaviour: Component
    threshold: float
    reward: Component
    policies: tuple[str, ...]
    estimators: tuple[str, ...]
    estimator_options: dict[str, Options]
    proxies: tuple[TrackerInput, ...]
    live_dialogs: int
    live_seed: int
    on_policy: bool
    placebo: bool
    keep: bool = False
    share: float = 1.0

    def estimator(self, name: str) -> Estimator:
        """An estimator with the study's options."""
        estimator: Estimator = with_options(ESTIMATORS.get(name), self.estimator_options)
        return estimator

    def foreign_code(self) -> str:
        """A hash of the source of what is not ours; ours is part of the code's version."""
        chosen = ((LEARNERS, self.learner), (BEHAVIOURS, self.behaviour), (REWARDS, self.reward))
        things = [registry.get(choice.name) for registry, choice in chosen]
        things += [BLOCKS.get(name) for name in self.feature_map().blocks]
        return hash_of_source(*things, *map(ESTIMATORS.get, self.estimators))

    def feature_map(self) -> Features:
        return replace(find_features(self.features), conditions=self.conditions)


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


def changed_settings(
    settings: StudySettings, chosen: Mapping[str, Option], fixed: Sequence[str] = NOT_VARIED
) -> StudySettings:
    """The settings with some keys changed, a fill rule instead of all; InputError if they are not valid."""
    tree, problems = tree_of(settings), TomlProblems()
    for key, option in chosen.items():
        if key.split(".")[0] not in VARIED_TABLES or key in fixed:
            names = ", ".join(f"[{table}]" for table in VARIED_TABLES)
            expected = f"a key of {names}, except {', '.join(NOT_VARIED)}"
            raise InputError(f"{key} cannot be varied", expected=expected)
        set_key(tree, key, [option] if key == FILL else option, problems)
    check_keys(tree, problems)
    problems.raise_errors()
    changed = decode(tree, problems)
    problems.raise_errors()
    return changed


def check_overrides(settings: StudySettings, problems: Problems) -> dict[tuple[str, str], StudySettings]:
    """The settings of every variation, by key and value as text; invalid ones are reported."""
    varied: dict[tuple[str, str], StudySettings] = {}
    for dotted, values in settings.sensitivity.vary.items():
        for value in values:
            try:
                varied[dotted, text_of(value)] = changed_settings(settings, {dotted: value})
            except InputError as error:
                for problem in error.problems:
                    problems.add(f'key sensitivity.vary."{dotted}": {problem}')
    return varied


def text_of(value: Option) -> str:
    """A value as it is written in tables and names of variants."""
    if isinstance(value, tuple):
        return "+".join(map(text_of, value))
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def variants_of(settings: StudySettings, proxies: Sequence[TrackerInput]) -> list[Variant]:
    """The study's own variants, one for each learner and fill rule, and then those of [sensitivity]."""
    own = _own_variants(settings, proxies)
    first = own[0]
    brief = _brief(settings, first.spec)
    varied = []
    for (parameter, value), changed in check_overrides(settings, Problems()).items():
        spec = _brief(settings, _spec(changed, proxies, changed.policy.learner, changed.reward.fills[0]))
        if spec != brief:
            target = settings.sensitivity.target or first.targets[0]
            name = f"{first.name}, {parameter}={value}"
            varied.append(Variant(name, spec, (target,), parameter, value, brief=True))
    return own + varied


def grid_variants(settings: StudySettings, proxies: Sequence[TrackerInput]) -> list[Variant]:
    """Every combination of a grid, learned from all training dialogs, then from the shares of the curve."""
    assert settings.grid is not None
    rows, axes = combinations(settings), axes_of(settings)
    names = baselines(settings, rows)
    specs, variants = {}, []
    for row in rows:
        policy, reward = row.settings.policy, row.settings.reward
        spec = _spec(row.settings, proxies, policy.learner, reward.fills[0])
        specs[row.name] = spec = msgspec.structs.replace(spec, policies=(LEARNED,))
        # The logged policy, under the reward of this row.
        logged = ", ".join([LOGGED_BASELINE, *_parts(row.values, axes, "reward.")])
        baseline = names[row.name] or logged
        variants.append(Variant(row.name, spec, (), policy=row.name, logged=logged, baseline=baseline))
    estimators = settings.value.estimators
    ordering = settings.grid.estimator or ("live" if "live" in estimators else estimators[0])
    for share in sorted(settings.grid.curve):
        for name, spec in specs.items():
            part = msgspec.structs.replace(
                spec, share=share, estimators=(ordering,), on_policy=False, placebo=False
            )
            value = f"{share:g}"
            variants.append(Variant(f"{name}, share={value}", part, (), "share", value, True, name))
    return variants


def _own_variants(settings: StudySettings, proxies: Sequence[TrackerInput]) -> list[Variant]:
    """One for each learner and fill rule; all but the first name what differs from the first."""
    reward, targets = settings.reward, tuple(chosen_targets(settings))
    learners = settings.policy.learners
    variants: list[Variant] = []
    for learner, fill in product(learners, reward.fills):
        parts = [f"learner={learner.name}"] if len(learners) > 1 else []
        parts += [f"reward={reward.kind}"] if fill is None else [f"fill={fill}"]
        parameter, value = ("fill", fill) if fill and learner == learners[0] else ("learner", learner.name)
        differs = (parameter, value) if variants else (None, None)
        spec = _spec(settings, proxies, learner, fill)
        variants.append(Variant(", ".join(parts), spec, targets, *differs))
    return variants


def _spec(
    settings: StudySettings, proxies: Sequence[TrackerInput], learner: Component, fill: str | None
) -> PolicySpec:
    policy, reward, value = settings.policy, settings.reward, settings.value
    options = reward.options if fill is None else {**reward.options, "fill": fill}
    return PolicySpec(
        features=policy.features,
        conditions=policy.conditions,
        learner=learner,
        behaviour=policy.behaviour,
        threshold=policy.threshold,
        reward=Component(reward.kind, options),
        policies=policy.policies,
        estimators=value.estimators,
        estimator_options=value.options,
        proxies=tuple(proxies),
        live_dialogs=value.live_dialogs,
        live_seed=settings.seed,
        on_policy=value.on_policy,
        placebo=value.placebo,
        keep=policy.keep,
    )


def _brief(settings: StudySettings, spec: PolicySpec) -> PolicySpec:
    """Only what the target of the sensitivity needs."""
    target = settings.sensitivity.target or chosen_targets(settings)[0]
    terms = gain_terms(possible_targets(settings)) if target == GAIN else None
    policy, _, estimator = (terms[0] if terms else target).partition(".")
    needed = "live" if estimator == "completed" else estimator
    return msgspec.structs.replace(
        spec,
        policies=() if policy == LOGGED else (policy,),
        estimators=() if target == LOGGED_RETURN else (needed,),
        on_policy=False,
        placebo=False,
        keep=False,
    )


@dataclass(frozen=True)
class Combination:
    """A row of the grid: its settings, and by dotted key the values that vary, as text."""

    name: str
    values: Mapping[str, str]
    settings: StudySettings


def axes_of(settings: StudySettings) -> dict[str, tuple[Option, ...]]:
    """What varies: learners, fill rules, and the keys of [grid.vary]."""
    assert settings.grid is not None
    axes: dict[str, tuple[Option, ...]] = {LEARNER: tuple(made.name for made in settings.policy.learners)}
    if settings.reward.fills != (None,):
        axes[FILL] = settings.reward.fill
    return axes | settings.grid.vary


def combinations(settings: StudySettings) -> list[Combination]:
    """Every row of the grid; options of a learner multiply the rows of that learner only."""
    axes = axes_of(settings)
    rows: dict[str, Combination] = {}
    for options in product(*axes.values()):
        chosen = dict(zip(axes, options, strict=True))
        values = _relevant({key: text_of(option) for key, option in chosen.items()}, settings)
        name = ", ".join([values[LEARNER], *_parts(values, axes)])  # one_step, features=grouped
        if name not in rows:
            changed = {key: chosen[key] for key in values}
            rows[name] = Combination(name, values, changed_settings(settings, changed, NOT_IN_GRID))
    return list(rows.values())


def _relevant(values: dict[str, str], settings: StudySettings) -> dict[str, str]:
    """Without the options of learners and behaviour models that are not those of the row."""
    own = (values[LEARNER], values.get("policy.behaviour", settings.policy.behaviour_name))

    def is_foreign(key: str) -> bool:
        table, name, *rest = key.split(".")
        return (
            bool(rest) and table == "policy" and (name in LEARNERS or name in BEHAVIOURS) and name not in own
        )

    return {key: value for key, value in values.items() if not is_foreign(key)}


def _parts(values: Mapping[str, str], axes: Mapping[str, Sequence[Option]], table: str = "") -> list[str]:
    """`features=grouped`: what varies beside the learner, of the keys of one table or of all."""
    lasts = [key.rpartition(".")[2] for key in axes]
    parts = []
    for key, value in values.items():
        last = key.rpartition(".")[2]
        if key != LEARNER and len(axes[key]) > 1 and key.startswith(table):
            parts.append(f"{last if lasts.count(last) == 1 else key}={value}")
    return parts


def baselines(settings: StudySettings, rows: Sequence[Combination]) -> dict[str, str | None]:
    """By row, the name of the row it is compared to; None: the logged policy."""
    assert settings.grid is not None
    baseline = settings.grid.baseline
    if baseline == LOGGED_BASELINE:
        return {row.name: None for row in rows}
    axes = axes_of(settings)
    if isinstance(baseline, str):
        if baseline not in axes[LEARNER]:
            options = [LOGGED_BASELINE, *map(str, axes[LEARNER])]
            raise UsageError(
                f"there is no baseline {baseline!r}; {did_you_mean(baseline, options)}",
                expected="logged, a learner of the grid, or a table of its settings",
            )
        baseline = {LEARNER: baseline}
    for key, option in baseline.items():
        if key not in axes:
            raise UsageError(f"{key!r} does not vary; {did_you_mean(key, axes)}")
        if key.startswith("reward."):
            raise UsageError(f"{key!r}: returns of different rewards cannot be compared")
        if option not in axes[key]:
            raise UsageError(
                f"{key!r} has other values",
                expected=" or ".join(map(text_of, axes[key])),
                found=text_of(option),
            )
    names = {frozenset(row.values.items()): row.name for row in rows}
    changed = {key: text_of(option) for key, option in baseline.items()}
    chosen: dict[str, str | None] = {}
    for row in rows:
        values = _relevant({**row.values, **changed}, settings)
        name = names.get(frozenset(values.items()))
        if name is None:
            raise UsageError(
                f"the baseline of the row {row.name!r} is not one row of the grid: name all that varies",
                found=", ".join(f"{key}={value}" for key, value in values.items()),
            )
        chosen[row.name] = name
    return chosen
