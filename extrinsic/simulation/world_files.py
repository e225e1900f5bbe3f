"""Settings files of worlds: one seed, a common world, and datasets and splits that differ from it.

A world can also be drawn from ranges of properties. It is named by what it is, `ds1(noise=0.31, patience=9)`,
wherever a dataset can be named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Protocol, Self, TypeVar

import msgspec
import numpy as np

from extrinsic.errors import UsageError, did_you_mean
from extrinsic.printed_forms import split_form, value_text
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.play import Play, play
from extrinsic.simulation.world import LockstepWorld, Policy
from extrinsic.storage import content_hash, encode_json, read_bytes
from extrinsic.trackers.tracking import Tracker
from extrinsic.typed_files import Count, TomlProblems, check_tree, read_tree

Amount = Annotated[float, msgspec.Meta(ge=0.0, le=1e6)]
Positive = Annotated[float, msgspec.Meta(gt=0.0, le=1e6)]
Endless = Annotated[float, msgspec.Meta(gt=0.0)]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of settings, each with its default."""


STEPS = 40
"""How many different values of a property are drawn from a range."""

Tree = dict[str, Any]


@dataclass(frozen=True)
class Property:
    """A property of worlds.

    low, high: the values that it can have; drawn: the range that is drawn from by default.
    sets: the key of a world's file that it is, or all settings of a world with a given value, as tables.
    """

    name: str
    what: str
    low: float
    high: float
    drawn: tuple[float, float]
    sets: str | Callable[[float], Tree]
    whole: bool = False

    @property
    def expected(self) -> str:
        return f"{'a whole number' if self.whole else 'a number'} from {self.low:g} to {self.high:g}"

    def require(self, value: float) -> None:
        if not self.low <= value <= self.high or (self.whole and not float(value).is_integer()):
            found = value_text(value) if np.isfinite(value) else str(value)
            raise UsageError(f"the world's {self.name} is out of range", expected=self.expected, found=found)

    def settings(self, value: float) -> Tree:
        if not isinstance(self.sets, str):
            return self.sets(value)
        table, key = self.sets.split(".")
        return {table: {key: value}}

    def values(self, low: float, high: float) -> list[float]:
        """The values that are drawn from a range."""
        if self.whole:
            return [float(value) for value in range(round(low), round(high) + 1)]
        return [float(f"{value:.3g}") for value in np.linspace(low, high, STEPS + 1)]


Properties = Mapping[str, Property]


def is_drawn(dataset: str) -> bool:
    """Whether a dataset's name is that of a drawn world."""
    return "(" in dataset


def read_drawn(dataset: str, properties: Properties) -> tuple[str, dict[str, float]]:
    """The dataset that a drawn world is drawn around, and the properties that it changes."""
    pieces = split_form(dataset)
    if pieces is None or pieces.parts:
        raise UsageError(f"{dataset!r} is not a world", expected="dataset(property=number)")
    chosen: dict[str, float] = {}
    for key, text in pieces.named.items():
        if key not in properties:
            raise UsageError(f"worlds of this kind have no {key!r}; {did_you_mean(key, properties)}")
        try:
            chosen[key] = float(text)
        except ValueError:
            raise UsageError(
                f"the world's {key} is no number", expected=properties[key].expected, found=text
            ) from None
        properties[key].require(chosen[key])
    return pieces.name, chosen


def draw_worlds(
    base: Sequence[str],
    n_worlds: int,
    properties: Properties,
    ranges: Mapping[str, tuple[float, float]],
    seed: int = 0,
) -> list[str]:
    """The names of worlds around each of some datasets in turn, by a design that fills the ranges.

    ranges: per property its lowest and highest value; without any, every property in its own range.
    """
    from scipy.stats import qmc

    for name in ranges:
        if name not in properties:
            raise UsageError(f"worlds of this kind have no {name!r}; {did_you_mean(name, properties)}")
    chosen = ranges or {name: part.drawn for name, part in properties.items()}
    axes = []
    for name, (low, high) in chosen.items():
        for value in (low, high):
            properties[name].require(value)
        if low > high:
            raise UsageError(f"the range of {name} is empty", found=f"{low:g} to {high:g}")
        axes.append(list(dict.fromkeys(properties[name].values(low, high))))
    space = len(base) * int(np.prod([len(axis) for axis in axes]))
    if n_worlds > space:
        raise UsageError(f"there are only {space:,} different worlds in these ranges", found=f"{n_worlds:,}")
    rng = np.random.default_rng(int(content_hash("worlds", *base, *chosen, str(seed))[:16], 16))
    sequence = qmc.Sobol(len(axes), scramble=True, rng=rng)
    names: dict[str, None] = {}
    while len(names) < n_worlds:
        for place in (sequence.random(64) * [len(axis) for axis in axes]).astype(np.int64).tolist():
            values = [axis[position] for axis, position in zip(axes, place, strict=True)]
            inside = [f"{name}={value_text(value)}" for name, value in zip(chosen, values, strict=True)]
            names.setdefault(f"{base[len(names) % len(base)]}({', '.join(inside)})")
    return list(names)[:n_worlds]


class SettledWorld(LockstepWorld, Protocol):
    """A world of settings: the expert whose calls a dataset holds, its tracker, and what does not fit."""

    def policy(self) -> Policy: ...
    def tracker(self) -> Tracker: ...
    def problems(self) -> Iterable[str]: ...


W = TypeVar("W", bound=SettledWorld)
SEED, DIALOGS = 2014, 100
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
"""Names of datasets and splits become those of folders and files."""


class FileSimulation(msgspec.Struct, Generic[W], frozen=True, dict=True):
    """A settings file with everything resolved: per dataset and split its world and its size.

    A kind of world is a subclass with the type of its settings, its own file, and the properties that worlds
    can be drawn by.
    """

    settings: ClassVar[type[Any]]
    file: ClassVar[Path]
    properties: ClassVar[Properties] = {}

    seed: int
    worlds: dict[str, dict[str, W]]
    dialogs: dict[str, dict[str, int]]

    @classmethod
    def of_file(cls, path: str | Path) -> Self:
        """Read a file, or raise InputError with every mistake in it."""
        tree, text = read_tree(path)
        check_tree(tree, _form_of_file(cls.settings), text, str(path))
        problems = TomlProblems(str(path), text)
        common = tree.get("world", {})
        worlds: dict[str, dict[str, W]] = {}
        dialogs: dict[str, dict[str, int]] = {}
        seen: dict[str, tuple[str, ...]] = {}
        for name, dataset in tree.get("datasets", {}).items():
            own = {key: value for key, value in dataset.items() if key != "splits"}
            worlds[name], dialogs[name] = {}, {}
            for split, table in dataset.get("splits", {}).items():
                dialogs[name][split] = table.get("dialogs", DIALOGS)
                differs = {key: value for key, value in table.items() if key != "dialogs"}
                worlds[name][split] = msgspec.convert(_merged(_merged(common, own), differs), cls.settings)
                keys, whole = ("datasets", name, "splits", split), f"{name}_{split}"
                for message in worlds[name][split].problems():
                    problems.add_key(keys, message)
                if not (NAME.fullmatch(name) and NAME.fullmatch(split)):
                    problems.add_key(
                        keys, "no name for a folder", found=repr(whole), expected="letters, digits, _ . -"
                    )
                if whole in seen:
                    problems.add_key(keys, f"is called {whole!r}, and so is {'.'.join(seen[whole])}")
                seen[whole] = keys
        problems.raise_errors()
        if not any(worlds.values()):
            raise UsageError(
                "the configuration has no dataset with a split, so there is nothing to simulate",
                path=str(path),
            )
        return cls(tree.get("seed", SEED), worlds, dialogs)

    @classmethod
    def read(cls, config: str | None = None, seed: int | None = None) -> Self:
        """The simulation of a file (the embedded one by default), with another seed if given."""
        path = str(cls.file) if config is None else config
        simulation: Self = _read_once(cls, path, content_hash(read_bytes(path)), seed)
        return simulation

    def world(self, dataset: str, split: str = "test") -> W:
        base, chosen = self._of_file(dataset, split)
        if not chosen:
            return self.worlds[base][split]
        tree = msgspec.to_builtins(self.worlds[base][split])
        for name, value in chosen.items():
            tree = _merged(tree, self.properties[name].settings(value))
        drawn: W = msgspec.convert(tree, self.settings)
        for message in drawn.problems():
            raise UsageError(f"there is no world {dataset!r}: {message}")
        return drawn

    def _of_file(self, dataset: str, split: str) -> tuple[str, dict[str, float]]:
        """The dataset of the file that a drawn world is drawn around, itself for any other, and the
        properties that are changed."""
        base, chosen = read_drawn(dataset, self.properties) if is_drawn(dataset) else (dataset, {})
        if base not in self.worlds:
            raise UsageError(f"there is no dataset {base!r}; {did_you_mean(base, self.worlds)}")
        if split not in self.worlds[base]:
            splits = self.worlds[base]
            raise UsageError(f"dataset {base!r} has no split {split!r}; {did_you_mean(split, splits)}")
        return base, chosen

    def require(self, dataset: str, split: str) -> None:
        self._of_file(dataset, split)

    def corpora(self) -> list[tuple[str, str]]:
        """Every (dataset, split)."""
        return [(dataset, split) for dataset, splits in self.worlds.items() for split in splits]

    def simulate(self, dataset: str, split: str) -> Play:
        """The expert's dialogs, of a drawn world as many as of the one that it is drawn around.

        Dialog i does not depend on their number or on other splits.
        """
        world, base = self.world(dataset, split), self._of_file(dataset, split)[0]
        n_dialogs = self.dialogs[base][split]
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


def _form_of_file(kind: type[Any]) -> type[msgspec.Struct]:
    """The tables of a file: a dataset has what a world has, and its splits; a split a number of dialogs."""
    form: dict[str, Any] = {"frozen": True, "forbid_unknown_fields": True}
    split = msgspec.defstruct("SplitSettings", [("dialogs", Count, DIALOGS)], bases=(kind,), **form)
    splits: Any = ("splits", dict[str, split], msgspec.field(default_factory=dict))  # type: ignore[valid-type]
    dataset = msgspec.defstruct("DatasetSettings", [splits], bases=(kind,), **form)
    seed = ("seed", Annotated[int, msgspec.Meta(ge=0)], SEED)
    datasets: Any = ("datasets", dict[str, dataset], msgspec.field(default_factory=dict))  # type: ignore[valid-type]
    return msgspec.defstruct("SimulationSettings", [seed, ("world", kind, kind()), datasets], **form)


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
