"""Reading a study's settings: the file, changes from the command line, and all checks."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from extrinsic.errors import ExtrinsicError, InputError, Problem, UsageError, shown
from extrinsic.metrics.definition import parse_metric
from extrinsic.plugins import check_plugins, load_plugins, registered_by
from extrinsic.registry import EVALUATORS, METRICS
from extrinsic.study.configuration.choices import (
    Tree,
    gather_options,
    report_strays,
    with_defaults,
    with_estimators,
)
from extrinsic.study.configuration.packaged import find_study
from extrinsic.study.configuration.settings import GridTable, StudySettings
from extrinsic.study.configuration.settings_checks import check_settings, check_tables
from extrinsic.study.configuration.settings_toml import set_key
from extrinsic.toml_files import TomlProblems, check_table, line_of, read_tree

KEY = re.compile(r"(?:line \d+, )?(key ([^\s:\[]+)[^\s:]*: .*)", re.DOTALL)
"""A message about a key of a study's file."""

PATHS = (
    ("simulation", "config"),
    ("corpus", "path"),
    ("corpus", "domain"),
    ("states", "gold"),
    ("outcomes", "file"),
    ("scores", "file"),
    ("trackers", "files", "test"),
    ("trackers", "files", "train"),
)


BeforeImport = Callable[[StudySettings], None]
"""Called before the plugins of a study are imported, if it has any."""


def read_study(
    path: str | Path, changes: Sequence[str] = (), before_import: BeforeImport = lambda settings: None
) -> StudySettings:
    """The settings of a file, or of a study of the package (`quick`), with changes `a.b=c` on top.

    Paths are made absolute. A path may hold ${NAME} or ${NAME:-instead}; a relative one starts at the file's
    own folder.
    """
    return _read(path, changes, before_import, has_grid=False)


def read_policies(
    path: str | Path, changes: Sequence[str] = (), before_import: BeforeImport = lambda settings: None
) -> StudySettings:
    """The settings of a comparison of policies: those of a study, with a table [grid]."""
    return _read(path, changes, before_import, has_grid=True)


def read_stored(path: str | Path) -> StudySettings:
    """The settings that a run wrote into its directory; no plugin is imported, so names are not looked up."""
    tree, text = read_tree(path)
    problems = TomlProblems(str(path), text)
    settings_tree = _checked(tree, problems)
    problems.raise_errors()
    return msgspec.convert(settings_tree, StudySettings)


@contextmanager
def locate_keys(path: str | Path, changes: Sequence[str] = ()) -> Iterator[None]:
    """Problems with a key name the file and the line, those with a changed key `--set`, others the file."""
    try:
        yield
    except ExtrinsicError as error:
        source = str(path), read_tree(path)[1], changes, isinstance(error, InputError)
        raise type(error)([_located(problem, *source) for problem in error.problems]) from error


def _located(problem: Problem, path: str, text: str, changes: Sequence[str], is_of_input: bool) -> Problem:
    match = KEY.fullmatch(problem.message)
    if problem.path not in (None, path):
        return problem
    if match is None:
        return replace(problem, path=path) if is_of_input else problem
    message, key = match.groups()
    changed = [change.partition("=")[0].strip() for change in changes]
    if any(f"{key}.".startswith(f"{name}.") for name in changed):
        return replace(problem, path="--set", message=message)
    if problem.path is not None:
        return problem
    return replace(problem, path=path, message=f"{line_of(text, tuple(key.split('.')))}, {message}")


def _read(
    study: str | Path, changes: Sequence[str], before_import: BeforeImport, has_grid: bool
) -> StudySettings:
    if not isinstance(study, str | Path):
        raise UsageError(
            "a study is read from a file", expected="its path, or a name of `ls configs`", found=shown(study)
        )
    path, changes = find_study(study), [changes] if isinstance(changes, str) else list(changes)
    with locate_keys(path, changes):
        return _settings(path, changes, before_import, has_grid)


def _settings(
    path: Path, changes: Sequence[str], before_import: BeforeImport, has_grid: bool
) -> StudySettings:
    tree, text = read_tree(path)
    problems = TomlProblems(str(path), text)
    settings_tree = _checked(tree, problems)
    problems.raise_errors()
    if changes:
        mistakes = TomlProblems("--set")
        for change in changes:
            _set(tree, change, mistakes)
        settings_tree = _checked(tree, mistakes)
        mistakes.raise_errors()
    _resolve_paths(settings_tree, path.resolve().parent, problems)
    problems.raise_errors()
    settings = with_estimators(msgspec.convert(settings_tree, StudySettings))
    if has_grid and settings.grid is None:
        settings = msgspec.structs.replace(settings, grid=GridTable())
    elif settings.grid is not None and not has_grid:
        problems.add_key("grid", "goes with `extrinsic policies`, not with a study")
    if settings.plugins:
        # Nobody's code runs for a study that is refused anyway. Names need the plugins, and come later.
        check_tables(settings, problems)
        _check_inputs(settings_tree, problems)
        problems.raise_errors()
        check_plugins(settings.plugins)
        before_import(settings)
        load_plugins(settings.plugins)
        settings = _with_own_metrics(settings)
    settings = _with_evaluator_paths(settings, path.resolve().parent, problems)
    check_settings(settings, problems)
    problems.raise_errors()
    return with_defaults(settings)


def _with_own_metrics(settings: StudySettings) -> StudySettings:
    """Metrics that the study's plugins register are measured without being listed, if they need no value."""
    listed = {name.partition("(")[0] for name in settings.metrics.names}
    own = []
    for name in registered_by(METRICS, settings.plugins):
        if name not in listed:
            with suppress(UsageError):
                parse_metric(name)
                own.append(name)
    metrics = msgspec.structs.replace(settings.metrics, registered=tuple(own))
    return msgspec.structs.replace(settings, metrics=metrics)


def _checked(tree: Tree, problems: TomlProblems) -> Tree:
    """The tree as the settings have it; every key that does not fit them is reported."""
    gathered = report_strays(gather_options(tree), problems)
    check_table(gathered, StudySettings, (), problems)
    return gathered


def _set(tree: Tree, change: str, problems: TomlProblems) -> None:
    """`reward.fill=["argmax"]`: the value as TOML, or else as text."""
    key, equals, value = change.partition("=")
    keys = [part.strip() for part in key.split(".")]
    if not equals or not all(keys) or "\n" in value:
        problems.add("no key and value", expected="table.key=value", found=repr(change))
        return
    try:
        parsed: Any = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value.strip()
    wrong = set_key(tree, key, parsed)
    if wrong is not None:
        problems.add(f"key {key}: {wrong!r} is not a table")


def _resolve_paths(tree: Tree, folder: Path, problems: TomlProblems) -> None:
    for keys, table in _tables_of_paths(tree):
        table[keys[-1]] = _absolute(table[keys[-1]], folder, keys, problems)
    if isinstance(tree.get("plugins"), list):
        tree["plugins"] = [_absolute(file, folder, ("plugins",), problems) for file in tree["plugins"]]
    states = tree.get("states", {})
    if isinstance(states.get("files"), list):
        patterns = [_absolute(file, folder, ("states", "files"), problems) for file in states["files"]]
        states["files"] = [
            name for pattern in patterns for name in _expanded(pattern, ("states", "files"), problems)
        ]
    rule = states.get("normalise")
    if isinstance(rule, str) and rule.endswith(".toml"):
        states["normalise"] = _absolute(rule, folder, ("states", "normalise"), problems)


def _tables_of_paths(tree: Tree) -> Iterator[tuple[tuple[str, ...], Tree]]:
    """The keys of every path that is given, and the table that holds the last of them."""
    for keys in PATHS:
        table: Any = tree
        for key in keys[:-1]:
            table = table.get(key, {}) if isinstance(table, dict) else {}
        value = table.get(keys[-1])
        built_in_domain = keys == ("corpus", "domain") and not str(value).endswith(".toml")
        if isinstance(value, str) and not built_in_domain:
            yield keys, table


def _check_inputs(tree: Tree, problems: TomlProblems) -> None:
    """Report what is missing; the files of trackers are not known before the trackers are."""
    for keys, table in _tables_of_paths(tree):
        path = table[keys[-1]]
        if "{" not in path and not os.path.exists(path):  # noqa: PTH110 - Path's raises for long names
            problems.add("there is no such file", path=path)


def _with_evaluator_paths(settings: StudySettings, folder: Path, problems: TomlProblems) -> StudySettings:
    """The options of an evaluator that are paths, made absolute; which they are it says itself."""
    table = settings.outcomes
    if table is None or table.evaluator not in EVALUATORS or table.evaluator not in table.tables:
        return settings
    options = dict(table.tables[table.evaluator])
    for key in getattr(EVALUATORS.get(table.evaluator), "paths", ()):
        keys, value = ("outcomes", table.evaluator, key), options.get(key)
        if isinstance(value, str):
            options[key] = _absolute(value, folder, keys, problems)
        elif isinstance(value, tuple):
            patterns = [_absolute(file, folder, keys, problems) for file in value]
            options[key] = tuple(name for pattern in patterns for name in _expanded(pattern, keys, problems))
    tables = table.tables | {table.evaluator: options}
    return msgspec.structs.replace(settings, outcomes=msgspec.structs.replace(table, tables=tables))


VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?::-(?P<instead>[^}]*))?\}")


def _absolute(value: str, folder: Path, keys: tuple[str, ...], problems: TomlProblems) -> str:
    def replaced(match: re.Match[str]) -> str:
        value = os.environ.get(match["name"]) or match["instead"]
        if not value:
            problems.add_key(keys, f"the environment variable {match['name']} is not set")
        return value or ""

    return os.path.normpath(folder / VARIABLE.sub(replaced, value))


def _expanded(pattern: str, keys: tuple[str, ...], problems: TomlProblems) -> list[str]:
    """The files of a pattern with *, in order of name."""
    if "*" not in pattern:
        return [pattern]
    path = Path(pattern)
    matches = sorted(str(match) for match in path.parent.glob(path.name))
    if not matches:
        problems.add_key(keys, "no file matches", found=pattern)
    return matches
