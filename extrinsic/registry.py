"""Registries of everything that can be replaced: formats, metrics, trackers, learners, rewards, worlds, ...

A name is registered with its target, or with a lazy `module:attribute`, and a one-line summary, so that
listing the entries imports nothing. Installed packages add their own through entry points:

    [project.entry-points."extrinsic.metrics"]
    my_metric = "my_package.my_metric:METRIC"
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, is_dataclass, replace
from importlib import import_module
from typing import Any, Generic, TypeVar

from extrinsic.errors import UsageError, did_you_mean

T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    """A registered name: its target (an object, or text `module:attribute`) and one line about it.

    title: what people call it; empty where that is its name.
    """

    name: str
    target: Any
    summary: str
    title: str = ""


@dataclass(eq=False)
class Registry(Generic[T]):
    """The registered names of one kind of component.

    `home` is the package whose import registers those that come with extrinsic; `group` is the
    entry-point group that plugins use. Both are loaded when a name is first looked up.
    `parts` names the attributes every target must have; one tuple for each kind of target.
    `configs`: targets are classes whose fields are the options of a study, dataclasses or structs.
    `forms`: the function that makes a target from a printed form with parameters, `name(key=value)`.
    """

    kind: str
    group: str
    home: str | None = None
    parts: tuple[tuple[str, ...], ...] = ()
    configs: bool = False
    forms: str | None = None
    _entries: dict[str, Entry] = field(default_factory=dict)
    _complete: bool = False

    def register(self, name: str, target: T | str, summary: str, title: str = "") -> None:
        """Add a name; it must be new, and its target must have every part of the protocol."""
        # Built-in names come first, so that a clash is reported where the new one is registered.
        if self.home and self.home not in sys.modules:
            import_module(self.home)
        entry = Entry(name, target, summary, title)
        if not isinstance(target, str):
            self._require_parts(entry)
        self._add(self._entries, entry)

    def _require_parts(self, entry: Entry) -> None:
        """Refuse a target that lacks a part of the protocol; of several protocols, the closest counts."""
        target = entry.target
        is_struct = is_dataclass(target) or hasattr(target, "__struct_fields__")
        if self.configs and not (isinstance(target, type) and is_struct):
            raise UsageError(
                f"the {self.kind} {entry.name!r} cannot be given options",
                expected="a dataclass or msgspec.Struct, the class itself",
                found=repr(entry.target),
            )
        missing = [[part for part in parts if not _has(entry.target, part)] for parts in self.parts]
        lacking = min(missing, key=len, default=[])
        if lacking:
            raise UsageError(
                f"the {self.kind} {entry.name!r} lacks {', '.join(lacking)}",
                expected=" or ".join(", ".join(parts) for parts in self.parts),
                found=repr(entry.target),
            )

    def _add(self, entries: dict[str, Entry], entry: Entry) -> None:
        first = entries.setdefault(entry.name, entry)
        if first is not entry:
            raise UsageError(
                f"the {self.kind} {entry.name!r} is registered twice: {first.target!r} and {entry.target!r}"
            )

    def unregister(self, name: str) -> None:
        """Remove a name (for tests and notebooks that define it again)."""
        self._entries.pop(name, None)

    def entries(self) -> list[Entry]:
        """All entries, plugins included, in order of name."""
        self._complete_entries()
        return [self._entries[name] for name in sorted(self._entries)]

    def names(self) -> list[str]:
        return [entry.name for entry in self.entries()]

    def about(self, name: str) -> Entry | None:
        """The entry of a name, without importing its target."""
        self._complete_entries()
        return self._entries.get(name)

    def __contains__(self, name: object) -> bool:
        return name in self.names()

    def get(self, name: str) -> T:
        """The target of a name, imported now if it was lazy; or of a printed form with parameters."""
        self._complete_entries()
        entry = self._entries.get(name)
        if entry is None and self.forms is not None and "(" in name:
            made: T = self._load(Entry(name, self.forms, ""))(name)
            return made
        if entry is None:
            raise UsageError(f"there is no {self.kind} {name!r}; {did_you_mean(name, self._entries)}")
        if isinstance(entry.target, str):
            entry = replace(entry, target=self._load(entry))
            self._require_parts(entry)
            self._entries[name] = entry
        target: T = entry.target
        return target

    def imported(self) -> Iterator[tuple[str, T]]:
        """Names with their targets, of those whose module is imported already; imports nothing."""
        for entry in self.entries():
            if not isinstance(entry.target, str) or entry.target.partition(":")[0] in sys.modules:
                yield entry.name, self.get(entry.name)

    def _load(self, entry: Entry) -> Any:
        from importlib.metadata import EntryPoint

        try:
            return EntryPoint(entry.name, entry.target, self.group).load()
        except Exception as error:  # a plugin's import may raise anything
            raise UsageError(
                f"the {self.kind} {entry.name!r} cannot be loaded from {entry.target!r}{_place(error)}: "
                f"{type(error).__name__}: {error}"
            ) from error

    def _complete_entries(self) -> None:
        if self._complete:
            return
        from importlib.metadata import entry_points

        if self.home:
            import_module(self.home)
        # All plugins or none: a clash must be reported again at the next lookup.
        complete = dict(self._entries)
        for point in entry_points(group=self.group):
            package = point.dist.name if point.dist else "an installed package"
            self._add(complete, Entry(point.name, point.value, f"from {package}"))
        self._entries = complete
        self._complete = True


def _place(error: Exception) -> str:
    """The line of a plugin at which its import failed, if it got as far as a line."""
    import traceback

    if isinstance(error, SyntaxError):
        return f" at line {error.lineno} of {error.filename}"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename != __file__ and "importlib" not in frame.filename
    ]
    return f" at line {frames[0].lineno} of {frames[0].filename}" if frames else ""


def _has(target: Any, part: str) -> bool:
    """Of a class, what its instances have: every class can be called, which says nothing of them."""
    if isinstance(target, type):
        return any(part in vars(base) for base in target.__mro__)
    return hasattr(target, part)


FORMATS: Registry[Any] = Registry(
    "format",
    "extrinsic.formats",
    "extrinsic.corpus.formats",
    (("name", "read_corpus", "read_tracker", "conventions", "default_domain"), ("name", "read")),
)
METRICS: Registry[Any] = Registry(
    "metric", "extrinsic.metrics", "extrinsic.metrics", forms="extrinsic.metrics.definition:parse_metric"
)
TRACKERS: Registry[Any] = Registry(
    "tracker",
    "extrinsic.trackers",
    "extrinsic.trackers",
    forms="extrinsic.trackers.populations:tracker_of_form",
)
BLOCKS: Registry[Any] = Registry(
    "feature block", "extrinsic.blocks", "extrinsic.policy.features", (("columns", "discrete"),)
)
FEATURES: Registry[Any] = Registry("feature map", "extrinsic.features", "extrinsic.policy.features")
BEHAVIOURS: Registry[Any] = Registry(
    "behaviour model", "extrinsic.behaviours", "extrinsic.policy", (("fit", "cross_fitted"),), configs=True
)
LEARNERS: Registry[Any] = Registry(
    "learner", "extrinsic.learners", "extrinsic.policy", (("fit",),), configs=True
)
REWARDS: Registry[Any] = Registry(
    "reward", "extrinsic.rewards", "extrinsic.policy", (("__call__",),), configs=True
)
ESTIMATORS: Registry[Any] = Registry(
    "estimator",
    "extrinsic.estimators",
    "extrinsic.value",
    (("name", "estimate", "needs", "resampled_over"),),
)
WORLDS: Registry[Any] = Registry(
    "world",
    "extrinsic.worlds",
    "extrinsic.simulation",
    (("read",), ("domain", "begin", "possible", "act", "outcome")),
)
EVALUATORS: Registry[Any] = Registry(
    "evaluator", "extrinsic.evaluators", "extrinsic.outcomes", (("prepare", "outcomes"),), configs=True
)
