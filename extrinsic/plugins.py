"""Plugin files: the user's own formats, trackers, metrics, ... that register themselves when imported.

Every process imports them. Installed packages with entry points need not be named.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from extrinsic.errors import ExtrinsicError, InputError, Problem, Problems
from extrinsic.registry import Registry
from extrinsic.storage import content_hash, read_bytes

_LOADED: dict[str, None] = {}


def load_plugins(paths: Sequence[str]) -> None:
    """Import files, each once in this process."""
    for path in paths:
        name = _module_name(path)
        if name in sys.modules:
            _LOADED[path] = None
            continue
        read_bytes(path)  # raises our own error for a missing file
        specification = importlib.util.spec_from_file_location(name, path)
        if specification is None or specification.loader is None:
            raise InputError("this is not a Python file", path=path, expected="a name that ends in .py")
        module = importlib.util.module_from_spec(specification)
        sys.modules[name] = module
        try:
            specification.loader.exec_module(module)
        except (Exception, SystemExit) as error:  # a plugin may raise anything
            del sys.modules[name]
            raise InputError(_problems(path, error)) from error
        _LOADED[path] = None


def registered_by(registry: Registry[Any], paths: Sequence[str]) -> list[str]:
    """The names that files have registered."""
    modules = {_module_name(path) for path in paths}
    return [
        entry.name
        for entry in registry.entries()
        if getattr(entry.target, "__module__", type(entry.target).__module__) in modules
    ]


def _module_name(path: str) -> str:
    return f"extrinsic_plugin_{content_hash(path)[:16]}"


def check_plugins(paths: Sequence[str]) -> None:
    """Refuse files that are missing or not Python, all of them at once and before any is imported."""
    problems = Problems()
    for path in paths:
        try:
            compile(read_bytes(path), path, "exec", dont_inherit=True)
        except InputError as error:
            problems.extend(error.problems)
        except (SyntaxError, ValueError) as error:  # ValueError: null bytes
            problems.extend(_problems(path, error))
    problems.raise_errors()


def loaded_plugins() -> tuple[str, ...]:
    """The files that this process has imported, in order; worker processes need them too."""
    return tuple(_LOADED)


def problems_of_plugins(paths: Sequence[str], error: Exception) -> tuple[Problem, ...]:
    """The problem of the file in which an exception was raised; none if none of these files was involved."""
    lines = {path: _line(path, error) for path in paths}
    return tuple(
        Problem(f"line {line} raised {type(error).__name__}: {_message(error)}", path=path)
        for path, line in lines.items()
        if line is not None
    )


def _problems(path: str, error: BaseException) -> Iterable[Problem]:
    """The problems that an import error reports, with the line of the file."""
    line = _line(path, error)
    location = "the file cannot be imported" if line is None else f"line {line} cannot be executed"
    if not isinstance(error, ExtrinsicError):
        return [Problem(f"{location}: {type(error).__name__}: {_message(error)}", path=path)]
    return [
        replace(problem, message=f"{location}: {problem.message}", path=path)
        if problem.path is None
        else Problem(f"{location}: {problem}", path=path)
        for problem in error.problems
    ]


def _message(error: BaseException) -> str:
    """The error's message, without the file name and line that Python appends to a SyntaxError."""
    return error.msg if isinstance(error, SyntaxError) else str(error)


def _line(path: str, error: BaseException) -> int | None:
    """The last line of the file itself in the traceback: what failed elsewhere was called from there."""
    own_path = Path(path).absolute()
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).absolute() == own_path:
        return error.lineno
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).absolute() == own_path
    ]
    return lines[-1] if lines else None


def hash_of_plugins(paths: Sequence[str]) -> str:
    """A hash of the files' contents; the same file elsewhere is the same plugin."""
    return content_hash(*(read_bytes(path) for path in paths)) if paths else ""


def hash_of_source(*things: Any) -> str:
    """A hash of the source of the foreign modules that define these objects or their members; "" for none."""
    parts = [part for thing in things for part in (thing, *getattr(thing, "__dict__", {}).values())]
    modules = {part.__module__ if callable(part) else type(part).__module__ for part in parts}
    known = {"extrinsic", *sys.stdlib_module_names}
    foreign = sorted(name for name in modules if name.partition(".")[0] not in known)
    if not foreign:
        return ""
    plain = [repr(part) for part in parts if isinstance(part, str | int | tuple)]
    return content_hash(*foreign, *map(_source, foreign), *plain)


def _source(module: str) -> str:
    try:
        return inspect.getsource(sys.modules[module])
    except (KeyError, OSError, TypeError):
        return ""
