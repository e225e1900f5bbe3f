"""The protocol of a simulation: simulated corpora, and the worlds in which policies are played live."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec
import numpy as np

from extrinsic.arrays import Floats
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.registry import TRACKERS, WORLDS
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.play import DEFAULT_WORLD, Play, play
from extrinsic.simulation.single_world import World, lockstep_form
from extrinsic.simulation.tracked_dialogs import belief_states
from extrinsic.simulation.world import HANG_UP, LockstepWorld, Moment, Policy
from extrinsic.storage import content_hash, encode_json
from extrinsic.trackers.tracking import Tracker
from extrinsic.typed_files import Count, Whole, read_toml


class Simulation(Protocol):
    """Datasets of one kind of world, each with its splits.

    `WORLDS` registers a class with `read(config: str | None, seed: int | None) -> Simulation`: it reads a
    file, by default the kind's own, and `seed` overrides the file's. Or it registers the class of a `World`
    of single dialogs, whose datasets are `WorldLogs`.

    Processes receive the kind's name, the configuration and the seed, and read it again: `read` has to be
    cheap, and everything must depend only on its arguments.
    """

    @property
    def seed(self) -> int: ...

    def corpora(self) -> list[tuple[str, str]]:
        """Every (dataset, split)."""
        ...

    def require(self, dataset: str, split: str) -> None:
        """Raise UsageError unless the dataset has that split."""
        ...

    def world(self, dataset: str, split: str) -> World | LockstepWorld:
        """The world that the split's dialogs come from."""
        ...

    def simulate(self, dataset: str, split: str) -> Play:
        """The dialogs of a split, conducted by the world's own expert."""
        ...

    def identity(self, dataset: str, split: str) -> str:
        """A hash of everything that determines the dialogs of a split."""
        ...

    def plain(self) -> Any:
        """The settings as JSON values."""
        ...


def find_simulation(kind: str, config: str | None = None, seed: int | None = None) -> Simulation:
    """The simulation of a kind of world, from a file (by default the kind's own)."""
    registered = WORLDS.get(kind)
    if hasattr(registered, "read"):
        simulation: Simulation = registered.read(config, seed)
        return simulation
    return WorldLogs.read(kind, config, seed)


def find_dataset(text: str, config: str | None = None) -> tuple[Simulation, str]:
    """The simulation and the dataset of `ds1` (of the bus world), `restaurants:quiet`, or a KIND with one."""
    kind, colon, dataset = text.partition(":")
    if colon:
        return find_simulation(kind, config), dataset
    if text not in WORLDS.names():
        return find_simulation(DEFAULT_WORLD[0], config), text
    simulation = find_simulation(text, config)
    datasets = list(dict.fromkeys(name for name, _ in simulation.corpora()))
    if len(datasets) > 1:
        raise UsageError(
            f"which dataset of the world {text!r}: {', '.join(f'{text}:{n}' for n in datasets)}?"
        )
    return simulation, datasets[0]


LOGGED_TRACKER = "focus"
"""The tracker on whose beliefs the logs of a world of single dialogs are conducted."""


class LogSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file of a world of single dialogs: how many dialogs each split has, and keywords of its class."""

    seed: Whole = 0
    dialogs: Count = 300
    options: dict[str, Any] = {}


@dataclass(frozen=True)
class WorldLogs:
    """The logs of a world of single dialogs: one dataset, named as the world, of two splits, train and test.

    They are conducted by the world's expert, or at random, on the beliefs of the tracker `focus`.
    """

    kind: str
    settings: LogSettings = field(default_factory=LogSettings)

    @staticmethod
    def read(kind: str, config: str | None = None, seed: int | None = None) -> WorldLogs:
        settings = LogSettings() if config is None else read_toml(config, LogSettings)
        return WorldLogs(kind, settings if seed is None else msgspec.structs.replace(settings, seed=seed))

    @property
    def seed(self) -> int:
        return self.settings.seed

    def corpora(self) -> list[tuple[str, str]]:
        return [(self.kind, "train"), (self.kind, "test")]

    def require(self, dataset: str, split: str) -> None:
        for name, names in ((dataset, [self.kind]), (split, ["train", "test"])):
            if name not in names:
                raise UsageError(
                    f"the world {self.kind!r} has no dialogs {name!r}; {did_you_mean(name, names)}"
                )

    def world(self, dataset: str, split: str) -> World:
        self.require(dataset, split)
        try:
            world: World = WORLDS.get(self.kind)(**self.settings.options)
        except TypeError as error:
            raise UsageError(f"the world {self.kind!r} cannot be made with these options: {error}") from None
        return world

    def simulate(self, dataset: str, split: str) -> Play:
        world, n_dialogs = self.world(dataset, split), self.settings.dialogs
        chance = Chance.of(n_dialogs, self.seed, dataset, split)
        tracker, name = TRACKERS.get(LOGGED_TRACKER), f"{dataset}_{split}"
        return play(WorldExpert(world), tracker, n_dialogs, chance, world, dataset=name)

    def identity(self, dataset: str, split: str) -> str:
        world = lockstep_form(self.world(dataset, split))
        return content_hash("logs", world.signature(), encode_json(self.plain()), dataset, split)

    def plain(self) -> Any:
        return msgspec.to_builtins(self.settings)


@dataclass(frozen=True)
class WorldExpert:
    """The expert of a world of single dialogs; of one that has none, anything possible at random."""

    world: World

    def probabilities(self, moment: Moment) -> Floats:
        """(m, n_predicates)"""
        expert = getattr(self.world, "expert", None)
        if expert is None:
            return np.asarray(moment.allowed / moment.allowed.sum(axis=1, keepdims=True))
        names = moment.domain.predicate_names
        chances = np.zeros(moment.allowed.shape)
        for row, beliefs in enumerate(belief_states(moment)):
            possible = [names[column] for column in np.flatnonzero(moment.allowed[row])]
            for name, probability in expert(beliefs, possible).items():
                if name not in names:
                    raise UsageError(f"the world's expert chose {name!r}; {did_you_mean(name, names)}")
                chances[row, names.index(name)] = probability
        return chances


def logged_policy(world: object) -> tuple[Policy | None, Tracker | None]:
    """The expert that conducts the dialogs of a world's logs, and its tracker, where they can be run."""
    if hasattr(world, "policy") and hasattr(world, "tracker"):
        return world.policy(), world.tracker()
    if isinstance(world, World):
        return WorldExpert(world), TRACKERS.get(LOGGED_TRACKER)
    return None, None


def simulate(simulation: Simulation, dataset: str, split: str) -> Play:
    """The dialogs of one split of a simulation."""
    return simulation.simulate(dataset, split)


TURNS_OF_LEE = {
    "ds1_train": (274, 2594),
    "ds1_test": (312, 2168),
    "ds2_train": (321, 3394),
    "ds2_test": (339, 2579),
    "ds3_train": (277, 2221),
    "ds3_test": (286, 1988),
    "ds4_train": (141, 1060),
    "ds4_test": (165, 979),
}
"""Dialogs and turns of the datasets of Lee 2014, Table 1."""


@dataclass(frozen=True)
class Statistics:
    """Statistics of one corpus; shares are of dialogs, but rank_1 and in_list of the values callers said."""

    dataset: str
    dialogs: int
    turns: int
    turns_per_dialog: float
    lee_turns_per_dialog: float | None
    rank_1: float
    in_list: float
    list_size: float
    hang_ups: float
    completed: float


def describe(played: Play) -> Statistics:
    """The statistics of dialogs as played. A hang-up counts if the caller had not reached the goal."""
    corpus = played.corpus
    published = TURNS_OF_LEE.get(corpus.dataset)
    return Statistics(
        dataset=corpus.dataset,
        dialogs=corpus.n_dialogs,
        turns=corpus.n_turns,
        turns_per_dialog=corpus.n_turns / corpus.n_dialogs,
        lee_turns_per_dialog=published[1] / published[0] if published else None,
        rank_1=_share(played.said_rank == 0),
        in_list=_share(played.said_rank >= 0),
        list_size=float(played.list_size.mean()) if len(played.list_size) else 0.0,
        hang_ups=_share((played.ending == HANG_UP) & ~played.completed),
        completed=_share(played.completed),
    )


def _share(flags: np.ndarray) -> float:
    return float(flags.mean()) if len(flags) else 0.0
