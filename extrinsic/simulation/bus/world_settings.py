"""The settings of the bus world, and the simulation that a settings file describes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec

from extrinsic.arrays import Ids
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
from extrinsic.simulation.drawn_worlds import Properties, Property
from extrinsic.simulation.recogniser import Recogniser
from extrinsic.simulation.settings import RECOGNISER_PROPERTIES, RecogniserSettings, Settings, Share
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

    @property
    def known_values(self) -> list[Ids]:
        return bus_ontology().by_slot

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


def _slots(number: float) -> dict[str, Any]:
    """Callers want so many of from, to, time and route, and the system asks for them."""
    wanted = ("from", "to", "time", "route")[: int(number)]
    goal = {slot: 1.0 if slot in wanted else 0.0 for slot in ("time", "route")}
    return {"goal": goal, "system": {"required": list(wanted)}}


PROPERTIES = {
    part.name: part
    for part in (
        *RECOGNISER_PROPERTIES,
        Property(
            "patience",
            "turns until the average caller hangs up",
            1.0,
            100.0,
            (8.0, 18.0),
            lambda value: {"caller": {"patience": value}},
        ),
        Property("slots", "how many things callers want and are asked for", 2, 4, (2, 4), _slots, whole=True),
        Property(
            "caution",
            "a score below this is confirmed, and a tenth more is needed for an offer",
            0.0,
            0.9,
            (0.3, 0.7),
            lambda value: {"expert": {"trusts": value, "offers": round(value + 0.1, 6)}},
        ),
    )
}


class BusSimulation(FileSimulation[WorldSettings], frozen=True):
    """The datasets of bus-information calls that a settings file describes."""

    properties: ClassVar[Properties] = PROPERTIES

    @staticmethod
    def embedded() -> Path:
        return Path(__file__).with_name("worlds.toml")

    @classmethod
    def of_file(cls, path: str | Path) -> BusSimulation:
        return BusSimulation(*read_worlds(path, WorldSettings, BusSimulation.check))

    @staticmethod
    def check(world: WorldSettings, report: Callable[[str], None]) -> None:
        for group in (*world.system.required, *world.system.unless_next_bus):
            if group not in bus_ontology().domain.groups:
                report(f"there is no group {group!r} to be required")
        if not {"from", "to"} <= set(world.system.required):
            report("system.required needs from and to")
        if world.goal.stop + world.goal.neighborhood > 1.0:
            report("goal.stop and goal.neighborhood sum above 1")
        if world.expert.main + world.expert.exploration > 1.0 + 1e-12:
            report("expert.main and expert.exploration sum above 1")
        if world.caller.patience == float("inf") and not world.system.hangs_up:
            report(
                "its callers never finish: caller.patience is infinite, and the system cannot hang up "
                "(system.hangs_up)"
            )


def read_simulation(path: str | Path | None = None) -> BusSimulation:
    """Read a configuration (the embedded one by default), or raise InputError with every mistake in it."""
    return BusSimulation.of_file(BusSimulation.embedded() if path is None else path)
