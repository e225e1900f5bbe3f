"""From a predicate to what the system says: which concept it asks for, confirms or offers, by the beliefs.

A policy chooses a predicate; the rules for its arguments are those that the logged system seems to follow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.corpus.group_tops import GroupTops, tops_of
from extrinsic.corpus.vocabulary import NONE
from extrinsic.simulation.fitted.act_forms import ASKS, CONFIRMS, IMPLIES, OFFERS, PLAIN, TELLS, ActForms
from extrinsic.simulation.fitted.confirmed_concepts import Choice
from extrinsic.simulation.fitted.logged_values import LoggedValues
from extrinsic.simulation.fitted.questions import Questions
from extrinsic.simulation.fitted.sequels import Sequels
from extrinsic.simulation.fitted.system_turns import SystemTurns
from extrinsic.simulation.utterance import NOTHING
from extrinsic.simulation.world import View

ASKED_FROM = 0.5
"""A fact is told that the caller asked for with more than this probability; else the likeliest one."""

SOMETIMES, NEARLY_ALWAYS = 0.02, 0.9
"""Shares of the logged turns in which something was done."""


def by_concept(values: LoggedValues, view: View) -> View:
    """The view with the best and the filled value of every concept, also of slots that are in no group."""
    tops, filled = tops_of(values.columns, view.belief), view.filled
    if filled is not None:
        n_groups = filled.groups.slot.shape[1]
        slot, score = tops.slot[:, n_groups:], tops.score[:, n_groups:]
        alone = GroupTops(slot, np.take_along_axis(filled.value, slot, axis=1), score)
        filled = replace(filled, groups=filled.groups.beside(alone))
    return replace(view, tops=tops, filled=filled)


@dataclass(frozen=True, eq=False)
class ArgumentRules:
    """heard_from (n_concepts,): a value with a lower score is not acted on.
    offered_from (n_concepts,): nor is one with a lower score part of an offer.
    offer_tells (n_requestable,): the share of logged offers that tell a fact.
    questions: which concept is asked for.   confirms, implies: which one is confirmed.
    needed (n_predicates, n_concepts): what nearly every logged turn of a predicate had a value of.
    sequels: what the log did at least sometimes, by what came before.
    ends: the predicates that end a dialog.   opening: the one that greets, and the concept that it asks for.
    """

    values: LoggedValues
    forms: ActForms
    heard_from: Floats
    offered_from: Floats
    questions: Questions
    confirms: Choice
    implies: Choice
    needed: Bools
    offer_tells: Floats
    sequels: Sequels
    ends: Ints
    opening: tuple[int, int]

    def greeting(self, n_dialogs: int) -> tuple[SystemTurns, Ints]:
        """The first turn of n dialogs, and its form."""
        predicate, asked = self.opening
        nothing = np.full(n_dialogs, NOTHING, dtype=np.int64)
        no = np.zeros(n_dialogs, dtype=bool)
        said = SystemTurns(
            predicate=np.full(n_dialogs, predicate, dtype=np.int64),
            asked=np.full(n_dialogs, asked, dtype=np.int64),
            explicit=nothing,
            implicit=nothing,
            offers=no,
            refuses=no,
            offered=np.full((n_dialogs, self.values.n_concepts), NOTHING, dtype=np.int64),
            tells=np.zeros((n_dialogs, len(self.forms.requestable)), dtype=bool),
        )
        feasible = np.ones((n_dialogs, PLAIN + 1), dtype=bool)
        feasible[:, [CONFIRMS, IMPLIES, OFFERS, TELLS]] = False
        feasible[:, ASKS] = asked != NOTHING
        return self.worded(said, feasible)

    def possible(self, view: View, reply: Ints, settled: Bools) -> Bools:
        """(m, n_predicates) what the logged system did in such a place, and for which there is a value.

        reply, settled: see `Sequels.possible`.
        """
        possible = self.sequels.possible(view.history, reply, settled)
        view = by_concept(self.values, view)
        heard, filled = self._heard(view), self._filled(view)
        for predicate, forms in enumerate(self.forms.by_predicate):
            if not forms:
                possible[:, predicate] = False
                continue
            presents = any(form.has(OFFERS) or form.refuses for form in forms)
            if all(form.has(CONFIRMS) or form.has(IMPLIES) for form in forms if form.share > SOMETIMES):
                possible[:, predicate] &= heard.any(axis=1)
            if presents:
                possible[:, predicate] &= filled.any(axis=1)
            possible[:, predicate] &= ((filled if presents else heard) | ~self.needed[predicate]).all(axis=1)
        stuck = ~possible.any(axis=1)
        possible[stuck] = self.sequels.ever
        return possible

    def _heard(self, view: View) -> Bools:
        """(m, n_concepts) whether the concept has a value that is acted on."""
        return np.asarray((view.tops.value != NONE) & (view.tops.score >= self.heard_from))

    def _filled(self, view: View) -> Bools:
        """(m, n_concepts) whether there is a value to offer: by the fill rule, or heard well enough."""
        return self._heard(view) if view.filled is None else np.asarray(view.filled.groups.value != NONE)

    def _offered(self, view: View) -> Ints:
        """(m, n_concepts) the values that an offer is for: all that are filled, or all that have the score of
        those in logged offers. A search for anything names nothing."""
        tops = view.tops if view.filled is None else view.filled.groups
        number = np.where(self._filled(view), self.values.number(tops.slot, tops.value), NOTHING)
        named = ~self.values.is_dontcare(number)
        if view.filled is None:
            named &= tops.score >= self.offered_from
        return np.where(named, number, NOTHING)

    def realise(
        self, view: View, predicate: Ints, offer: Bools, fresh: Bools, settled: Bools, draw: Floats
    ) -> tuple[SystemTurns, Bools]:
        """All that the system could say with the chosen predicates, and (m, n_roles) which of it there is.

        offer (n_predicates,): the predicates that present a result.
        fresh (m, n_concepts): what the last answer was about.   settled (m, n_predicates): see `Sequels`.
        draw (m,): in [0, 1).
        """
        view = by_concept(self.values, view)
        heard, tops = self._heard(view), view.tops
        number = np.where(heard, self.values.number(tops.slot, tops.value), NOTHING)
        heard &= number != NOTHING
        rows = np.arange(len(predicate))
        facts = (heard, tops.score, view.confirmed, view.implied, fresh)
        doubtful, sure = self.confirms.of(*facts), self.implies.of(*facts)
        empty_first = heard if view.filled is None else self._filled(view)
        closed = self.sequels.closed(view.history.offered, settled)
        asked, missing = self.questions.asked(view, empty_first, closed, predicate, draw)
        n_turns, presents = len(predicate), offer[predicate]
        offered = np.where(presents[:, None], self._offered(view), NOTHING)
        nothing = np.full(n_turns, NOTHING, dtype=np.int64)
        said = SystemTurns(
            predicate=predicate,
            asked=asked,
            explicit=np.where(heard.any(axis=1), number[rows, doubtful], nothing),
            implicit=np.where(heard.any(axis=1), number[rows, sure], nothing),
            offers=presents,
            refuses=np.zeros(n_turns, dtype=bool),
            offered=offered,
            tells=np.where(presents[:, None], self._facts_of_offers(view, offered), self._facts(view)),
        )
        feasible = np.ones((n_turns, PLAIN + 1), dtype=bool)
        feasible[:, CONFIRMS] = heard.any(axis=1)
        feasible[:, IMPLIES] = (heard & ~view.confirmed & ~view.implied).any(axis=1)
        feasible[:, ASKS] = missing
        return said, feasible

    def worded(self, said: SystemTurns, feasible: Bools) -> tuple[SystemTurns, Ints]:
        """Only what the form of each turn has room for is said; and (m,) the forms."""
        form = self.forms.choose(said, feasible)
        roles = self.forms.roles_of(said.predicate, form)
        shown = said.offers | said.refuses
        return replace(
            said,
            asked=np.where(roles[:, ASKS], said.asked, NOTHING),
            explicit=np.where(roles[:, CONFIRMS], said.explicit, NOTHING),
            implicit=np.where(roles[:, IMPLIES], said.implicit, NOTHING),
            offered=np.where(shown[:, None], said.offered, NOTHING),
            tells=said.tells & roles[:, TELLS][:, None],
        ), form

    def _facts_of_offers(self, view: View, offered: Ints) -> Bools:
        """(m, n_requestable) the facts that an offer for these values tells: those that it names, those that
        every offer tells, and those probably asked for, if offers ever tell them."""
        asked_for = (view.requested > ASKED_FROM) & (self.offer_tells > SOMETIMES)
        named = self.values.named(offered, self.forms.requestable)
        return np.asarray(named | asked_for | (self.offer_tells > NEARLY_ALWAYS))

    def _facts(self, view: View) -> Bools:
        """(m, n_requestable) the facts that are told: those probably asked for, or else the likeliest."""
        if not view.requestable:
            return np.zeros((len(view.dialogs), 0), dtype=bool)
        likely = view.requested > ASKED_FROM
        best = np.arange(view.requested.shape[1]) == view.requested.argmax(axis=1)[:, None]
        return np.where(likely.any(axis=1, keepdims=True), likely, best)
