"""The settings of the bus world, and the simulation that a settings file describes."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import msgspec

from extrinsic.corpus.vocabulary import Vocabulary
from extrinsic.domain import Domain
from extrinsic.errors import Problems, UsageError, did_you_mean
from extrinsic.simulation.bus.bus_dialogs import BusDialogs
from extrinsic.simulation.bus.bus_ontology import bus_ontology
from extrinsic.simulation.bus.bus_settings import CallerSettings, ExpertSettings, GoalSettings, SystemSettings
from extrinsic.simulation.bus.caller import Callers
from extrinsic.simulation.bus.expert import Expert, ExpertTracker
from extrinsic.simulation.bus.system import CONFUSABLE
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.play import Play, play
from extrinsic.simulation.recogniser import Recogniser
from extrinsic.simulation.settings import Count, RecogniserSettings, Settings, Share
from extrinsic.storage import content_hash, encode_json, read_bytes
from extrinsic.toml_files import check_tree, read_tree, report_key


class WorldSettings(Settings, frozen=True):
    """The world of bus-information calls: the callers' goals and behaviour, the recogniser and the expert."""

    goal: GoalSettings = GoalSettings()
    caller: CallerSettings = CallerSettings()
    recogniser: RecogniserSettings = RecogniserSettings()
    system: SystemSettings = SystemSettings()
    expert: ExpertSettings = ExpertSettings()
    longest_dialog: Annotated[int, msgspec.Meta(ge=2, le=1000)] = 40
    no_connection: Share = 0.0
    """Share of place pairs without a bus, where the system cannot help. Lee leaves such calls out."""

    @property
    def domain(self) -> Domain:
        return bus_ontology().domain

    @property
    def slots(self) -> tuple[str, ...]:
        return self.domain.slot_names

    @property
    def requestable(self) -> tuple[str, ...]:
        return ()

    @property
    def vocabulary(self) -> Vocabulary:
        return bus_ontology().vocabulary

    def signature(self) -> str:
        return content_hash("world", encode_json(plain(self)))

    def begin(self, chance: Chance) -> BusDialogs:
        values = bus_ontology()
        callers = Callers(self.goal, self.caller, values, chance, self.system)
        recogniser = Recogniser(self.recogniser, values, chance, CONFUSABLE)
        return BusDialogs(callers, recogniser, self.no_connection, self.system)

    def policy(self) -> Expert:
        """The expert whose calls a dataset holds."""
        return Expert(self.expert, self.system)


class SplitSettings(WorldSettings, frozen=True):
    """A part of a dataset: how many dialogs, and what differs from the dataset's world."""

    dialogs: Count = 100


class DatasetSettings(WorldSettings, frozen=True):
    """A dataset: what differs from the common world, and its parts."""

    splits: dict[str, SplitSettings] = msgspec.field(default_factory=dict)


class SimulationSettings(Settings, frozen=True):
    """A whole configuration: one seed, a common world, and datasets that differ from it."""

    seed: Annotated[int, msgspec.Meta(ge=0)] = 2014
    world: WorldSettings = WorldSettings()
    datasets: dict[str, DatasetSettings] = msgspec.field(default_factory=dict)


class BusSimulation(msgspec.Struct, frozen=True):
    """A configuration with everything resolved: per dataset and split its world and its size."""

    seed: int
    worlds: dict[str, dict[str, WorldSettings]]
    dialogs: dict[str, dict[str, int]]

    @staticmethod
    def read(config: str | None = None, seed: int | None = None) -> BusSimulation:
        """The simulation of a file (the embedded one by default), with another seed if given."""
        simulation = _read_once(config, content_hash(read_bytes(EMBEDDED if config is None else config)))
        return simulation if seed is None else msgspec.structs.replace(simulation, seed=seed)

    def world(self, dataset: str, split: str = "test") -> WorldSettings:
        self.require(dataset, split)
        return self.worlds[dataset][split]

    def require(self, dataset: str, split: str) -> None:
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
        world = self.world(dataset, split)
        n_dialogs = self.dialogs[dataset][split]
        chance = Chance.of(n_dialogs, self.seed, dataset, split)
        name = f"{dataset}_{split}"
        return play(world.policy(), ExpertTracker(), n_dialogs, chance, world, dataset=name)

    def identity(self, dataset: str, split: str) -> str:
        self.require(dataset, split)
        return content_hash("simulated", self.hash(), dataset, split)

    def plain(self) -> Any:
        return plain(self)

    def hash(self) -> str:
        return content_hash("simulation", encode_json(self.plain()))


EMBEDDED = Path(__file__).with_name("worlds.toml")


def read_simulation(path: str | Path | None = None) -> BusSimulation:
    """Read a configuration (the embedded one by default), or raise InputError with every mistake in it."""
    path = EMBEDDED if path is None else path
    tree, text = read_tree(path)
    check_tree(tree, SimulationSettings, text, str(path))
    problems = Problems(str(path))
    common = tree.get("world", {})
    worlds: dict[str, dict[str, WorldSettings]] = {}
    dialogs: dict[str, dict[str, int]] = {}
    for name, dataset in tree.get("datasets", {}).items():
        own = {key: value for key, value in dataset.items() if key != "splits"}
        worlds[name], dialogs[name] = {}, {}
        for split, table in dataset.get("splits", {}).items():
            keys = ("datasets", name, "splits", split)
            dialogs[name][split] = table.get("dialogs", SplitSettings().dialogs)
            differs = {key: value for key, value in table.items() if key != "dialogs"}
            world = msgspec.convert(_merged(_merged(common, own), differs), WorldSettings)
            worlds[name][split] = world
            for group in (*world.system.required, *world.system.unless_next_bus):
                if group not in bus_ontology().domain.groups:
                    report_key(problems, text, keys, f"there is no group {group!r} to be required")
            if not {"from", "to"} <= set(world.system.required):
                report_key(problems, text, keys, "system.required needs from and to")
            if world.goal.stop + world.goal.neighborhood > 1.0:
                report_key(problems, text, keys, "goal.stop and goal.neighborhood sum above 1")
            if world.expert.main + world.expert.exploration > 1.0 + 1e-12:
                report_key(problems, text, keys, "expert.main and expert.exploration sum above 1")
    _check_names(worlds, text, problems)
    problems.raise_errors()
    if not any(worlds.values()):
        raise UsageError(
            "the configuration has no dataset with a split, so there is nothing to simulate", path=str(path)
        )
    return BusSimulation(tree.get("seed", SimulationSettings().seed), worlds, dialogs)


@lru_cache(maxsize=8)
def _read_once(path: str | None, contents: str) -> BusSimulation:
    """`read_simulation`, cached: it takes a tenth of a second and every stage of a study calls it."""
    return read_simulation(path)


NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def _check_names(worlds: dict[str, dict[str, WorldSettings]], text: str, problems: Problems) -> None:
    """Check that names are valid as names of folders and files, and unique."""
    seen: dict[str, tuple[str, str]] = {}
    for dataset, splits in worlds.items():
        for split in splits:
            keys = ("datasets", dataset, "splits", split)
            whole = f"{dataset}_{split}"
            if not (NAME.fullmatch(dataset) and NAME.fullmatch(split)):
                report_key(
                    problems,
                    text,
                    keys,
                    "no name for a folder",
                    found=repr(whole),
                    expected="letters, digits, _ . -",
                )
            if whole in seen:
                report_key(problems, text, keys, f"is called {whole!r}, and so is {'.'.join(seen[whole])}")
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
