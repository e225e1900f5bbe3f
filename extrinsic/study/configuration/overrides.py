"""One setting of a study changed by its dotted name, as `--set` and [sensitivity] do."""

from __future__ import annotations

from typing import Any

import msgspec

from extrinsic.errors import InputError, Problems
from extrinsic.study.configuration.choices import (
    Tree,
    check_choices,
    gather_options,
    spread_options,
    with_defaults,
)
from extrinsic.study.configuration.settings import Option, StudySettings
from extrinsic.toml_files import check_tree

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
    # Unset keys stay unset: TOML has no null.
    check_tree(_without_nulls(tree), StudySettings, "", "")
    return msgspec.convert(tree, StudySettings)


def check_overrides(settings: StudySettings, problems: Problems) -> dict[tuple[str, str], StudySettings]:
    """The settings of every variation, by key and value as text; invalid ones are reported."""
    varied: dict[tuple[str, str], StudySettings] = {}
    for dotted, values in settings.sensitivity.vary.items():
        for value in values:
            mistakes = Problems()
            try:
                changed = with_override(settings, dotted, value)
                check_choices(changed, "", mistakes)
                if not mistakes.has_errors:
                    varied[dotted, text_of(value)] = with_defaults(changed)
            except InputError as error:
                mistakes.extend(error.problems)
            for problem in mistakes:
                problems.add(f'key sensitivity.vary."{dotted}": {problem}')
    return varied


def text_of(value: Option) -> str:
    """A value as it is written in tables and names of variants."""
    if isinstance(value, bool):
        return str(value).lower()
    return (
        "+".join(value)
        if isinstance(value, tuple)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def _without_nulls(tree: Tree) -> Tree:
    return {
        key: _without_nulls(value) if isinstance(value, dict) else value
        for key, value in tree.items()
        if value is not None
    }
