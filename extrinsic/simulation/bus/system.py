"""The system's actions in the bus world: from a predicate to an act with arguments.

A policy chooses the predicate; which slot to ask for, what to confirm and what to offer follow from the
tracker's beliefs by the same rules for every policy, the expert's own included.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Ints, is_among
from extrinsic.corpus.vocabulary import NONE
from extrinsic.simulation.bus.bus_settings import SystemSettings
from extrinsic.simulation.ontology import Values
from extrinsic.simulation.utterance import NOTHING
from extrinsic.simulation.world import Moment, View

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

    @staticmethod
    def saying(predicate: Ints, request: Ints | None = None, n_groups: int = 5) -> SystemTurn:
        """Turns without values: a greeting, a question."""
        nothing = np.full(len(predicate), NOTHING, dtype=np.int64)
        zero = np.zeros(len(predicate), dtype=np.int64)
        offer = np.full((len(predicate), n_groups), NOTHING)
        return SystemTurn(
            predicate, nothing if request is None else request, nothing, nothing, offer, zero, zero
        )


def greeting(values: Values, system: SystemSettings, n_dialogs: int) -> SystemTurn:
    """The greeting that begins every call."""
    hello = np.full(n_dialogs, values.domain.predicate_names.index("hello"), dtype=np.int64)
    return SystemTurn.saying(hello, np.full(n_dialogs, first_question(values, system)))


def first_question(values: Values, system: SystemSettings) -> int:
    """The group that the opening requests, NOTHING where the choice is the caller's."""
    if system.opening == "open":
        return NOTHING
    return list(values.domain.groups).index(system.required[0])


def heard_groups(system: SystemSettings, view: View) -> Bools:
    """(m, n_groups) whether the group has a value with a score that this system does not ignore."""
    return np.asarray((view.tops.value != NONE) & (view.tops.score >= system.ignores))


def filled_groups(system: SystemSettings, view: View) -> Bools:
    """(m, n_groups) whether the group has a value to offer: by the fill rule, or heard well enough."""
    if view.filled is None:
        return heard_groups(system, view)
    return np.asarray(view.filled.groups.value != NONE)


def has_places(system: SystemSettings, view: View) -> Bools:
    """(m,) whether there are both places that an offer needs."""
    groups = list(view.domain.groups)
    return np.asarray(filled_groups(system, view)[:, [groups.index("from"), groups.index("to")]].all(axis=1))


def possible(
    values: Values, system: SystemSettings, view: View, command: Ints, granted: Bools, declined: Bools
) -> Bools:
    """(m, n_predicates) the possible predicates: confirming needs a value, offering both places (filled, by
    the rule if there is one), and the next bus a first one, unless the system asks for it once before that.

    command (m,): what the caller was just understood to want, SILENT for nothing.
    granted, declined (m,): the caller's answer when asked for the next bus.
    """
    names, history = values.domain.predicate_names, view.history
    has_value, places = heard_groups(system, view), has_places(system, view)
    always = np.ones(len(has_value), dtype=bool)
    browsing = is_among(history.predicate, [names.index("offer"), names.index("help")])
    helps = browsing & ~is_among(command, BROWSING) & system.help
    before = places & ~granted & ~declined & ~history.offered
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
    return np.stack([can.get(name, ~always) for name in names], axis=1)


def needed(system: SystemSettings, moment: Moment) -> Bools:
    """(m, n_groups) the groups that need a value before an offer."""
    groups = list(moment.domain.groups)
    always = np.array([group in system.required for group in groups])
    instead = np.array([group in system.unless_next_bus for group in groups])
    bit = moment.domain.yes_no.index("next_bus")
    can_ask = moment.allowed[:, moment.domain.predicate_names.index("next_bus")]
    declined = has_places(system, moment) & ~can_ask & ((moment.history.granted >> bit) & 1 == 0)
    return np.asarray(always | (instead & declined[:, None]))


def realise(values: Values, system: SystemSettings, predicate: Ints, moment: Moment) -> SystemTurn:
    """The acts of the chosen predicates, their arguments taken from the beliefs."""
    name = values.domain.predicate_names.index
    groups = list(values.domain.groups)
    tops = moment.tops
    number = values.number[tops.slot, tops.value]
    has_value = (number != NOTHING) & heard_groups(system, moment)
    nothing = np.full(len(predicate), NOTHING, dtype=np.int64)

    def of_group(group: Ints) -> Ints:
        return np.asarray(np.take_along_axis(number, group[:, None], axis=1)[:, 0])

    filled = has_value if moment.filled is None else filled_groups(system, moment)
    request = _next_question(values, system, filled, moment)
    doubtful = np.where(
        has_value & ~moment.confirmed, tops.score, np.where(has_value, 1.0 + tops.score, np.inf)
    )
    sure = np.where(has_value, tops.score - 2.0 * (moment.confirmed | moment.implied), -np.inf)
    asks = is_among(predicate, [name("request"), name("implicit_confirm")])
    missing = ~np.take_along_axis(filled, request[:, None], axis=1)[:, 0]
    asks &= missing | (predicate == name("request"))
    if moment.filled is None:
        optional = ~np.isin(groups, [*system.required, *system.unless_next_bus])
        offered = np.where(has_value & ~(optional & (tops.score <= OPTIONAL_FROM)), number, NOTHING)
    else:
        offers = moment.filled.groups
        offered = np.where(filled, values.number[offers.slot, offers.value], NOTHING)
    implies = predicate == name("implicit_confirm")
    if system.next_bus == "before":
        # "Okay, downtown. Do you want times for the next few buses?"
        unspoken = (has_value & ~moment.confirmed & ~moment.implied).any(axis=1)
        implies = implies | ((predicate == name("next_bus")) & unspoken)
    # After a restart, the first question comes first again.
    request = np.where(
        predicate == name("restart"), first_question(values, system), np.where(asks, request, NOTHING)
    )
    return SystemTurn(
        predicate=predicate,
        request=request,
        explicit=np.where(predicate == name("confirm"), of_group(doubtful.argmin(axis=1)), nothing),
        implicit=np.where(implies, of_group(sure.argmax(axis=1)), nothing),
        offer=np.where(is_among(predicate, [name("offer"), name("canthelp")])[:, None], offered, NOTHING),
        follows=np.zeros_like(nothing),
        bus=np.zeros_like(nothing),
    )


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
        order = order + 1e9 * ~needed(system, moment)[:, required]
    return np.asarray(np.array(required)[order.argmin(axis=1)])
