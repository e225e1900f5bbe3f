"""Settings as TOML again: with all defaults filled in, or one changed by its dotted name, as `--set` does."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

import msgspec
import tomli_w

from extrinsic.errors import InputError, Problems, shortened
from extrinsic.study.configuration.choices import (
    Tree,
    check_choices,
    gather_options,
    spread_options,
    with_defaults,
)
from extrinsic.study.configuration.settings import Option, StudySettings
from extrinsic.toml_files import TomlProblems, check_tree

VARIED_TABLES = ("policy", "reward", "value")
NOT_VARIED = ("policy.policies", "reward.fill", "value.estimators")
"""Keys that decide which targets and variants a study has."""


def set_key(tree: Tree, dotted: str, value: Any) -> str | None:
    """Set a key of a tree, making tables on the way; returns the part that is not a table, if any."""
    *parts, last = (part.strip() for part in dotted.split("."))
    table = tree
    for part in parts:
        below = table.setdefault(part, {})
        if not isinstance(below, dict):
            return part
        table = below
    table[last] = value
    return None


def with_override(settings: StudySettings, dotted: str, value: Option) -> StudySettings:
    """The settings with one key changed; raises InputError if they are not valid."""
    tree = spread_options(msgspec.to_builtins(settings))
    if dotted.split(".")[0] not in VARIED_TABLES or dotted in NOT_VARIED:
        names = ", ".join(f"[{table}]" for table in VARIED_TABLES)
        raise InputError(
            f"{dotted} cannot be varied", expected=f"a key of {names}, except {', '.join(NOT_VARIED)}"
        )
    wrong = set_key(tree, dotted, value)
    if wrong is not None:
        raise InputError(f"key {dotted}: {wrong!r} is not a table")
    tree = gather_options(tree)
    check_tree(_filled(tree), StudySettings, "", "")
    return msgspec.convert(tree, StudySettings)


def check_overrides(settings: StudySettings, problems: Problems) -> dict[tuple[str, str], StudySettings]:
    """The settings of every variation, by key and value as text; invalid ones are reported."""
    varied: dict[tuple[str, str], StudySettings] = {}
    for dotted, values in settings.sensitivity.vary.items():
        for value in values:
            mistakes = TomlProblems()
            try:
                changed = with_override(settings, dotted, value)
                check_choices(changed, mistakes)
                if not mistakes.has_errors:
                    varied[dotted, text_of(value)] = with_defaults(changed)
            except InputError as error:
                mistakes.extend(error.problems)
            for problem in mistakes:
                problems.add(f'key sensitivity.vary."{dotted}": {problem}')
    return varied


def text_of(value: Option) -> str:
    """A value as it is written in tables and names of variants."""
    if isinstance(value, tuple):
        return "+".join(value)
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def settings_text(settings: StudySettings) -> str:
    """A file that makes the same study when it is run."""
    return tomli_w.dumps(_filled(spread_options(msgspec.to_builtins(settings))))


def _filled(tree: Tree) -> Tree:
    """The tree without keys that have no value, as TOML has no null, and without tables that have no key."""
    values = {key: _filled(value) if isinstance(value, dict) else value for key, value in tree.items()}
    return {key: value for key, value in values.items() if value is not None and value != {}}


def replaced_settings(before: str, settings: StudySettings) -> list[str]:
    """What is set otherwise than in the text of a run's settings: `value.live_dialogs: 1000 -> 200`."""
    old, new = dict(_leaves(tomllib.loads(before))), dict(_leaves(tomllib.loads(settings_text(settings))))
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
