"""Reading a study's settings: the file, what the command line sets on top, and what makes no sense."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from extrinsic.errors import InputError, Problems
from extrinsic.study.configuration.plugins import load_plugins
from extrinsic.study.configuration.settings import StudySettings
from extrinsic.study.configuration.settings_checks import check_settings
from extrinsic.toml_files import check_tree, read_tree, report_key

PATHS = (
    ("simulation", "config"),
    ("corpus", "path"),
    ("corpus", "domain"),
    ("outcomes", "file"),
    ("trackers", "files", "test"),
    ("trackers", "files", "train"),
)


def read_study(path: str | Path, changes: Sequence[str] = ()) -> StudySettings:
    """The settings of a file with changes `a.b=c` on top; paths are made absolute.

    A path may hold ${NAME} or ${NAME:-instead}; a relative one starts at the file's own folder.
    """
    tree, text = read_tree(path)
    check_tree(tree, StudySettings, text, str(path))
    if changes:
        mistakes = Problems("--set")
        for change in changes:
            _set(tree, change, mistakes)
        try:
            check_tree(tree, StudySettings, "", "--set")
        except InputError as error:
            mistakes.extend(error.problems)
        mistakes.raise_errors()
    problems = Problems(str(path))
    _resolve_paths(tree, Path(path).resolve().parent, text, problems)
    problems.raise_errors()
    settings = msgspec.convert(tree, StudySettings)
    load_plugins(settings.plugins)
    check_settings(settings, text, problems)
    problems.raise_errors()
    return settings


def _set(tree: dict[str, Any], change: str, problems: Problems) -> None:
    """`reward.fill=["argmax"]`: the value as TOML has it, or else as text."""
    key, equals, value = change.partition("=")
    keys = [part.strip() for part in key.split(".")]
    if not equals or not all(keys) or "\n" in value:
        problems.add("--set takes a.b=c", path=None, expected="table.key=value", found=repr(change))
        return
    try:
        parsed: Any = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value.strip()
    table = tree
    for part in keys[:-1]:
        below = table.setdefault(part, {})
        if not isinstance(below, dict):
            problems.add(f"key {key}: {part!r} is not a table")
            return
        table = below
    table[keys[-1]] = parsed


def _resolve_paths(tree: dict[str, Any], folder: Path, text: str, problems: Problems) -> None:
    for keys in PATHS:
        table: Any = tree
        for key in keys[:-1]:
            table = table.get(key, {}) if isinstance(table, dict) else {}
        value = table.get(keys[-1])
        built_in_domain = keys == ("corpus", "domain") and not str(value).endswith(".toml")
        if isinstance(value, str) and not built_in_domain:
            table[keys[-1]] = _absolute(value, folder, text, keys, problems)
    if isinstance(tree.get("plugins"), list):
        tree["plugins"] = [_absolute(file, folder, text, ("plugins",), problems) for file in tree["plugins"]]
    states = tree.get("states", {})
    if isinstance(states.get("files"), list):
        patterns = [_absolute(file, folder, text, ("states", "files"), problems) for file in states["files"]]
        states["files"] = [name for pattern in patterns for name in _expanded(pattern, text, problems)]


VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?::-(?P<instead>[^}]*))?\}")


def _absolute(value: str, folder: Path, text: str, keys: tuple[str, ...], problems: Problems) -> str:
    def replaced(match: re.Match[str]) -> str:
        found = os.environ.get(match["name"]) or match["instead"]
        if not found:
            report_key(problems, text, keys, f"the environment variable {match['name']} is not set")
        return found or ""

    return os.path.normpath(folder / VARIABLE.sub(replaced, value))


def _expanded(pattern: str, text: str, problems: Problems) -> list[str]:
    """The files of a pattern with *, in order of name."""
    if "*" not in pattern:
        return [pattern]
    place = Path(pattern)
    found = sorted(str(path) for path in place.parent.glob(place.name))
    if not found:
        report_key(problems, text, ("states", "files"), "no file is called like this", found=pattern)
    return found
