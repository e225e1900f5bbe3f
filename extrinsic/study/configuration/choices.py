"""Choices of a study by name, with options: learners, behaviour models, rewards.

In the file, `[policy.<name>]` are the options of a learner or behaviour model, and all but a few keys of
`[reward]` are options of the reward. Each table is checked against the config class of that name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import msgspec

from extrinsic.errors import ExtrinsicError, Problems, UsageError, did_you_mean
from extrinsic.registry import BEHAVIOURS, LEARNERS, REWARDS, Registry
from extrinsic.study.configuration.settings import Options, PolicyTable, RewardTable, StudySettings
from extrinsic.toml_files import check_table, report_key

Tree = dict[str, Any]
"""A TOML file as plain tables."""

REWARD_KEYS = ("kind", "fill")


class Choice(msgspec.Struct, frozen=True):
    """A name of a registry with options: small, plain, and the same in every process."""

    name: str
    options: Options = {}

    def make(self, registry: Registry[Any]) -> Any:
        """The config that the registry has under this name, with the options set."""
        return msgspec.convert(dict(self.options), registry.get(self.name))


def gather_options(tree: Tree) -> Tree:
    """The tree with the tables of learners and the options of the reward where the settings have them."""
    gathered = dict(tree)
    policy, reward = tree.get("policy"), tree.get("reward")
    if isinstance(policy, dict):
        tables = {key: value for key, value in policy.items() if isinstance(value, dict)}
        rest = {key: value for key, value in policy.items() if key not in tables}
        gathered["policy"] = {**rest, **({"tables": tables} if tables else {})}
    if isinstance(reward, dict):
        options = {key: value for key, value in reward.items() if key not in REWARD_KEYS}
        rest = {key: value for key, value in reward.items() if key in REWARD_KEYS}
        gathered["reward"] = {**rest, **({"options": options} if options else {})}
    return gathered


def spread_options(tree: Tree) -> Tree:
    """The inverse of `gather_options`: as a file has it."""
    policy, reward = dict(tree["policy"]), dict(tree["reward"])
    tables, options = policy.pop("tables", {}), reward.pop("options", {})
    return {**tree, "policy": {**policy, **tables}, "reward": {**reward, **options}}


def report_strays(tree: Tree, text: str, problems: Problems) -> Tree:
    """Report keys of [policy] that belong in the table of a learner; returns the tree without them."""
    policy = tree.get("policy")
    if not isinstance(policy, dict):
        return tree
    strays = [key for key in policy if key not in PolicyTable.__struct_fields__]
    for key in strays:
        owner = next((name for name, options in _owners(LEARNERS, BEHAVIOURS) if key in options), None)
        hint = (
            f"an option of {owner}: write it into [policy.{owner}]"
            if owner
            else did_you_mean(key, PolicyTable.__struct_fields__)
        )
        report_key(problems, text, ("policy", key), f"unknown; {hint}")
    return {**tree, "policy": {key: value for key, value in policy.items() if key not in strays}}


def check_choices(settings: StudySettings, text: str, problems: Problems) -> None:
    """Report names that do not exist, and options that their config does not have."""
    _check_names(LEARNERS, settings.policy.learners, ("policy", "learner"), text, problems)
    _check_names(BEHAVIOURS, [settings.policy.behaviour], ("policy", "behaviour"), text, problems)
    for name, options in settings.policy.tables.items():
        registry = LEARNERS if name in LEARNERS else BEHAVIOURS
        if name not in registry:
            names = [*LEARNERS.names(), *BEHAVIOURS.names()]
            hint = did_you_mean(name, names)
            report_key(problems, text, ("policy", name), f"no learner or behaviour model; {hint}")
            continue
        check_options(registry, name, options, ("policy", name), text, problems)
    _check_reward(settings.reward, text, problems)


def with_defaults(settings: StudySettings) -> StudySettings:
    """The settings with every option of the learners and of the behaviour model in its table.

    Then equal studies are equal settings, whether a default is written or not. An option without a value is
    left out, as TOML has no null. What a reward leaves out stays the domain's choice.
    """
    policy = settings.policy
    tables = dict(policy.tables)
    for registry, names in ((LEARNERS, policy.learners), (BEHAVIOURS, (policy.behaviour,))):
        for name in names:
            config = Choice(name, tables.get(name, {})).make(registry)
            options = {key: getattr(config, key) for key in option_names(type(config))}
            tables[name] = {key: value for key, value in options.items() if value is not None}
    return msgspec.structs.replace(settings, policy=msgspec.structs.replace(policy, tables=tables))


def _check_reward(table: RewardTable, text: str, problems: Problems) -> None:
    if table.kind not in REWARDS:
        _check_names(REWARDS, [table.kind], ("reward", "kind"), text, problems)
        return
    check_options(REWARDS, table.kind, table.options, ("reward",), text, problems)
    if has_fill(table.kind) and not table.fill:
        report_key(problems, text, ("reward", "fill"), "at least one fill rule is needed")


def check_options(
    registry: Registry[Any], name: str, options: Options, keys: tuple[str, ...], text: str, problems: Problems
) -> None:
    """Check a table of options against its config; for an unknown option, name the config that has it."""

    def whose(key: str) -> str | None:
        owners = [other for other, names in _owners(registry) if key in names and other != name]
        return f"{name} has no such option; {owners[0]} has" if owners else None

    kind, before = registry.get(name), len(problems)
    check_table(dict(options), kind, keys, text, problems, whose)
    if len(problems) > before:
        return
    try:
        msgspec.convert(dict(options), kind)
    except ExtrinsicError as error:
        report_key(problems, text, keys, str(error))


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
            yield name, option_names(registry.get(name))


def _check_names(
    registry: Registry[Any], names: Iterable[str], keys: tuple[str, ...], text: str, problems: Problems
) -> None:
    for name in names:
        try:
            registry.get(name)
        except UsageError as error:
            report_key(problems, text, keys, str(error))
