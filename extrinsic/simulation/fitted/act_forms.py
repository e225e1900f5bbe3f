"""How the logged system words what it does: which acts make up a turn, and where its values stand in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Ids, Ints, offsets_from_lengths, take_rows
from extrinsic.corpus.acts import Acts
from extrinsic.corpus.vocabulary import NONE
from extrinsic.simulation.fitted.logged_values import LoggedValues
from extrinsic.simulation.fitted.system_turns import SystemTurns
from extrinsic.simulation.utterance import NOTHING

CONFIRMS, IMPLIES, ASKS, OFFERS, TELLS, PLAIN = range(6)
"""The roles of acts: what their values are. A plain act is said as it stands in the log."""


@dataclass(frozen=True)
class Form:
    """A way to word a predicate: the names and roles of its acts, in order; `plain`: the rows of its plain
    acts in the logs' system acts.   share: of the turns of the predicate."""

    names: tuple[int, ...]
    roles: tuple[int, ...]
    plain: tuple[int, ...]
    refuses: bool
    share: float

    def has(self, role: int) -> bool:
        return role in self.roles


@dataclass(frozen=True, eq=False)
class ActForms:
    """The forms of every predicate, most frequent first, and how values are written in them.

    by_predicate: per predicate its forms.   acts: the system acts of all logs, for the plain ones.
    ask_slot, ask_value (n_concepts,): the pair of a question.   tell_value (n_requestable,): of a fact.
    offered_slot (n_pairs,): the name of the slot of each pair of a value in an offer.
    one_act: the names of acts of offers that have all of their values in one act.
    inform: the name of the act that tells a fact, alone or as a part of an offer.
    """

    by_predicate: tuple[tuple[Form, ...], ...]
    acts: Acts
    values: LoggedValues
    requestable: Ids
    ask_slot: Ids
    ask_value: Ids
    tell_value: Ids
    offered_slot: Ids
    one_act: frozenset[int]
    inform: int

    def choose(self, said: SystemTurns, feasible: Bools) -> Ints:
        """(m,) which form of its predicate each turn has: the most frequent feasible one.

        feasible (m, n_roles): which roles have something to say.
        """
        chosen = np.zeros(len(said.predicate), dtype=np.int64)
        for predicate in np.unique(said.predicate):
            rows = np.flatnonzero(said.predicate == predicate)
            forms = self.by_predicate[predicate]
            fits = np.stack(
                [
                    feasible[rows][:, list(form.roles)].all(axis=1) & (said.refuses[rows] == form.refuses)
                    for form in forms
                ],
                axis=1,
            )
            refusal = np.stack([said.refuses[rows] == form.refuses for form in forms], axis=1)
            chosen[rows] = np.where(fits.any(axis=1), fits.argmax(axis=1), refusal.argmax(axis=1))
        return chosen

    def roles_of(self, predicate: Ints, form: Ints) -> Bools:
        """(m, n_roles) which roles the chosen forms have; an offer that informs may also tell facts."""
        table = np.zeros((len(predicate), PLAIN + 1), dtype=bool)
        for action, number, rows in _alike(predicate, form):
            chosen = self.by_predicate[action][number]
            for name, role in zip(chosen.names, chosen.roles, strict=True):
                table[rows, role] = True
                if role == OFFERS and name == self.inform:
                    table[rows, TELLS] = True
        return table

    def worded(self, said: SystemTurns, form: Ints) -> Acts:
        """The acts of turns whose forms were chosen."""
        writer = _Writer(self, len(said.predicate))
        for predicate, number, rows in _alike(said.predicate, form):
            writer.write(rows, self.by_predicate[predicate][number], said.take(rows))
        return writer.acts()


def _alike(predicate: Ints, form: Ints) -> Iterator[tuple[int, int, Ints]]:
    """Every predicate and form that occurs, with its turns."""
    for action, number in np.unique(np.stack([predicate, form]), axis=1).T.tolist():
        yield action, number, np.flatnonzero((predicate == action) & (form == number))


class _Writer:
    """Collects acts and their pairs in any order, and puts them in order at the end."""

    def __init__(self, forms: ActForms, n_turns: int) -> None:
        self.forms, self.n_turns = forms, n_turns
        self.owner: list[Ints] = []
        self.place: list[Ints] = []
        self.name: list[Ints] = []
        self.pairs: list[tuple[Ints, Ids, Ids]] = []

    def write(self, rows: Ints, form: Form, said: SystemTurns) -> None:
        plain = iter(form.plain)
        for place, (name, role) in enumerate(zip(form.names, form.roles, strict=True)):
            if role == PLAIN:
                self._add(rows, place, name, self._plain(np.full(len(rows), next(plain))))
            elif role in (CONFIRMS, IMPLIES):
                number = said.explicit if role == CONFIRMS else said.implicit
                kept = np.flatnonzero(number != NOTHING)
                self._add(rows[kept], place, name, self.forms.values.pairs(number[kept]))
            elif role == ASKS:
                kept = np.flatnonzero(said.asked != NOTHING)
                self._add(rows[kept], place, name, self._asked(said.asked[kept]))
            elif role == OFFERS:
                self._offer(rows, place, name, said.offered)
                if name == self.forms.inform:
                    forms = self.forms
                    rest = said.tells & ~forms.values.named(said.offered, forms.requestable)
                    self._tell(rows, place, name, rest & (forms.tell_value != NONE))
            else:
                self._tell(rows, place, name, said.tells)

    def _add(self, rows: Ints, place: int, name: int, pairs: tuple[Ints, Ids, Ids]) -> None:
        self.owner.append(rows)
        self.place.append(np.full(len(rows), place))
        self.name.append(np.full(len(rows), name, dtype=np.int64))
        self.pairs.append(pairs)

    def _plain(self, acts: Ints) -> tuple[Ints, Ids, Ids]:
        logged = self.forms.acts
        offsets, pairs = take_rows(logged.pair_offsets, acts)
        return offsets, logged.slot[pairs], logged.value[pairs]

    def _asked(self, concept: Ints) -> tuple[Ints, Ids, Ids]:
        return np.arange(len(concept) + 1), self.forms.ask_slot[concept], self.forms.ask_value[concept]

    def _offer(self, rows: Ints, place: int, name: int, offered: Ints) -> None:
        values = self.forms.values
        row, concept = np.nonzero(offered != NOTHING)
        offsets, flat = take_rows(values.pair_offsets, offered[row, concept])
        slot, value = self.forms.offered_slot[flat], values.pair_value[flat]
        if name not in self.forms.one_act:
            self._add(rows[row], place, name, (offsets, slot, value))
            return
        lengths = np.bincount(row, np.diff(offsets), minlength=len(rows)).astype(np.int64)
        self._add(rows, place, name, (offsets_from_lengths(lengths), slot, value))

    def _tell(self, rows: Ints, place: int, name: int, tells: Bools) -> None:
        row, fact = np.nonzero(tells)
        pairs = (np.arange(len(row) + 1), self.forms.requestable[fact], self.forms.tell_value[fact])
        self._add(rows[row], place, name, pairs)

    def acts(self) -> Acts:
        owner, place, name = (np.concatenate(part) for part in (self.owner, self.place, self.name))
        order = np.lexsort((np.arange(len(owner)), place, owner))
        lengths = np.concatenate([np.diff(offsets) for offsets, _, _ in self.pairs])
        offsets, pairs = take_rows(offsets_from_lengths(lengths), order)
        slot = np.concatenate([slots for _, slots, _ in self.pairs])
        value = np.concatenate([values for _, _, values in self.pairs])
        return Acts(
            offsets_from_lengths(np.bincount(owner, minlength=self.n_turns)),
            name[order].astype(np.int32),
            offsets,
            slot[pairs].astype(np.int32),
            value[pairs].astype(np.int32),
        )
