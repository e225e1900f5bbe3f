"""Bus-information calls in lockstep: the Dialogs of the bus world."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints
from extrinsic.corpus.history import wording_of
from extrinsic.corpus.nbest import NBest
from extrinsic.corpus.vocabulary import NONE
from extrinsic.simulation.bus_ontology import Values
from extrinsic.simulation.caller import Callers
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.goals import NOTHING
from extrinsic.simulation.recogniser import Recogniser
from extrinsic.simulation.speech import acts_of, nbest_of
from extrinsic.simulation.system import SystemTurn, greeting, possible, realise
from extrinsic.simulation.world import GOES_ON, GOODBYE, HANG_UP, Dialogs, Exchange, Moment, View


class BusDialogs(Dialogs):
    """n calls: the callers, and the recogniser.

    startover (n,): the recogniser just understood a request to start over.
    """

    def __init__(self, callers: Callers, recogniser: Recogniser, no_connection: float) -> None:
        self.callers, self.recogniser, self.no_connection = callers, recogniser, no_connection
        self.values: Values = callers.values
        self.name = self.values.domain.predicate_names.index
        self.startover: Bools = np.zeros(len(callers.goal), dtype=bool)

    @property
    def completed(self) -> Bools:
        """(n,) the right bus was offered."""
        return self.callers.served

    def greet(self) -> Exchange:
        dialogs = np.arange(len(self.callers.goal))
        return self._exchange(dialogs, 0, greeting(self.values, len(dialogs)), None)

    def possible(self, view: View) -> Bools:
        return possible(self.values, view.tops, view.history, self.startover[view.dialogs])

    def act(self, moment: Moment, predicate: Ints) -> Exchange:
        return self._exchange(
            moment.dialogs, moment.turn, realise(self.values, predicate, moment), moment.history.wording
        )

    def carried_out(self, moment: Moment, chances: Floats) -> Floats:
        """Where no bus runs between the believed places, an offer becomes an apology."""
        if self.no_connection == 0.0:
            return chances
        offer, canthelp = self.name("offer"), self.name("canthelp")
        groups = list(self.values.domain.groups)
        offered = realise(self.values, np.full(len(chances), offer), moment).offer
        start, end = (offered[:, groups.index(side)] for side in ("from", "to"))
        draw = Chance.of(1, "connections").uniform_at("connection", 0, (start * len(self.values) + end)[None])
        fails = draw[0] < self.no_connection
        chances = chances.copy()
        chances[fails, canthelp], chances[fails, offer] = chances[fails, offer], 0.0
        return chances

    def _exchange(
        self, dialogs: Ints, turn: int, system_turn: SystemTurn, before: np.ndarray | None
    ) -> Exchange:
        """The system speaks, the callers answer; before (m,): the wording of the system's last turn."""
        system = acts_of(self.values, system_turn)
        restart = system_turn.predicate == self.name("restart")
        self.callers.start_over(dialogs[restart])
        repeated = np.zeros(len(dialogs), dtype=bool) if before is None else wording_of(system) == before
        answer = self.callers.respond(dialogs, turn, system_turn, repeated)
        nbest = nbest_of(self.values, self.recogniser.hear(dialogs, turn, answer))
        self.startover[dialogs] = _in_best(nbest, self.values.vocabulary.find("startover"))
        goodbye = system_turn.predicate == self.name("goodbye")
        return Exchange(
            system=system,
            nbest=nbest,
            goal=self._of_slots(self.callers.goal[dialogs]),
            said=self._of_slots(answer.value),
            ending=np.where(goodbye, GOODBYE, np.where(answer.hangs_up, HANG_UP, GOES_ON)),
            restart=restart,
        )

    def _of_slots(self, number: Ints) -> Ids:
        """(m, n_groups) numbers of values -> (m, n_slots) their ids, NONE in all other slots."""
        value = np.full((len(number), len(self.values.domain.slots)), NONE, dtype=np.int32)
        row, group = np.nonzero(number != NOTHING)
        chosen = number[row, group]
        value[row, self.values.slot[chosen]] = self.values.identity[chosen]
        return value


def _in_best(nbest: NBest, word: int) -> Bools:
    """(m,) whether the best hypothesis of each turn contains the act."""
    holds = nbest.acts.owners_where(nbest.acts.name == word)
    heard = np.diff(nbest.offsets) > 0
    heard[heard] = holds[nbest.offsets[:-1][heard]]
    return heard
