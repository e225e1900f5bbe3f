"""The settings of the bus world, and the simulation that a settings file describes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import msgspec

from extrinsic.corpus.vocabulary import Vocabulary
from extrinsic.domain import Domain
from extrinsic.simulation.bus.bus_dialogs import BusDialogs
from extrinsic.simulation.bus.bus_ontology import bus_ontology
from extrinsic.simulation.bus.bus_settings import (
    CallerSettings,
    ExpertSettings,
    GoalSettings,
    SystemSettings,
)
from extrinsic.simulation.bus.caller import Callers
from extrinsic.simulation.bus.expert import Expert, ExpertTracker
from extrinsic.simulation.bus.system import CONFUSABLE
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.recogniser import Recogniser
from extrinsic.simulation.settings import RecogniserSettings, Settings, Share
from extrinsic.simulation.world_files import FileSimulation, plain, read_worlds
from extrinsic.storage import content_hash, encode_json


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

    def tracker(self) -> ExpertTracker:
        return ExpertTracker()


class BusSimulation(FileSimulation[WorldSettings], frozen=True):
    """The datasets of bus-information calls that a settings file describes."""

    @staticmethod
    def embedded() -> Path:
        return Path(__file__).with_name("worlds.toml")

    @classmethod
    def of_file(cls, path: str | Path) -> BusSimulation:
        return BusSimulation(*read_worlds(path, WorldSettings, _check))


def _check(world: WorldSettings, report: Callable[[str], None]) -> None:
    for group in (*world.system.required, *world.system.unless_next_bus):
        if group not in bus_ontology().domain.groups:
            report(f"there is no group {group!r} to be required")
    if not {"from", "to"} <= set(world.system.required):
        report("system.required needs from and to")
    if world.goal.stop + world.goal.neighborhood > 1.0:
        report("goal.stop and goal.neighborhood sum above 1")
    if world.expert.main + world.expert.exploration > 1.0 + 1e-12:
        report("expert.main and expert.exploration sum above 1")


def read_simulation(path: str | Path | None = None) -> BusSimulation:
    """Read a configuration (the embedded one by default), or raise InputError with every mistake in it."""
    return BusSimulation.of_file(BusSimulation.embedded() if path is None else path)
