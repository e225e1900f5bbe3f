"""The bus world: its dialogs in lockstep, its settings, and the simulation of a settings file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np

from extrinsic.arrays import Bools, Floats, Ints, is_among
from extrinsic.corpus.acts import Acts, NBest
from extrinsic.corpus.history import AFFIRMED, NOT_AFFIRMED
from extrinsic.simulation.bus_callers import Callers, CallerSettings, GoalSettings
from extrinsic.simulation.bus_expert import Expert, ExpertSettings, ExpertTracker
from extrinsic.simulation.bus_system import (
    BROWSING,
    COMMANDS,
    CONFUSABLE,
    GRANTED,
    NEXT,
    PREVIOUS,
    RESTART,
    SystemSettings,
    SystemTurn,
    acts_of,
    caller_phrases,
    offered_values,
    realise,
)
from extrinsic.simulation.bus_values import bus_ontology
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.recogniser import Recogniser, RecogniserSettings
from extrinsic.simulation.slot_filling import (
    SlotFillingDialogs,
    SlotFillingWorld,
    patience,
    properties_of,
)
from extrinsic.simulation.values import NOTHING, SILENT, Values
from extrinsic.simulation.world import Moment, View
from extrinsic.simulation.world_files import FileSimulation, Properties, Property
from extrinsic.typed_files import Share


class BusDialogs(SlotFillingDialogs[SystemTurn]):
    """n calls, and what the system remembers of them beside its tracker's beliefs.

    command (n,): what the recogniser just understood the caller to want: RESTART, to browse, or SILENT.
    declined (n,): the caller was understood to say no to the next bus.   bus (n,): the one offered.
    """

    def __init__(self, world: WorldSettings, chance: Chance) -> None:
        values, self.system = world.values, world.system
        callers = Callers(world.goal, world.caller, world.system, chance)
        recogniser = Recogniser(world.recogniser, values, chance, CONFUSABLE)
        super().__init__(values, callers, recogniser, caller_phrases(values))
        self.no_connection = world.no_connection
        n_dialogs = len(callers.goal)
        self.command: Ints = np.full(n_dialogs, SILENT, dtype=np.int64)
        self.declined: Bools = np.zeros(n_dialogs, dtype=bool)
        self.bus: Ints = np.zeros(n_dialogs, dtype=np.int64)

    def greeting(self, n_dialogs: int) -> SystemTurn:
        hello = np.full(n_dialogs, self.name("hello"), dtype=np.int64)
        nothing, zero = np.full(n_dialogs, NOTHING, dtype=np.int64), np.zeros(n_dialogs, dtype=np.int64)
        request = np.full(n_dialogs, self.system.first_question(self.values.domain))
        offer = np.full((n_dialogs, len(self.values.domain.groups)), NOTHING)
        return SystemTurn(hello, request, nothing, nothing, offer, zero, zero)

    def possible(self, view: View) -> Bools:
        """Confirming needs a value, offering both places (filled, by the rule if there is one), and the next
        bus a first one, unless the system asks for it once before that."""
        system, history = self.system, view.history
        command, has_value, places = self.command[view.dialogs], system.heard(view), system.has_places(view)
        granted = (history.granted >> self.values.domain.yes_no.index("next_bus")) & 1 == 1
        always = np.ones(len(has_value), dtype=bool)
        browsing = is_among(history.predicate, [self.name("offer"), self.name("help")])
        helps = browsing & ~is_among(command, BROWSING) & system.help
        before = places & ~granted & ~self._declined(view) & ~history.offered
        can = {
            "open_request": always & (system.opening == "open"),
            "request": always,
            "confirm": has_value.any(axis=1),
            "implicit_confirm": has_value.any(axis=1),
            "offer": places & ~helps,
            "next_bus": history.offered if system.next_bus == "after" else before,
            "goodbye": always & system.hangs_up,
            "restart": command == RESTART,
            "help": helps,
        }
        return np.stack([can.get(name, ~always) for name in self.values.domain.predicate_names], axis=1)

    def _declined(self, view: View) -> Bools:
        history = view.history
        no = (history.predicate == self.name("next_bus")) & (history.answer == NOT_AFFIRMED)
        return np.asarray(self.declined[view.dialogs] | (no & (history.negates > self.system.accepts)))

    def decided(self, moment: Moment, predicate: Ints) -> SystemTurn:
        self.declined[moment.dialogs] = self._declined(moment)
        system_turn = realise(self.values, self.system, predicate, moment)
        # The bus offered: the first suitable one, or, where the caller browses, one before or after.
        offers, command = system_turn.predicate == self.name("offer"), self.command[moment.dialogs]
        granted = (moment.history.answer == AFFIRMED) & (moment.history.predicate == self.name("next_bus"))
        browses = is_among(command, BROWSING) & moment.history.offered
        follows = np.where(offers, np.where(granted, GRANTED, np.where(browses, command, SILENT)), SILENT)
        later = (follows == NEXT) | ((follows == GRANTED) & moment.history.offered)
        bus = self.bus[moment.dialogs] + later - (follows == PREVIOUS)
        bus = np.where(follows == SILENT, 0, bus)
        self.bus[moment.dialogs[offers]] = bus[offers]
        return replace(system_turn, follows=follows, bus=bus)

    def carried_out(self, moment: Moment, chances: Floats) -> Floats:
        """Where no bus runs between the believed places, an offer becomes an apology."""
        if self.no_connection == 0.0:
            return chances
        offer, canthelp = self.name("offer"), self.name("canthelp")
        groups = list(self.values.domain.groups)
        offered = offered_values(self.values, self.system, moment)
        start, end = (offered[:, groups.index(side)] for side in ("from", "to"))
        draw = Chance.of(1, "connections").uniform_at("connection", 0, (start * len(self.values) + end)[None])
        fails = draw[0] < self.no_connection
        chances = chances.copy()
        chances[fails, canthelp], chances[fails, offer] = chances[fails, offer], 0.0
        return chances

    def acts_of(self, system: SystemTurn) -> Acts:
        return acts_of(self.values, system)

    def restarts(self, dialogs: Ints, system: SystemTurn) -> Bools:
        restart: Bools = system.predicate == self.name("restart")
        self.declined[dialogs[restart]] = False
        return restart

    def understand(self, dialogs: Ints, nbest: NBest) -> None:
        """What the best hypothesis asks for, SILENT for nothing; to browse only if heard well enough."""
        words = [self.values.vocabulary.find(name) for name in COMMANDS]
        self.command[dialogs] = SILENT
        if not is_among(nbest.acts.name, words).any():
            return
        filled = np.flatnonzero(np.diff(nbest.offsets) > 0)
        best = nbest.offsets[filled]
        clear = nbest.score[best] >= self.system.accepts
        for code, word in enumerate(words, start=RESTART):
            says = nbest.acts.owners_where(nbest.acts.name == word)[best]
            self.command[dialogs[filled[says & (clear | (code == RESTART))]]] = code


class WorldSettings(SlotFillingWorld, frozen=True):
    """The world of bus-information calls: the callers' goals and behaviour, the recogniser and the expert."""

    kind: ClassVar[str] = "world"

    goal: GoalSettings = GoalSettings()
    caller: CallerSettings = CallerSettings()
    recogniser: RecogniserSettings = RecogniserSettings()
    system: SystemSettings = SystemSettings()
    expert: ExpertSettings = ExpertSettings()
    longest_dialog: Annotated[int, msgspec.Meta(ge=2, le=1000)] = 40
    no_connection: Share = 0.0
    """Share of place pairs without a bus, where the system cannot help. Lee leaves such calls out."""

    @property
    def values(self) -> Values:
        return bus_ontology()

    def begin(self, chance: Chance) -> BusDialogs:
        return BusDialogs(self, chance)

    def policy(self) -> Expert:
        return Expert(self.expert, self.system)

    def tracker(self) -> ExpertTracker:
        return ExpertTracker()

    def problems(self) -> Iterator[str]:
        for group in (*self.system.required, *self.system.unless_next_bus):
            if group not in self.domain.groups:
                yield f"there is no group {group!r} to be required"
        if not {"from", "to"} <= set(self.system.required):
            yield "system.required needs from and to"
        if self.goal.stop + self.goal.neighborhood > 1.0:
            yield "goal.stop and goal.neighborhood sum above 1"
        if self.expert.main + self.expert.exploration > 1.0 + 1e-12:
            yield "expert.main and expert.exploration sum above 1"
        if self.caller.patience == float("inf") and not self.system.hangs_up:
            yield (
                "its callers never finish: caller.patience is infinite, and the system cannot hang up "
                "(system.hangs_up)"
            )


def _slots(number: float) -> dict[str, Any]:
    """Callers want so many of from, to, time and route, and the system asks for them."""
    wanted = ("from", "to", "time", "route")[: int(number)]
    goal = {slot: 1.0 if slot in wanted else 0.0 for slot in ("time", "route")}
    return {"goal": goal, "system": {"required": list(wanted)}}


class BusSimulation(FileSimulation[WorldSettings], frozen=True):
    """The datasets of bus-information calls that a settings file describes."""

    settings: ClassVar[type[WorldSettings]] = WorldSettings
    file: ClassVar[Path] = Path(__file__).with_name("bus_worlds.toml")
    properties: ClassVar[Properties] = properties_of(
        patience(8.0, 18.0),
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


def read_simulation(path: str | Path | None = None) -> BusSimulation:
    """Read a configuration (the embedded one by default), or raise InputError with every mistake in it."""
    return BusSimulation.of_file(BusSimulation.file if path is None else path)
