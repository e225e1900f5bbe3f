"""Choices of a study by name, with options: learners, behaviour models, rewards, estimators.

In the file, `[policy.<name>]` are the options of a learner or behaviour model, `[value.<name>]` those of an
estimator, and all but a few keys of `[reward]` are options of the reward. Each table is checked against the
config class of that name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import msgspec

from extrinsic.errors import ExtrinsicError, UsageError, did_you_mean
from extrinsic.registry import BEHAVIOURS, ESTIMATORS, EVALUATORS, LEARNERS, REWARDS, Registry
from extrinsic.study.configuration.settings import (
    Options,
    OutcomesTable,
    PolicyTable,
    RewardTable,
    StudySettings,
    Table,
    ValueTable,
)
from extrinsic.toml_files import TomlProblems, check_table

Tree = dict[str, Any]
"""A TOML file as plain tables."""

REWARD_KEYS = ("kind", "fill")

NAMED: dict[str, tuple[type[Table], str, tuple[Registry[Any], ...]]] = {
    "policy": (PolicyTable, "learner or behaviour model", (LEARNERS, BEHAVIOURS)),
    "value": (ValueTable, "estimator", (ESTIMATORS,)),
    "outcomes": (OutcomesTable, "evaluator", (EVALUATORS,)),
}
"""Tables of a study that hold tables of options, by the names of registries."""


class Choice(msgspec.Struct, frozen=True):
    """A name of a registry with options: small, plain, and the same in every process."""

    name: str
    options: Options = {}

    def make(self, registry: Registry[Any]) -> Any:
        """The config that the registry has under this name, with the options set."""
        return msgspec.convert(dict(self.options), registry.get(self.name))


def gather_options(tree: Tree) -> Tree:
    """The tree with the tables of options and the options of the reward where the settings have them."""
    gathered = dict(tree)
    for name in NAMED:
        table = tree.get(name)
        if isinstance(table, dict):
            tables = {key: value for key, value in table.items() if isinstance(value, dict)}
            rest = {key: value for key, value in table.items() if key not in tables}
            gathered[name] = {**rest, **({"tables": tables} if tables else {})}
    reward = tree.get("reward")
    if isinstance(reward, dict):
        options = {key: value for key, value in reward.items() if key not in REWARD_KEYS}
        rest = {key: value for key, value in reward.items() if key in REWARD_KEYS}
        gathered["reward"] = {**rest, **({"options": options} if options else {})}
    return gathered


def spread_options(tree: Tree) -> Tree:
    """The inverse of `gather_options`: as a file has it."""
    spread = dict(tree)
    for name, inner in (*((name, "tables") for name in NAMED), ("reward", "options")):
        if tree.get(name) is None:
            continue
        table = dict(tree[name])
        options = table.pop(inner, {})
        spread[name] = {**table, **options}
    return spread


def report_strays(tree: Tree, problems: TomlProblems) -> Tree:
    """Report keys of [policy] and [value] that belong in a table of options; returns the other keys."""
    cleared = dict(tree)
    for table, (kind, _, registries) in NAMED.items():
        keys = tree.get(table)
        if not isinstance(keys, dict):
            continue
        strays = [key for key in keys if key not in kind.__struct_fields__]
        for key in strays:
            owners = [name for name, options in _owners(*registries) if key in options]
            used = [name for name in owners if name in _chosen(keys)] or owners
            owner = used[0] if len(used) == 1 else "<name>"
            hint = (
                f"an option of {', '.join(owners)}: write it into [{table}.{owner}]"
                if owners
                else did_you_mean(key, kind.__struct_fields__)
            )
            problems.add_key((table, key), f"unknown; {hint}")
        cleared[table] = {key: value for key, value in keys.items() if key not in strays}
    return cleared


def _chosen(policy: Tree) -> list[str]:
    """The learners that a table [policy] names."""
    learner = policy.get("learner", PolicyTable().learner)
    return [learner] if isinstance(learner, str) else list(learner)


def check_choices(settings: StudySettings, problems: TomlProblems) -> None:
    """Report names that do not exist, and options that their config does not have."""
    _check_names(LEARNERS, settings.policy.learners, ("policy", "learner"), problems)
    _check_names(BEHAVIOURS, [settings.policy.behaviour], ("policy", "behaviour"), problems)
    for table, tables in (("policy", settings.policy.tables), ("value", settings.value.tables)):
        _, what, registries = NAMED[table]
        for name, options in tables.items():
            registry = next((registry for registry in registries if name in registry), None)
            if registry is None:
                hint = did_you_mean(name, [name for registry in registries for name in registry.names()])
                problems.add_key((table, name), f"no {what}; {hint}")
                continue
            check_options(registry, name, options, (table, name), problems)
    _check_reward(settings.reward, problems)


def check_outcomes(settings: StudySettings, problems: TomlProblems) -> None:
    """Report outcomes from nowhere or from two sources, and options that the evaluator does not have."""
    table = settings.outcomes
    if table is None:
        return
    if (table.file is None) == (table.evaluator is None):
        problems.add_key("outcomes", "name a `file` of outcomes, or an `evaluator`, and not both")
        return
    for name in table.tables:
        if name != table.evaluator:
            problems.add_key(("outcomes", name), "not used: the study does not name it as its evaluator")
    if table.evaluator is None:
        return
    if settings.states is None:
        problems.add_key("outcomes.evaluator", "evaluates states: it goes with [states]")
    if table.evaluator not in EVALUATORS:
        _check_names(EVALUATORS, [table.evaluator], ("outcomes", "evaluator"), problems)
        return
    for key in ("dialog", "rater", "turn", "trial", "pass_k", "scale", "dataset"):
        if getattr(table, key):
            problems.add_key(("outcomes", key), "is a column of a file; an evaluator has none")
    available = EVALUATORS.get(table.evaluator).outcomes
    for name in table.names:
        if name not in available:
            hint = did_you_mean(name, available)
            problems.add_key("outcomes.names", f"{table.evaluator} computes no {name!r}; {hint}")
    options = table.tables.get(table.evaluator, {})
    check_options(EVALUATORS, table.evaluator, options, ("outcomes", table.evaluator), problems)


ESTIMATED = ("world_mixed", "world", "mean_augmented", "fqe_augmented", "lstd")
"""The estimators of a study that names none; where it can be played, live comes first."""


def with_estimators(settings: StudySettings) -> StudySettings:
    """The settings with the estimators that a study has if it names none."""
    if settings.value.estimators or settings.states is not None:
        return settings
    names = ESTIMATED if settings.simulation is None else ("live", *ESTIMATED)
    return msgspec.structs.replace(settings, value=msgspec.structs.replace(settings.value, estimators=names))


def with_defaults(settings: StudySettings) -> StudySettings:
    """The settings with every option of the learners, the behaviour model and the estimators in its table.

    Then equal studies are equal settings, whether a default is written or not. An option without a value is
    left out, as TOML has no null. What a reward leaves out stays the domain's choice.
    """
    from extrinsic.value.estimator import parts_of, with_options

    policy, value = settings.policy, settings.value
    tables, estimated = dict(policy.tables), dict(value.tables)
    for registry, names in ((LEARNERS, policy.learners), (BEHAVIOURS, (policy.behaviour,))):
        for name in names:
            config = Choice(name, tables.get(name, {})).make(registry)
            options = {key: getattr(config, key) for key in option_names(type(config))}
            tables[name] = {key: value for key, value in options.items() if value is not None}
    for name in value.estimators:
        for part in parts_of(with_options(ESTIMATORS.get(name), value.tables)):
            if hasattr(part, "settings"):
                estimated[part.name] = msgspec.to_builtins(part.settings)
    return msgspec.structs.replace(
        settings,
        policy=msgspec.structs.replace(policy, tables=tables),
        value=msgspec.structs.replace(value, tables=estimated),
    )


def _check_reward(table: RewardTable, problems: TomlProblems) -> None:
    if table.kind not in REWARDS:
        _check_names(REWARDS, [table.kind], ("reward", "kind"), problems)
        return
    check_options(REWARDS, table.kind, table.options, ("reward",), problems)
    if has_fill(table.kind) and not table.fill:
        problems.add_key("reward.fill", "at least one fill rule is needed")


def check_options(
    registry: Registry[Any], name: str, options: Options, keys: tuple[str, ...], problems: TomlProblems
) -> None:
    """Check a table of options against its config; for an unknown option, name the config that has it."""

    def whose(key: str) -> str | None:
        owners = [other for other, names in _owners(registry) if key in names and other != name]
        have = "has" if len(owners) == 1 else "have"
        return f"{name} has no such option; {', '.join(owners)} {have}" if owners else None

    kind, before = _config(registry, name), len(problems)
    check_table(dict(options), kind, keys, problems, whose)
    if len(problems) > before:
        return
    try:
        msgspec.convert(dict(options), kind)
    except ExtrinsicError as error:
        problems.add_key(keys, str(error))


class NoOptions(msgspec.Struct, frozen=True):
    """The config of what cannot be set."""


def _config(registry: Registry[Any], name: str) -> Any:
    """The type that takes the options of a name: what is registered, or the settings of an estimator."""
    target = registry.get(name)
    if registry is ESTIMATORS:
        return type(target.settings) if hasattr(target, "settings") else NoOptions
    return target


def option_names(kind: Any) -> tuple[str, ...]:
    """The options that a config takes."""
    if is_dataclass(kind):
        return tuple(field.name for field in fields(kind))
    return tuple(getattr(kind, "__struct_fields__", ()))


def has_fill(reward: str) -> bool:
    """Whether a reward depends on when a belief counts as filled."""
    return "fill" in option_names(REWARDS.get(reward))


def _owners(*registries: Registry[Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for registry in registries:
        for name in registry.names():
            yield name, option_names(_config(registry, name))


def _check_names(
    registry: Registry[Any], names: Iterable[str], keys: tuple[str, ...], problems: TomlProblems
) -> None:
    for name in names:
        try:
            registry.get(name)
        except UsageError as error:
            problems.add_key(keys, str(error))
