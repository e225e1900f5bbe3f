"""Settings as TOML again, with everything that was left open filled in."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from extrinsic.study.configuration.settings import StudySettings


def settings_text(settings: StudySettings) -> str:
    """A file that makes the same study when it is run."""
    tree = msgspec.to_builtins(settings)
    return "\n".join(_table(tree, ())).strip() + "\n"


def _table(tree: dict[str, Any], path: tuple[str, ...]) -> list[str]:
    own = {key: value for key, value in tree.items() if value is not None and not isinstance(value, dict)}
    below = {key: value for key, value in tree.items() if isinstance(value, dict) and value}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in own.items()]
    if path and (lines or not below):
        lines = ["", f"[{'.'.join(map(_key, path))}]", *lines]
    for key, value in below.items():
        lines += _table(value, (*path, key))
    return lines


def _key(key: str) -> str:
    bare = key.replace("_", "").replace("-", "")
    return key if bare.isascii() and bare.isalnum() else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # TOML's basic strings escape what JSON's do, and one character more.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)
