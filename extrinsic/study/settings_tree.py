"""A study's settings as the tables of a TOML file, and back; each table of options as the config of its name.

Which learners, rewards, estimators, ... there are is known when a file is read: plugins register their own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import partial
from typing import Any, TypeVar

import msgspec
import tomli_w

from extrinsic.errors import UsageError, did_you_mean, shortened
from extrinsic.registry import BEHAVIOURS, ESTIMATORS, EVALUATORS, LEARNERS, REWARDS, Registry
from extrinsic.study.settings import (
    NamingTable,
    OutcomesTable,
    PolicyTable,
    RewardTable,
    StudySettings,
    ValueTable,
)
from extrinsic.typed_files import TomlProblems, check_table, option_names

Tree = dict[str, Any]
"""A TOML file as plain tables."""

T = TypeVar("T", bound=NamingTable)

NAMING: dict[str, tuple[str, dict[str, Registry[Any]]]] = {
    "policy": ("learner or behaviour model", {"learner": LEARNERS, "behaviour": BEHAVIOURS}),
    "value": ("estimator", {"estimators": ESTIMATORS}),
    "outcomes": ("evaluator", {"evaluator": EVALUATORS}),
}
"""Tables with tables of options: what those are of, and the keys that name such."""

KEYS = {
    "policy": PolicyTable.__struct_encode_fields__,
    "value": ValueTable.__struct_encode_fields__,
    "outcomes": OutcomesTable.__struct_encode_fields__,
    "reward": RewardTable.__struct_encode_fields__,
}
"""The keys of these tables that are not options, beside `options` itself, which no file has."""

WITHOUT_EFFECT = {"correlation": ("coefficient", "resamples", "subsets")}
"""Keys that files of earlier versions have: read, and left out."""


class NoOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The config of what cannot be set."""


def without_options(tree: Tree) -> Tree:
    """The tree as StudySettings has it, whatever is registered."""
    return {
        name: {
            key: value
            for key, value in table.items()
            if not _is_option(name, key, value) and key not in WITHOUT_EFFECT.get(name, ())
        }
        if isinstance(table, dict)
        else table
        for name, table in tree.items()
    }


def _is_option(table: str, key: str, value: Any) -> bool:
    """Whether a key of a table is an option of the reward, or a table of options."""
    if table not in KEYS or (key in KEYS[table] and key != "options"):
        return False
    return table == "reward" or isinstance(value, dict)


def check_keys(tree: Tree, problems: TomlProblems) -> None:
    """Report every key that no study has, whatever is registered."""
    check_table(without_options(tree), StudySettings, (), problems, partial(_owners_of, tree))


def decode(tree: Tree, problems: TomlProblems) -> StudySettings:
    """The settings of a tree whose keys are checked, with the options of all that it names.

    Unknown names and wrong options are reported; the table that has them is then without its options.
    """
    plain = msgspec.convert(without_options(tree), StudySettings)
    return msgspec.structs.replace(
        plain,
        policy=_with_options("policy", plain.policy, tree, problems),
        value=_with_options("value", plain.value, tree, problems),
        reward=_reward_with_options(plain.reward, tree, problems),
        outcomes=plain.outcomes and _with_options("outcomes", plain.outcomes, tree, problems),
    )


def _with_options(table: str, plain: T, tree: Tree, problems: TomlProblems) -> T:
    """A table of the settings with the options of all that it names, defaults filled in."""
    what, registries = NAMING[table]
    before, named = len(problems), msgspec.to_builtins(plain)
    given = {key: value for key, value in tree.get(table, {}).items() if _is_option(table, key, value)}
    configs: dict[str, tuple[type, Tree]] = {}
    for key, registry in registries.items():
        for name in [named[key]] if isinstance(named[key], str) else named[key] or ():
            try:
                configs |= _configs(registry, name)
            except UsageError as error:
                problems.add_key((table, key), str(error))
    for name in [name for name in given if name not in configs]:
        owner = next((registry for registry in registries.values() if name in registry), None)
        if owner is None:
            names = [other for registry in registries.values() for other in registry.names()]
            problems.add_key((table, name), f"no {what}; {did_you_mean(name, names)}")
        elif owner is EVALUATORS:
            problems.add_key((table, name), "not used: the study does not name it as its evaluator")
        else:
            configs[name] = _configs(owner, name).get(name, (NoOptions, {}))
    options = {}
    for name, (kind, defaults) in sorted(configs.items()):
        values = {**defaults, **given.get(name, {})}
        check_table(values, kind, (table, name), problems, partial(_owners_of, tree))
        if len(problems) == before:
            config: Any = msgspec.convert(values, kind)
            every = {key: getattr(config, key) for key in option_names(kind)}
            options[name] = {key: value for key, value in every.items() if value is not None}
    return msgspec.structs.replace(plain, options=options) if len(problems) == before else plain


def _configs(registry: Registry[Any], name: str) -> dict[str, tuple[type, Tree]]:
    """The config of a name with its defaults; of an estimator that combines others, those of its parts."""
    from extrinsic.value.estimator import parts_of

    target = registry.get(name)
    if registry is not ESTIMATORS:
        return {name: (target, {})}
    return {
        part.name: (type(part.settings), msgspec.to_builtins(part.settings))
        for part in parts_of(target)
        if hasattr(part, "settings")
    }


def _reward_with_options(plain: RewardTable, tree: Tree, problems: TomlProblems) -> RewardTable:
    """The reward with the options that are set: what it leaves out stays the domain's choice."""
    given = tree.get("reward", {}).items()
    options = {key: value for key, value in given if _is_option("reward", key, value)}
    try:
        config = REWARDS.get(plain.kind)
    except UsageError as error:
        problems.add_key(("reward", "kind"), str(error))
        return plain
    check_table(options, config, ("reward",), problems, partial(_owners_of, tree))
    if not plain.fills:
        problems.add_key("reward.fill", "at least one fill rule is needed")
    return msgspec.structs.replace(plain, options=options)


def _owners_of(tree: Tree, keys: tuple[str | int, ...]) -> str | None:
    """Whose option an unknown key is: of `policy.ridge` the learner whose table it goes into."""
    table, names, key = str(keys[0]), list(map(str, keys[1:-1])), str(keys[-1])
    if table == "reward":
        names, registries = [tree["reward"].get("kind", RewardTable().kind)], [REWARDS]
    else:
        registries = list(NAMING[table][1].values()) if table in NAMING else []
        if names:
            registries = [registry for registry in registries if names[0] in registry][:1]
    owners = [
        owner
        for registry in registries
        for owner in registry.names()
        if key in _options_of(registry, owner) and owner not in names
    ]
    if not owners:
        return None
    listed = ", ".join(owners)
    if names:
        return f"{names[0]} has no such option; {listed} {'has' if len(owners) == 1 else 'have'}"
    learners = tree[table].get("learner", PolicyTable().learner_names)
    used = [name for name in owners if name in learners] or owners
    return f"an option of {listed}: write it into [{table}.{used[0] if len(used) == 1 else '<name>'}]"


def _options_of(registry: Registry[Any], name: str) -> tuple[str, ...]:
    target = registry.get(name)
    return option_names(getattr(target, "settings", None) if registry is ESTIMATORS else target)


def set_key(tree: Tree, dotted: str, value: Any, problems: TomlProblems) -> None:
    """Set a key of a tree, making tables on the way; a part that is not a table is reported."""
    *parts, last = (part.strip() for part in dotted.split("."))
    table = tree
    for part in parts:
        below = table.setdefault(part, {})
        if not isinstance(below, dict):
            problems.add(f"key {dotted}: {part!r} is not a table")
            return
        table = below
    table[last] = value


def tree_of(settings: StudySettings) -> Tree:
    """The settings as a file has them: without keys that have no value, and tables that have no key."""
    tree = msgspec.to_builtins(settings)
    for name in KEYS:
        if tree[name] is not None:
            tree[name] |= tree[name].pop("options")
    return _filled(tree)


def _filled(tree: Tree) -> Tree:
    values = {key: _filled(value) if isinstance(value, dict) else value for key, value in tree.items()}
    return {key: value for key, value in values.items() if value is not None and value != {}}


def settings_text(settings: StudySettings) -> str:
    """A file that makes the same study when it is run."""
    return tomli_w.dumps(tree_of(settings))


def replaced_settings(before: str, settings: StudySettings) -> list[str]:
    """What is set otherwise than in the text of a run's settings: `value.live_dialogs: 1000 -> 200`."""
    # Both as TOML: a list of the file is a tuple of the settings.
    old, new = (dict(_leaves(tomllib.loads(text))) for text in (before, settings_text(settings)))
    return [
        f"{key}: {shortened(_text(old.get(key)), 80)} -> {shortened(_text(new.get(key)), 80)}"
        for key in dict.fromkeys([*old, *new])
        if old.get(key) != new.get(key)
    ]


def _leaves(tree: Tree, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _text(value: Any) -> str:
    return "unset" if value is None else str(value)
