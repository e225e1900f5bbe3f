"""The history of a dialog, as far as the system itself can observe it."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from extrinsic.arrays import Bools, Columns, Floats, Ids, Ints, is_among, row_of_each, turns_in_step
from extrinsic.corpus.acts import NONE, Acts
from extrinsic.corpus.domain import Domain
from extrinsic.corpus.evidence import Evidence

NOT_ASKED, AFFIRMED, NOT_AFFIRMED = 0, 1, 2
"""The three answers to a yes/no question."""

CONFIRMED_FROM = 0.5
"""A value is confirmed when a yes to it is heard with more than this score, and no longer when a no is."""


@dataclass(eq=False)
class History(Columns):
    """The past of n dialogs.

    turn (n,): how many turns there were.   predicate (n,): the system's last one, -1 for none.
    streak (n,): how often in a row it said exactly the same, 1 for the first time.
    requests (n, n_slots): how often it asked for a slot.   confirmed (n, n_slots): the value confirmed.
    implied (n, n_slots): the value it last confirmed implicitly without hearing a no.
    offered (n,): whether it has offered something.
    answer (n,): to its last yes/no question, if that was the last thing it said.
    granted (n,): bit k is set when the last answer to the domain's k-th yes/no question was a yes.
    affirms, negates (n,): scores of yes and no at the last turn.   informs (n,): of any value.
    """

    turn: Ints
    predicate: Ints
    streak: Ints
    requests: Ints
    confirmed: Ids
    implied: Ids
    offered: Bools
    answer: Ints
    granted: Ints
    affirms: Floats
    negates: Floats
    informs: Floats
    wording: npt.NDArray[np.uint64]

    @staticmethod
    def of(n_dialogs: int, n_slots: int) -> History:
        """Dialogs that have not begun."""
        return History(
            turn=np.zeros(n_dialogs, dtype=np.int64),
            predicate=np.full(n_dialogs, -1, dtype=np.int64),
            streak=np.zeros(n_dialogs, dtype=np.int64),
            requests=np.zeros((n_dialogs, n_slots), dtype=np.int64),
            confirmed=np.full((n_dialogs, n_slots), NONE, dtype=np.int32),
            implied=np.full((n_dialogs, n_slots), NONE, dtype=np.int32),
            offered=np.zeros(n_dialogs, dtype=bool),
            answer=np.full(n_dialogs, NOT_ASKED, dtype=np.int64),
            granted=np.zeros(n_dialogs, dtype=np.int64),
            affirms=np.zeros(n_dialogs),
            negates=np.zeros(n_dialogs),
            informs=np.zeros(n_dialogs),
            wording=np.zeros(n_dialogs, dtype=np.uint64),
        )

    def forget(self, dialogs: Ints) -> None:
        """Reset the chosen dialogs to their beginning."""
        fresh = History.of(len(dialogs), self.requests.shape[1])
        for field in fields(self):
            getattr(self, field.name)[dialogs] = getattr(fresh, field.name)

    def step(self, domain: Domain, dialogs: Ints, predicate: Ints, system: Acts, evidence: Evidence) -> None:
        """Take in one more turn of each of the chosen dialogs."""
        anew = dialogs[evidence.restart]
        self.requests[anew], self.offered[anew], self.granted[anew] = 0, False, 0
        self.confirmed[anew] = self.implied[anew] = NONE
        wording = wording_of(system)
        self.streak[dialogs] = np.where(wording == self.wording[dialogs], self.streak[dialogs] + 1, 1)
        self.wording[dialogs] = wording
        self.turn[dialogs] += 1
        self.predicate[dialogs] = predicate
        self.requests[dialogs] += evidence.requested
        self.offered[dialogs] |= _is(domain, predicate, domain.offer)
        self.affirms[dialogs], self.negates[dialogs] = evidence.affirms, evidence.negates
        asked = _is(domain, predicate, domain.yes_no)
        yes = evidence.affirms > evidence.negates
        self.answer[dialogs] = np.where(asked, np.where(yes, AFFIRMED, NOT_AFFIRMED), NOT_ASKED)
        for bit, question in enumerate(domain.yes_no):
            answers = _is(domain, predicate, (question,))
            self.granted[dialogs[answers & yes]] |= 1 << bit
            self.granted[dialogs[answers & ~yes]] &= ~(1 << bit)
        self._note_confirmations(dialogs, evidence)

    def required(self, domain: Domain) -> Bools:
        """(n, n_groups) what the system needs: some groups always, others unless a question was granted."""
        required = np.zeros((len(self.turn), len(domain.groups)), dtype=bool)
        for column, group in enumerate(domain.groups):
            if group in domain.required_unless:
                bit = domain.yes_no.index(domain.required_unless[group])
                required[:, column] = (self.granted >> bit) & 1 == 0
            else:
                required[:, column] = group in domain.required
        return required

    def _note_confirmations(self, dialogs: Ints, evidence: Evidence) -> None:
        item = row_of_each(evidence.offsets)
        turn, slot = item // evidence.n_slots, item % evidence.n_slots
        informed = evidence.informed - evidence.affirmed
        self.informs[dialogs] = np.bincount(turn, informed, len(dialogs))
        for rows, kept in (
            (evidence.explicit & (evidence.affirmed > CONFIRMED_FROM), self.confirmed),
            (evidence.implicit & (evidence.denied <= CONFIRMED_FROM), self.implied),
        ):
            kept[dialogs[turn[rows]], slot[rows]] = evidence.value[rows]
        no = np.flatnonzero(evidence.denied > CONFIRMED_FROM)
        dialog, slot, value = dialogs[turn[no]], slot[no], evidence.value[no]
        for kept in (self.confirmed, self.implied):
            gone = kept[dialog, slot] == value
            kept[dialog[gone], slot[gone]] = NONE


def history_of_turns(
    domain: Domain, offsets: Ints, predicate: Ints, system: Acts, evidence: Evidence
) -> History:
    """(n_turns,) the history after each turn of the dialogs that `offsets` delimit."""
    dialogs = np.arange(len(offsets) - 1)
    now, after = History.of(len(dialogs), evidence.n_slots), History.of(int(offsets[-1]), evidence.n_slots)
    for active, turns in turns_in_step(offsets, dialogs):
        now.step(domain, active, predicate[turns], system.take(turns), evidence.take(turns))
        for field in fields(History):
            getattr(after, field.name)[turns] = getattr(now, field.name)[active]
    return after


def _is(domain: Domain, predicate: Ints, names: tuple[str, ...]) -> Bools:
    return is_among(predicate, [domain.predicate_names.index(name) for name in names])


def wording_of(acts: Acts) -> npt.NDArray[np.uint64]:
    """(n_owners,) a hash of the acts; the same acts with the same pairs have the same hash."""
    owner = acts.owner_of_act
    total = np.zeros(len(acts.offsets) - 1, dtype=np.uint64)
    act = acts.act_of_pair
    name = acts.name.astype(np.uint64)
    np.add.at(total, owner, _scattered(name))
    pair = _scattered(_scattered(name[act]) + acts.slot.astype(np.uint64)) + acts.value.astype(np.uint64)
    np.add.at(total, owner[act], _scattered(pair))
    return total


def _scattered(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    numbers = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    return (numbers ^ (numbers >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
