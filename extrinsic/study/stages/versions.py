"""Versions of what computes a result: its code, found by following imports, and the libraries."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

import extrinsic
from extrinsic import registry
from extrinsic.registry import Registry
from extrinsic.storage import content_hash

LIBRARIES = ("numpy", "scipy", "scikit-learn")
ROOT = Path(extrinsic.__file__).parent

IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<module>[\w.]+)[ \t]+)?import[ \t]+(?P<names>\([^)]*\)|[^\n]*)", re.MULTILINE
)
"""A statement, or a line of a docstring that looks like one: a hundred times as fast as to parse, and it is
done before every run."""


@cache
def code_version(module: str) -> str:
    """A hash of the sources that a module depends on, and of the libraries' versions.

    A result is computed again when code it may depend on has changed, and not when the report's has.
    """
    paths = sorted({path for name in import_closure(module) for path in _files(name)})
    sources = [part for path in paths for part in (str(path.relative_to(ROOT)), path.read_bytes())]
    return content_hash(*sources, *(f"{name} {version(name)}" for name in LIBRARIES))


@cache
def import_closure(module: str) -> frozenset[str]:
    """The modules of this package that a module imports, they import, and so on; itself included.

    Entries of a registry are imported by name when they are used, so a module that imports a registry depends
    on everything in its home.
    """
    reached: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += imported_modules(name)
    return frozenset(reached)


@cache
def imported_modules(module: str) -> tuple[str, ...]:
    """The modules of this package that a module imports itself, at any place of its source."""
    path = _path(module)
    if path is None:
        return ()
    names: list[str] = []
    for statement in IMPORT.finditer(path.read_text(encoding="utf-8")):
        parts = re.sub(r"#.*|[()]", "", statement["names"]).split(",")
        imported = [part.split()[0] for part in parts if part.strip()]
        if statement["module"] is None:
            names += imported
            continue
        names += [statement["module"], *(f"{statement['module']}.{name}" for name in imported)]
        if statement["module"] == registry.__name__:
            names += [part for name in imported for part in _registered(name)]
    # To import a module is to import the packages it lies in.
    parents = module.split(".")[:-1]
    names += [".".join(parents[: depth + 1]) for depth in range(len(parents))]
    return tuple(name for name in names if _path(name) is not None and name != "extrinsic")


def _registered(name: str) -> Iterator[str]:
    """The modules of a registry's home."""
    target = getattr(registry, name, None)
    if isinstance(target, Registry) and target.home is not None:
        home = _path(target.home)
        folder = home.parent if home is not None and home.name == "__init__.py" else None
        for path in folder.rglob("*.py") if folder else ():
            yield _module(path)
        yield target.home


@cache
def _path(module: str) -> Path | None:
    """The source of a module of this package."""
    package, *parts = module.split(".")
    if package != "extrinsic":
        return None
    base = ROOT.joinpath(*parts)
    candidates = (base / "__init__.py", base.parent / f"{base.name}.py")
    return next((path for path in candidates if path.is_file()), None)


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("extrinsic", *(part for part in parts if part != "__init__")))


def _files(module: str) -> list[Path]:
    """The source of a module; of a package also the data beside it."""
    path = _path(module)
    if path is None:
        return []
    return [path, *(path.parent.glob("*.toml") if path.name == "__init__.py" else ())]


def versions() -> dict[str, str]:
    """The versions of everything that a number can depend on."""
    return {
        "extrinsic": extrinsic.__version__,
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }
