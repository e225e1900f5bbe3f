"""Settings as TOML again, with all defaults filled in."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

import msgspec
import tomli_w

from extrinsic.errors import shortened
from extrinsic.study.configuration.choices import Tree, spread_options
from extrinsic.study.configuration.settings import StudySettings


def settings_text(settings: StudySettings) -> str:
    """A file that makes the same study when it is run."""
    return tomli_w.dumps(_filled(spread_options(msgspec.to_builtins(settings))))


def _filled(tree: Tree) -> Tree:
    """The tree without keys that have no value, and without tables that have no key."""
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
