"""Reading a study's settings: the file, changes from the command line, and all checks."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from extrinsic.errors import ExtrinsicError, InputError, Problem, UsageError, did_you_mean, shown
from extrinsic.metrics.definition import parse_metric
from extrinsic.plugins import check_plugins, load_plugins, registered_by
from extrinsic.registry import EVALUATORS, METRICS
from extrinsic.study.settings import StudySettings
from extrinsic.study.settings_checks import check_settings, check_tables
from extrinsic.study.settings_tree import Tree, check_keys, decode, set_key, without_options
from extrinsic.typed_files import TomlProblems, line_of, read_tree

KEY = re.compile(r"(?:line \d+, )?(key ([^\s:\[]+)[^\s:]*: .*)", re.DOTALL)
"""A message about a key of a study's file."""

PATHS = (
    ("plugins",),
    ("simulation", "config"),
    ("corpus", "path"),
    ("corpus", "domain"),
    ("states", "files"),
    ("states", "gold"),
    ("states", "normalise"),
    ("outcomes", "file"),
    ("scores", "file"),
    ("trackers", "files", "test"),
    ("trackers", "files", "train"),
)
NAMES_OR_FILES = (("corpus", "domain"), ("states", "normalise"))
"""What is a path only if it ends in .toml."""

ESTIMATED = ("mean_augmented", "fqe_augmented", "lstd")
"""The estimators of a study that names none; where it can be played, live comes first."""


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


def packaged_studies() -> dict[str, Path]:
    """Studies of the package by name: in `extrinsic/configs`, or in `configs` of a clone of it."""
    package = Path(str(files("extrinsic")))
    folders = (package / "configs", package.parent / "configs")
    folder = next((folder for folder in folders if folder.is_dir()), None)
    return {file.stem: file for file in sorted(folder.glob("*.toml"))} if folder else {}


def find_study(name: str | Path) -> Path:
    """A file as it is named; a name that is no file is a study of the package."""
    path = Path(name)
    studies = packaged_studies()
    if isinstance(name, str) and name in studies and not path.is_file():
        return studies[name]
    if path.suffix == ".toml" or path.parent != Path() or path.exists():
        return path
    raise UsageError(
        f"there is no study {str(name)!r}; {did_you_mean(str(name), studies)}",
        expected="a .toml file, or a name of `extrinsic ls configs`",
    )


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
    problems, mistakes = TomlProblems(str(path), text), TomlProblems("--set")
    check_keys(tree, problems)
    problems.raise_errors()
    for change in changes:
        _set(tree, change, mistakes)
    check_keys(tree, mistakes)
    mistakes.raise_errors()
    _resolve_paths(tree, PATHS, path.resolve().parent, problems)
    if has_grid:
        tree.setdefault("grid", {})
    elif "grid" in tree:
        problems.add_key("grid", "goes with `extrinsic policies`, not with a study")
    problems.raise_errors()
    settings = msgspec.convert(without_options(tree), StudySettings)
    if settings.plugins:
        # Nobody's code runs for a study that is refused anyway. Names need the plugins, and come later.
        check_tables(settings, problems)
        _check_inputs(tree, problems)
        problems.raise_errors()
        check_plugins(settings.plugins)
        before_import(settings)
        load_plugins(settings.plugins)
    _resolve_paths(tree, _paths_of_evaluator(settings), path.resolve().parent, problems)
    if not settings.value.estimators and settings.states is None:
        names = ESTIMATED if settings.simulation is None else ("live", *ESTIMATED)
        tree["value"] = {**tree.get("value", {}), "estimators": names}
    settings = _with_own_metrics(decode(tree, problems))
    check_settings(settings, problems)
    problems.raise_errors()
    return settings


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
    set_key(tree, key, parsed, problems)


def _resolve_paths(
    tree: Tree, paths: Iterable[tuple[str, ...]], folder: Path, problems: TomlProblems
) -> None:
    """Make paths absolute, and patterns in lists of paths the files that match."""
    for keys, table in _tables_of_paths(tree, paths):
        value = table[keys[-1]]
        if isinstance(value, str):
            table[keys[-1]] = _absolute(value, folder, keys, problems)
        elif isinstance(value, list) and all(isinstance(file, str) for file in value):
            patterns = [_absolute(file, folder, keys, problems) for file in value]
            table[keys[-1]] = [name for pattern in patterns for name in _expanded(pattern, keys, problems)]


def _tables_of_paths(tree: Tree, paths: Iterable[tuple[str, ...]]) -> Iterator[tuple[tuple[str, ...], Tree]]:
    """The keys of every path that is given, and the table that holds the last of them."""
    for keys in paths:
        table: Any = tree
        for key in keys[:-1]:
            table = table.get(key, {}) if isinstance(table, dict) else {}
        has_built_in = keys in NAMES_OR_FILES and not str(table.get(keys[-1])).endswith(".toml")
        if keys[-1] in table and not has_built_in:
            yield keys, table


def _paths_of_evaluator(settings: StudySettings) -> list[tuple[str, ...]]:
    """The options of the evaluator that are paths; which they are it says itself."""
    name = settings.outcomes.evaluator_name if settings.outcomes else None
    if name is None or name not in EVALUATORS:
        return []
    return [("outcomes", name, key) for key in getattr(EVALUATORS.get(name), "paths", ())]


def _check_inputs(tree: Tree, problems: TomlProblems) -> None:
    """Report what is missing; the files of trackers are not known before the trackers are."""
    for keys, table in _tables_of_paths(tree, PATHS):
        path = table[keys[-1]]
        is_named = isinstance(path, str) and "{" not in path
        if is_named and not os.path.exists(path):  # noqa: PTH110 - Path's raises for long names
            problems.add("there is no such file", path=path)


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
