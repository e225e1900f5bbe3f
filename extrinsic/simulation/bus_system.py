"""The system's actions in the bus world: from a predicate to an act with arguments.

A policy chooses the predicate; which slot to ask for, what to confirm and what to offer follow from the
tracker's beliefs by the same rules for every policy, the expert's own included.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from extrinsic.arrays import Bools, Ids, Ints, is_among, offsets_from_lengths, row_of_each, take_rows
from extrinsic.corpus.acts import NONE, Acts
from extrinsic.corpus.domain import Domain
from extrinsic.simulation.bus_values import pairs_of_offers
from extrinsic.simulation.values import NOTHING, Phrase, Phrases, Repertoire, Values
from extrinsic.simulation.world import Moment, View
from extrinsic.simulation.world_files import Settings
from extrinsic.typed_files import Share


class SystemSettings(Settings, frozen=True):
    """The abilities and needs of the system, for every policy."""

    opening: Literal["open", "directed"] = "open"
    """The greeting asks how it may help; or, directed, for the first of `required`."""
    required: tuple[str, ...] = ("from", "to", "time")
    """The groups that it requests, in this order, and in which an offer has to be right."""
    unless_next_bus: tuple[str, ...] = ()
    """Further ones, requested if the caller does not want the next few buses."""
    next_bus: Literal["after", "before"] = "after"
    """When it asks for the next bus: after an offer, for a further one; or before the first one, instead of
    asking for `unless_next_bus`."""
    hangs_up: bool = True
    """Whether it can say goodbye. If not, calls last until the caller has had enough."""
    help: bool = False
    """After an offer it only understands what callers say to browse: where it hears nothing of that, it says
    so ("you can say repeat, next, previous"), and offers no more until it does."""
    ignores: Share = 0.0
    """A value scored below this counts as missing: it is requested, and neither confirmed nor offered."""
    accepts: Share = 0.3
    """A request to browse counts if its score is at least this."""

    def heard(self, view: View) -> Bools:
        """(m, n_groups) whether the group has a value with a score that is not ignored."""
        return np.asarray((view.tops.value != NONE) & (view.tops.score >= self.ignores))

    def filled(self, view: View) -> Bools:
        """(m, n_groups) whether the group has a value to offer: by the fill rule, or heard well enough."""
        return self.heard(view) if view.filled is None else np.asarray(view.filled.groups.value != NONE)

    def has_places(self, view: View) -> Bools:
        """(m,) whether there are both places that an offer needs."""
        groups = list(view.domain.groups)
        return np.asarray(self.filled(view)[:, [groups.index("from"), groups.index("to")]].all(axis=1))

    def needed(self, moment: Moment) -> Bools:
        """(m, n_groups) the groups that need a value before an offer."""
        groups = list(moment.domain.groups)
        bit = moment.domain.yes_no.index("next_bus")
        can_ask = moment.allowed[:, moment.domain.predicate_names.index("next_bus")]
        declined = self.has_places(moment) & ~can_ask & ((moment.history.granted >> bit) & 1 == 0)
        instead = np.isin(groups, self.unless_next_bus)
        return np.asarray(np.isin(groups, self.required) | (instead & declined[:, None]))

    def first_question(self, domain: Domain) -> int:
        """The group that the opening requests, NOTHING where the choice is the caller's."""
        return NOTHING if self.opening == "open" else list(domain.groups).index(self.required[0])


OPTIONAL_FROM = 0.3
"""Without a fill rule, a route or a date is part of an offer when its score is above this."""


RESTART, GO_BACK, NEXT, PREVIOUS, AGAIN, BYE = 1, 2, 3, 4, 5, 6
"""What a caller may say besides values, yes and no."""

COMMANDS = ("restart", "goback", "nextbus", "prevbus", "repeat", "bye")
"""Their names in files, in that order."""

BROWSING = (NEXT, PREVIOUS, AGAIN)

CONFUSABLE = (GO_BACK, BYE)
"""A request to start over is never misheard as another."""

GRANTED = 7
"""An offer that follows a yes to the question for the next bus; the others follow a request to browse."""


@dataclass(frozen=True, eq=False)
class SystemTurn:
    """What the system says to m callers, as numbers of groups and values.

    predicate (m,).   request (m,): the group asked for.   explicit, implicit (m,): the value confirmed.
    offer (m, n_groups): the values an offer, or an apology, is made for.   NOTHING where not applicable.
    follows (m,): what an offer answers: NEXT, PREVIOUS, AGAIN, GRANTED, or SILENT for none of these.
    bus (m,): which bus is offered: how many suitable ones come before it, below 0 for earlier ones.
    """

    predicate: Ints
    request: Ints
    explicit: Ints
    implicit: Ints
    offer: Ints
    follows: Ints
    bus: Ints


def realise(values: Values, system: SystemSettings, predicate: Ints, moment: Moment) -> SystemTurn:
    """The acts of the predicates, with arguments from the beliefs; the world adds `follows` and `bus`."""
    name = values.domain.predicate_names.index
    tops = moment.tops
    number = values.number[tops.slot, tops.value]
    has_value = (number != NOTHING) & system.heard(moment)
    filled = has_value if moment.filled is None else system.filled(moment)
    nothing = np.full(len(predicate), NOTHING, dtype=np.int64)

    def of_group(group: Ints) -> Ints:
        return np.asarray(np.take_along_axis(number, group[:, None], axis=1)[:, 0])

    request = _next_question(values, system, filled, moment)
    doubtful = np.where(
        has_value & ~moment.confirmed, tops.score, np.where(has_value, 1.0 + tops.score, np.inf)
    )
    sure = np.where(has_value, tops.score - 2.0 * (moment.confirmed | moment.implied), -np.inf)
    missing = ~np.take_along_axis(filled, request[:, None], axis=1)[:, 0]
    implies = predicate == name("implicit_confirm")
    asks = (predicate == name("request")) | (implies & missing)
    if system.next_bus == "before":
        # "Okay, downtown. Do you want times for the next few buses?"
        unspoken = (has_value & ~moment.confirmed & ~moment.implied).any(axis=1)
        implies = implies | ((predicate == name("next_bus")) & unspoken)
    # After a restart, the first question comes first again.
    first = system.first_question(values.domain)
    request = np.where(predicate == name("restart"), first, np.where(asks, request, NOTHING))
    offers = is_among(predicate, [name("offer"), name("canthelp")])
    return SystemTurn(
        predicate=predicate,
        request=request,
        explicit=np.where(predicate == name("confirm"), of_group(doubtful.argmin(axis=1)), nothing),
        implicit=np.where(implies, of_group(sure.argmax(axis=1)), nothing),
        offer=np.where(offers[:, None], offered_values(values, system, moment), NOTHING),
        follows=np.zeros_like(nothing),
        bus=np.zeros_like(nothing),
    )


def offered_values(values: Values, system: SystemSettings, moment: Moment) -> Ints:
    """(m, n_groups) the values that an offer would be for: what counts as filled, else the best values."""
    if moment.filled is not None:
        best = moment.filled.groups
        return np.where(system.filled(moment), values.number[best.slot, best.value], NOTHING)
    tops, groups = moment.tops, list(values.domain.groups)
    number = values.number[tops.slot, tops.value]
    optional = ~np.isin(groups, [*system.required, *system.unless_next_bus])
    left_out = optional & (tops.score <= OPTIONAL_FROM)
    return np.where((number != NOTHING) & system.heard(moment) & ~left_out, number, NOTHING)


def _next_question(values: Values, system: SystemSettings, filled: Bools, moment: Moment) -> Ints:
    """(m,) the needed group to request: empty before filled, then rarely requested, then low scores.

    A directed system requests in its own order, each three times before the next.
    """
    groups = list(values.domain.groups)
    required = [groups.index(name) for name in (*system.required, *system.unless_next_bus)]
    n_requests = np.stack(
        [moment.history.requests[:, values.group == group].max(axis=1) for group in required], 1
    )
    settled = filled[:, required] * 1e6 + moment.confirmed[:, required] * 1e6
    if system.opening == "directed":
        in_turn = np.where(filled[:, required], moment.tops.score[:, required], np.arange(len(required)))
        order = settled + (n_requests // 3) * 1e2 + in_turn
    else:
        order = settled + n_requests * 1e2 + moment.tops.score[:, required]
    if system.unless_next_bus:
        order = order + 1e9 * ~system.needed(moment)[:, required]
    return np.asarray(np.array(required)[order.argmin(axis=1)])


_CONFIRMED = {NEXT: "nextbus", PREVIOUS: "prevbus", AGAIN: "repeat", GRANTED: "want-next-bus"}
"""What an offer follows, and the act that it confirms: impl-conf(act=nextbus) says so."""


@cache
def caller_phrases(values: Values) -> Phrases:
    """What callers say: one `inform` a value, `affirm`, `negate`, and the commands."""
    return Phrases.of_callers(values, [(name, ()) for name in COMMANDS])


@cache
def _system_phrases(values: Values) -> Repertoire:
    """What the system says; requests are numbered as groups, confirmed acts by `_CONFIRMED`."""
    kinds: dict[str, list[Phrase]] = {
        "hello": [("hello", ())],
        "goodbye": [("bye", ())],
        "restart": [("restart", ())],
        "help": [("sorry", ())],
        "open": [("open-request", ())],
        "canthelp": [("canthelp.no_connection", ())],
        "schedule": [("schedule", ())],
        "next_bus": [("expl-conf", [("act", "want-next-bus")])],
        "follows": [("impl-conf", [("act", word)]) for word in _CONFIRMED.values()],
        "request": [("request", [(group, None)]) for group in values.domain.groups],
    }
    phrases = {kind: Phrases.of(values.vocabulary, of_kind) for kind, of_kind in kinds.items()}
    confirmed = {act: Phrases.of_values(values, act) for act in ("expl-conf", "impl-conf")}
    return Repertoire.of(phrases | confirmed)


def acts_of(values: Values, system: SystemTurn) -> Acts:
    """What the system says, as acts."""
    domain, rows = values.domain, np.arange(len(system.predicate))

    def rows_of(name: str) -> Ints:
        return np.flatnonzero(system.predicate == domain.predicate_names.index(name))

    said: list[tuple[str, Ints, Ints | int]] = [
        (name, rows_of(name), 0) for name in ("hello", "goodbye", "restart", "help")
    ]
    opens = np.concatenate([rows_of(name) for name in ("hello", "open_request", "restart")])
    said.append(("open", opens[system.request[opens] == NOTHING], 0))
    # "I know the 61C and the 28X, but neither goes from the mall to downtown. Where are you going to?"
    apologies, groups = rows_of("canthelp"), list(domain.groups)
    places = system.offer[apologies][:, [groups.index("from"), groups.index("to")]]
    said.append(("canthelp", apologies, 0))
    for act, value in (("expl-conf", system.explicit), ("impl-conf", system.implicit)):
        said.append((act, rows[value != NOTHING], value[value != NOTHING]))
    said += [("impl-conf", apologies, places[:, 1]), ("next_bus", rows_of("next_bus"), 0)]
    offers = rows_of("offer")
    for position, follows in enumerate(_CONFIRMED):
        said.append(("follows", offers[system.follows[offers] == follows], position))
    asks = rows[system.request != NOTHING]
    said += [("request", asks, system.request[asks]), ("request", apologies, groups.index("to"))]
    said.append(("schedule", offers, 0))
    acts = _system_phrases(values).acts(len(rows), said)
    if len(apologies):
        offsets, pairs = take_rows(values.pair_offsets, places.ravel())
        described = offsets[::2], values.pair_slot[pairs], values.pair_value[pairs]
        acts = _with_pairs(acts, values.vocabulary.find("canthelp.no_connection"), *described)
    if len(offers):
        described = pairs_of_offers(values, system.offer[offers], system.bus[offers])
        acts = _with_pairs(acts, values.vocabulary.find("schedule"), *described)
    return acts


def _with_pairs(acts: Acts, name: int, offsets: Ints, slot: Ids, value: Ids) -> Acts:
    """The acts, those of one name with pairs: the k-th of them has the k-th row of these."""
    chosen = np.flatnonzero(acts.name == name)
    lengths = np.diff(acts.pair_offsets)
    lengths[chosen] += np.diff(offsets)
    act = np.concatenate([row_of_each(acts.pair_offsets), chosen[row_of_each(offsets)]])
    order = np.argsort(act, kind="stable")
    return Acts(
        acts.offsets,
        acts.name,
        offsets_from_lengths(lengths),
        np.concatenate([acts.slot, slot])[order],
        np.concatenate([acts.value, value])[order],
    )
