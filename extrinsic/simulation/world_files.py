"""Settings files of worlds: one seed, a common world, and datasets and splits that differ from it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Protocol, Self, TypeVar

import msgspec

from extrinsic.corpus.tracking import Tracker
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.drawn_worlds import Properties, is_drawn, read_drawn, settings_of
from extrinsic.simulation.play import Play, play
from extrinsic.simulation.settings import Count
from extrinsic.simulation.world import LockstepWorld, Policy
from extrinsic.storage import content_hash, encode_json, read_bytes
from extrinsic.toml_files import TomlProblems, check_tree, read_tree


class SettledWorld(LockstepWorld, Protocol):
    """A world of settings, with the expert whose calls a dataset holds."""

    def policy(self) -> Policy: ...
    def tracker(self) -> Tracker: ...


W = TypeVar("W", bound=Any)
SEED, DIALOGS = 2014, 100


class FileSimulation(msgspec.Struct, Generic[W], frozen=True, dict=True):
    """A settings file with everything resolved: per dataset and split its world and its size.

    A kind of world is a subclass with two methods: where its embedded file is, and how a file is read; and
    with the properties that worlds can be drawn by.
    """

    properties: ClassVar[Properties] = {}

    seed: int
    worlds: dict[str, dict[str, W]]
    dialogs: dict[str, dict[str, int]]

    @staticmethod
    def embedded() -> Path:
        """The kind's own file."""
        raise NotImplementedError

    @classmethod
    def of_file(cls, path: str | Path) -> Self:
        """Read a file, or raise InputError with every mistake in it."""
        raise NotImplementedError

    @classmethod
    def read(cls, config: str | None = None, seed: int | None = None) -> Self:
        """The simulation of a file (the embedded one by default), with another seed if given."""
        path = str(cls.embedded()) if config is None else config
        simulation: Self = _read_once(cls, path, content_hash(read_bytes(path)), seed)
        return simulation

    @staticmethod
    def check(world: Any, report: Callable[[str], None]) -> None:
        """Report settings of a world that do not fit together."""

    def world(self, dataset: str, split: str = "test") -> W:
        self.require(dataset, split)
        if is_drawn(dataset):
            return self._drawn_world(dataset, split)
        return self.worlds[dataset][split]

    def _drawn_world(self, dataset: str, split: str) -> W:
        base, chosen = read_drawn(dataset, self.properties)
        tree = msgspec.to_builtins(self.worlds[base][split])
        for settings in settings_of(chosen, self.properties):
            tree = _merged(tree, settings)
        world: W = msgspec.convert(tree, type(self.worlds[base][split]))

        def refuse(message: str) -> None:
            raise UsageError(f"there is no world {dataset!r}: {message}")

        self.check(world, refuse)
        return world

    def n_dialogs(self, dataset: str, split: str) -> int:
        """How many dialogs a split has; of a drawn world as many as of the one that it is drawn around."""
        return self.dialogs[read_drawn(dataset, self.properties)[0] if is_drawn(dataset) else dataset][split]

    def require(self, dataset: str, split: str) -> None:
        if is_drawn(dataset):
            dataset, _ = read_drawn(dataset, self.properties)
        if dataset not in self.worlds:
            raise UsageError(f"there is no dataset {dataset!r}; {did_you_mean(dataset, self.worlds)}")
        if split not in self.worlds[dataset]:
            splits = self.worlds[dataset]
            raise UsageError(f"dataset {dataset!r} has no split {split!r}; {did_you_mean(split, splits)}")

    def corpora(self) -> list[tuple[str, str]]:
        """Every (dataset, split)."""
        return [(dataset, split) for dataset, splits in self.worlds.items() for split in splits]

    def simulate(self, dataset: str, split: str) -> Play:
        """The expert's dialogs; dialog i does not depend on their number or on other splits."""
        world: SettledWorld = self.world(dataset, split)
        n_dialogs = self.n_dialogs(dataset, split)
        chance = Chance.of(n_dialogs, self.seed, dataset, split)
        name = f"{dataset}_{split}"
        return play(world.policy(), world.tracker(), n_dialogs, chance, world, dataset=name)

    def identity(self, dataset: str, split: str) -> str:
        self.require(dataset, split)
        return content_hash("simulated", self.hash, dataset, split)

    def plain(self) -> Any:
        return plain(self)

    @cached_property
    def hash(self) -> str:
        return content_hash("simulation", encode_json(self.plain()))


@lru_cache(maxsize=8)
def _read_once(kind: Any, path: str, contents: str, seed: int | None) -> Any:
    """`of_file`, cached: it takes a tenth of a second and every stage of a study calls it."""
    simulation = kind.of_file(path)
    return simulation if seed is None else msgspec.structs.replace(simulation, seed=seed)


Check = Callable[[Any, Callable[[str], None]], None]
"""(world, report): reports settings of a world that do not fit together."""


def read_worlds(
    path: str | Path, kind: type[Any], check: Check
) -> tuple[int, dict[str, dict[str, Any]], dict[str, dict[str, int]]]:
    """The seed of a file, and per dataset and split the world, of a kind of settings, and its size."""
    tree, text = read_tree(path)
    check_tree(tree, _form_of_file(kind), text, str(path))
    problems = TomlProblems(str(path), text)
    common = tree.get("world", {})
    worlds: dict[str, dict[str, Any]] = {}
    dialogs: dict[str, dict[str, int]] = {}
    for name, dataset in tree.get("datasets", {}).items():
        own = {key: value for key, value in dataset.items() if key != "splits"}
        worlds[name], dialogs[name] = {}, {}
        for split, table in dataset.get("splits", {}).items():
            dialogs[name][split] = table.get("dialogs", DIALOGS)
            differs = {key: value for key, value in table.items() if key != "dialogs"}
            worlds[name][split] = msgspec.convert(_merged(_merged(common, own), differs), kind)
            keys = ("datasets", name, "splits", split)
            check(worlds[name][split], lambda message, at=keys: problems.add_key(at, message))  # type: ignore[misc]
    _check_names(worlds, problems)
    problems.raise_errors()
    if not any(worlds.values()):
        raise UsageError(
            "the configuration has no dataset with a split, so there is nothing to simulate", path=str(path)
        )
    return tree.get("seed", SEED), worlds, dialogs


def _form_of_file(kind: type[Any]) -> type[msgspec.Struct]:
    """The tables of a file: a dataset has what a world has, and its splits; a split a number of dialogs."""
    form: dict[str, Any] = {"frozen": True, "forbid_unknown_fields": True}
    split = msgspec.defstruct("SplitSettings", [("dialogs", Count, DIALOGS)], bases=(kind,), **form)
    splits: Any = ("splits", dict[str, split], msgspec.field(default_factory=dict))  # type: ignore[valid-type]
    dataset = msgspec.defstruct("DatasetSettings", [splits], bases=(kind,), **form)
    seed = ("seed", Annotated[int, msgspec.Meta(ge=0)], SEED)
    datasets: Any = ("datasets", dict[str, dataset], msgspec.field(default_factory=dict))  # type: ignore[valid-type]
    return msgspec.defstruct("SimulationSettings", [seed, ("world", kind, kind()), datasets], **form)


NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def _check_names(worlds: dict[str, dict[str, Any]], problems: TomlProblems) -> None:
    """Check that names are valid as names of folders and files, and unique."""
    seen: dict[str, tuple[str, str]] = {}
    for dataset, splits in worlds.items():
        for split in splits:
            keys = ("datasets", dataset, "splits", split)
            whole = f"{dataset}_{split}"
            if not (NAME.fullmatch(dataset) and NAME.fullmatch(split)):
                problems.add_key(
                    keys, "no name for a folder", found=repr(whole), expected="letters, digits, _ . -"
                )
            if whole in seen:
                problems.add_key(keys, f"is called {whole!r}, and so is {'.'.join(seen[whole])}")
            seen[whole] = (dataset, split)


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Merge tables key by key; values of the second override those of the first."""
    merged = dict(below)
    for key, value in above.items():
        merged[key] = _merged(merged.get(key, {}), value) if isinstance(value, dict) else value
    return merged


def plain(settings: msgspec.Struct) -> Any:
    """Settings as JSON values; infinity becomes the text "inf"."""

    def clean(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: clean(item) for key, item in value.items()}
        return "inf" if value == float("inf") else value

    return clean(msgspec.to_builtins(settings))
