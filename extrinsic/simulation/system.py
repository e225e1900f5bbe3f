"""The system's actions in the bus world: from a predicate to an act with arguments.

A policy chooses the predicate; which slot to ask for, what to confirm and what to offer follow from the
tracker's beliefs by the same rules for every policy, the expert's own included.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Ints
from extrinsic.corpus.group_tops import GroupTops
from extrinsic.corpus.history import History
from extrinsic.corpus.vocabulary import NONE
from extrinsic.simulation.bus_ontology import Values
from extrinsic.simulation.goals import NOTHING
from extrinsic.simulation.world import Moment

OPTIONAL_FROM = 0.3
"""A route or a date is part of an offer when its score is above this."""


@dataclass(frozen=True, eq=False)
class SystemTurn:
    """What the system says to m callers, as numbers of groups and values.

    predicate (m,).   request (m,): the group asked for.   explicit, implicit (m,): the value confirmed.
    offer (m, n_groups): the values an offer, or an apology, is made for.   NOTHING where not applicable.
    """

    predicate: Ints
    request: Ints
    explicit: Ints
    implicit: Ints
    offer: Ints


def greeting(values: Values, n_dialogs: int) -> SystemTurn:
    """The greeting that begins every call."""
    none = np.full(n_dialogs, NOTHING, dtype=np.int64)
    hello = np.full(n_dialogs, values.domain.predicate_names.index("hello"), dtype=np.int64)
    return SystemTurn(hello, none, none, none, np.full((n_dialogs, len(values.domain.groups)), NOTHING))


def possible(values: Values, tops: GroupTops, history: History, startover: Bools) -> Bools:
    """(m, n_predicates) the possible predicates: confirming needs a value, offering both places, and the
    next bus a first one."""
    names = values.domain.predicate_names
    groups = list(values.domain.groups)
    has_value = tops.value != NONE
    places = has_value[:, groups.index("from")] & has_value[:, groups.index("to")]
    always = np.ones(len(has_value), dtype=bool)
    can = {
        "open_request": always,
        "request": always,
        "confirm": has_value.any(axis=1),
        "implicit_confirm": has_value.any(axis=1),
        "offer": places,
        "next_bus": history.offered,
        "goodbye": always,
        "restart": startover,
    }
    return np.stack([can.get(name, ~always) for name in names], axis=1)


def realise(values: Values, predicate: Ints, moment: Moment) -> SystemTurn:
    """The acts of the chosen predicates, their arguments taken from the beliefs."""
    name = values.domain.predicate_names.index
    groups = list(values.domain.groups)
    tops = moment.tops
    number = values.number[tops.slot, tops.value]
    has_value = number != NOTHING
    nothing = np.full(len(predicate), NOTHING, dtype=np.int64)

    def of_group(group: Ints) -> Ints:
        return np.asarray(np.take_along_axis(number, group[:, None], axis=1)[:, 0])

    request = _next_question(values, has_value, moment)
    doubtful = np.where(
        has_value & ~moment.confirmed, tops.score, np.where(has_value, 1.0 + tops.score, np.inf)
    )
    sure = np.where(has_value, tops.score - 2.0 * (moment.confirmed | moment.implied), -np.inf)
    asks = np.isin(predicate, [name("request"), name("implicit_confirm")])
    missing = ~np.take_along_axis(has_value, request[:, None], axis=1)[:, 0]
    asks &= missing | (predicate == name("request"))
    optional = np.array([group not in values.domain.ever_required for group in groups])
    offered = np.where(has_value & ~(optional & (tops.score <= OPTIONAL_FROM)), number, NOTHING)
    return SystemTurn(
        predicate=predicate,
        request=np.where(asks, request, NOTHING),
        explicit=np.where(predicate == name("confirm"), of_group(doubtful.argmin(axis=1)), nothing),
        implicit=np.where(predicate == name("implicit_confirm"), of_group(sure.argmax(axis=1)), nothing),
        offer=np.where(np.isin(predicate, [name("offer"), name("canthelp")])[:, None], offered, NOTHING),
    )


def _next_question(values: Values, has_value: Bools, moment: Moment) -> Ints:
    """(m,) the required group to request: empty before filled, then rarely requested, then low scores."""
    groups = list(values.domain.groups)
    required = [groups.index(name) for name in values.domain.ever_required]
    n_requests = np.stack(
        [moment.history.requests[:, values.group == group].max(axis=1) for group in required], 1
    )
    settled = has_value[:, required] * 1e6 + moment.confirmed[:, required] * 1e6
    order = settled + n_requests * 1e2 + moment.tops.score[:, required]
    return np.asarray(np.array(required)[order.argmin(axis=1)])
