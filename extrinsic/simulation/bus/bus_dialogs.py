"""Bus-information calls in lockstep: the Dialogs of the bus world."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints, is_among
from extrinsic.corpus.acts import NBest
from extrinsic.corpus.history import AFFIRMED, NOT_AFFIRMED, wording_of
from extrinsic.corpus.vocabulary import NONE
from extrinsic.simulation.bus.bus_settings import SystemSettings
from extrinsic.simulation.bus.caller import Callers
from extrinsic.simulation.bus.speech import acts_of, caller_phrases
from extrinsic.simulation.bus.system import (
    BROWSING,
    COMMANDS,
    GRANTED,
    NEXT,
    PREVIOUS,
    RESTART,
    SystemTurn,
    greeting,
    possible,
    realise,
)
from extrinsic.simulation.chance import Chance, TurnNumber
from extrinsic.simulation.ontology import Values
from extrinsic.simulation.recogniser import Recogniser
from extrinsic.simulation.utterance import NOTHING, SILENT
from extrinsic.simulation.world import GOES_ON, GOODBYE, HANG_UP, Dialogs, Exchange, Moment, View


class BusDialogs(Dialogs):
    """n calls: the callers, and the recogniser.

    command (n,): what the recogniser just understood the caller to want: RESTART, to browse, or SILENT.
    declined (n,): the caller was understood to say no to the next bus.   bus (n,): the one offered.
    """

    def __init__(
        self, callers: Callers, recogniser: Recogniser, no_connection: float, system: SystemSettings
    ) -> None:
        self.callers, self.recogniser, self.no_connection = callers, recogniser, no_connection
        self.system = system
        self.values: Values = callers.values
        self.name = self.values.domain.predicate_names.index
        n_dialogs = len(callers.goal)
        self.command: Ints = np.full(n_dialogs, SILENT, dtype=np.int64)
        self.declined: Bools = np.zeros(n_dialogs, dtype=bool)
        self.bus: Ints = np.zeros(n_dialogs, dtype=np.int64)

    @property
    def outcomes(self) -> dict[str, Floats]:
        """success: the right bus was offered."""
        return {"success": self.callers.served.astype(np.float64)}

    def greet(self) -> Exchange:
        dialogs = np.arange(len(self.callers.goal))
        return self._exchange(dialogs, 0, greeting(self.values, self.system, len(dialogs)), None)

    def possible(self, view: View) -> Bools:
        bit = self.values.domain.yes_no.index("next_bus")
        granted = (view.history.granted >> bit) & 1 == 1
        return possible(
            self.values, self.system, view, self.command[view.dialogs], granted, self._declined(view)
        )

    def _declined(self, view: View) -> Bools:
        history = view.history
        no = (history.predicate == self.name("next_bus")) & (history.answer == NOT_AFFIRMED)
        return np.asarray(self.declined[view.dialogs] | (no & (history.negates > self.system.accepts)))

    def act(self, moment: Moment, predicate: Ints) -> Exchange:
        system_turn = realise(self.values, self.system, predicate, moment)
        self.declined[moment.dialogs] = self._declined(moment)
        system_turn = self._with_bus(moment, system_turn)
        return self._exchange(moment.dialogs, moment.turn, system_turn, moment.history.wording)

    def _with_bus(self, moment: Moment, system_turn: SystemTurn) -> SystemTurn:
        """The bus offered: the first suitable one, or, where the caller browses, one before or after."""
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
        offered = realise(self.values, self.system, np.full(len(chances), offer), moment).offer
        start, end = (offered[:, groups.index(side)] for side in ("from", "to"))
        draw = Chance.of(1, "connections").uniform_at("connection", 0, (start * len(self.values) + end)[None])
        fails = draw[0] < self.no_connection
        chances = chances.copy()
        chances[fails, canthelp], chances[fails, offer] = chances[fails, offer], 0.0
        return chances

    def _exchange(
        self, dialogs: Ints, turn: TurnNumber, system_turn: SystemTurn, before: np.ndarray | None
    ) -> Exchange:
        """The system speaks, the callers answer; before (m,): the wording of the system's last turn."""
        system = acts_of(self.values, system_turn)
        restart = system_turn.predicate == self.name("restart")
        self.callers.start_over(dialogs[restart])
        self.declined[dialogs[restart]] = False
        repeated = np.zeros(len(dialogs), dtype=bool) if before is None else wording_of(system) == before
        answer = self.callers.respond(dialogs, turn, system_turn, repeated)
        nbest = caller_phrases(self.values).nbest(self.recogniser.hear(dialogs, turn, answer))
        self.command[dialogs] = self._understood(nbest)
        goodbye = system_turn.predicate == self.name("goodbye")
        return Exchange(
            system=system,
            nbest=nbest,
            goal=self._of_slots(self.callers.goal[dialogs]),
            said=self._of_slots(answer.value),
            ending=np.where(goodbye, GOODBYE, np.where(answer.hangs_up, HANG_UP, GOES_ON)),
            restart=restart,
        )

    def _understood(self, nbest: NBest) -> Ints:
        """(m,) what the best hypothesis asks for, SILENT for nothing; to browse only if heard well enough."""
        find = self.values.vocabulary.find
        words = [find(name) for name in COMMANDS]
        command = np.full(len(nbest.offsets) - 1, SILENT, dtype=np.int64)
        if not is_among(nbest.acts.name, words).any():
            return command
        filled = np.flatnonzero(np.diff(nbest.offsets) > 0)
        best = nbest.offsets[filled]
        clear = nbest.score[best] >= self.system.accepts
        for code, word in enumerate(words, start=RESTART):
            says = nbest.acts.owners_where(nbest.acts.name == word)[best]
            command[filled[says & (clear | (code == RESTART))]] = code
        return command

    def _of_slots(self, number: Ints) -> Ids:
        """(m, n_groups) numbers of values -> (m, n_slots) their ids, NONE in all other slots."""
        value = np.full((len(number), len(self.values.domain.slots)), NONE, dtype=np.int32)
        row, group = np.nonzero(number != NOTHING)
        chosen = number[row, group]
        value[row, self.values.slot[chosen]] = self.values.identity[chosen]
        return value
