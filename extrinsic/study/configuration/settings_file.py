"""Reading a study's settings: the file, changes from the command line, and all checks."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from extrinsic.errors import InputError, Problems
from extrinsic.plugins import load_plugins
from extrinsic.study.configuration.choices import Tree, gather_options, report_strays, with_defaults
from extrinsic.study.configuration.overrides import set_key
from extrinsic.study.configuration.settings import GridTable, StudySettings
from extrinsic.study.configuration.settings_checks import check_settings
from extrinsic.toml_files import check_tree, read_tree, report_key

PATHS = (
    ("simulation", "config"),
    ("corpus", "path"),
    ("corpus", "domain"),
    ("states", "gold"),
    ("outcomes", "file"),
    ("trackers", "files", "test"),
    ("trackers", "files", "train"),
)


def read_study(path: str | Path, changes: Sequence[str] = ()) -> StudySettings:
    """The settings of a file with changes `a.b=c` on top; paths are made absolute.

    A path may hold ${NAME} or ${NAME:-instead}; a relative one starts at the file's own folder.
    """
    return _read(path, changes, has_grid=False)


def read_policies(path: str | Path, changes: Sequence[str] = ()) -> StudySettings:
    """The settings of a comparison of policies: those of a study, with a table [grid]."""
    return _read(path, changes, has_grid=True)


def _read(path: str | Path, changes: Sequence[str], has_grid: bool) -> StudySettings:
    tree, text = read_tree(path)
    problems = Problems(str(path))
    settings_tree = _checked(tree, text, str(path), problems)
    problems.raise_errors()
    if changes:
        mistakes = Problems("--set")
        for change in changes:
            _set(tree, change, mistakes)
        settings_tree = _checked(tree, "", "--set", mistakes)
        mistakes.raise_errors()
    _resolve_paths(settings_tree, Path(path).resolve().parent, text, problems)
    problems.raise_errors()
    settings = msgspec.convert(settings_tree, StudySettings)
    if has_grid and settings.grid is None:
        settings = msgspec.structs.replace(settings, grid=GridTable())
    elif settings.grid is not None and not has_grid:
        report_key(problems, text, ("grid",), "goes with `extrinsic policies`, not with a study")
    load_plugins(settings.plugins)
    check_settings(settings, text, problems)
    problems.raise_errors()
    return with_defaults(settings)


def _checked(tree: Tree, text: str, path: str, problems: Problems) -> Tree:
    """The tree as the settings have it; every key that does not fit them is reported."""
    gathered = report_strays(gather_options(tree), text, problems)
    try:
        check_tree(gathered, StudySettings, text, path)
    except InputError as error:
        problems.extend(error.problems)
    return gathered


def _set(tree: Tree, change: str, problems: Problems) -> None:
    """`reward.fill=["argmax"]`: the value as TOML, or else as text."""
    key, equals, value = change.partition("=")
    keys = [part.strip() for part in key.split(".")]
    if not equals or not all(keys) or "\n" in value:
        problems.add("--set takes a.b=c", path=None, expected="table.key=value", found=repr(change))
        return
    try:
        parsed: Any = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value.strip()
    wrong = set_key(tree, key, parsed)
    if wrong is not None:
        problems.add(f"key {key}: {wrong!r} is not a table")


def _resolve_paths(tree: Tree, folder: Path, text: str, problems: Problems) -> None:
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
        value = os.environ.get(match["name"]) or match["instead"]
        if not value:
            report_key(problems, text, keys, f"the environment variable {match['name']} is not set")
        return value or ""

    return os.path.normpath(folder / VARIABLE.sub(replaced, value))


def _expanded(pattern: str, text: str, problems: Problems) -> list[str]:
    """The files of a pattern with *, in order of name."""
    if "*" not in pattern:
        return [pattern]
    path = Path(pattern)
    matches = sorted(str(match) for match in path.parent.glob(path.name))
    if not matches:
        report_key(problems, text, ("states", "files"), "no file matches", found=pattern)
    return matches
