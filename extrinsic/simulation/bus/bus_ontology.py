"""The ontology of the embedded world: the values of its slots, and which of them sound alike."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import msgspec
import numpy as np

from extrinsic.arrays import Ints
from extrinsic.corpus.vocabulary import Value, Vocabulary
from extrinsic.domain import Domain, load_domain
from extrinsic.simulation.ontology import Values, likeness, values_of_slots
from extrinsic.toml_files import read_toml

ACT_NAMES = (
    "hello",
    "open-request",
    "request",
    "expl-conf",
    "impl-conf",
    "schedule",
    "want-next-bus",
    "bye",
    "restart",
    "canthelp.no_connection",
    "sorry",
    "inform",
    "affirm",
    "negate",
    "goback",
    "nextbus",
    "prevbus",
    "repeat",
    "act",
)
"""The names of acts, and what an act is confirmed by: impl-conf(act=nextbus)."""


class Places(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The lists that values are made of."""

    streets: tuple[str, ...]
    crossings: tuple[str, ...]
    neighborhoods: tuple[str, ...]
    monuments: tuple[str, ...]
    route_numbers: tuple[int, ...]
    route_letters: tuple[str, ...]
    months: tuple[str, ...]
    days_of_month: tuple[int, ...]
    weekdays: tuple[str, ...]
    minutes: tuple[int, ...]


@cache
def bus_ontology() -> Values:
    """The values of the embedded world; a single object, so that everything made from it shares its ids."""
    domain = load_domain("bus")
    places = read_toml(Path(__file__).with_name("places.toml"), Places)
    lists = _values_of_slots(places)
    vocabulary = Vocabulary()
    vocabulary.ids([*ACT_NAMES, *domain.slot_names, *domain.slot_of_part, *domain.groups])
    values = values_of_slots(domain, vocabulary, lists)
    usual = np.array([_is_usual(value) for of_slot in lists for value in of_slot])
    return replace(values, elsewhere=_elsewhere(domain, lists, values.begin), usual=usual)


def _values_of_slots(places: Places) -> list[list[Value]]:
    """The values of every slot, in the domain's order."""
    stops: list[Value] = [f"{street} and {cross}" for street in places.streets for cross in places.crossings]
    routes: list[Value] = [
        f"{number}{letter}" for number in places.route_numbers for letter in places.route_letters
    ]
    dates: list[Value] = [(("date.day", day),) for day in places.weekdays]
    dates += [
        (("date.absday", str(day)), ("date.absmonth", month))
        for month in places.months
        for day in places.days_of_month
    ]
    times: list[Value] = [(("time.rel", word),) for word in ("now", "next")]
    for direction in ((), (("time.arriveleave", "arrive"),)):
        times += [
            (("time.ampm", half), *direction, ("time.hour", str(hour)), ("time.minute", str(minute)))
            for half in ("am", "pm")
            for hour in range(1, 13)
            for minute in places.minutes
        ]
    neighborhoods, monuments = list(places.neighborhoods), list(places.monuments)
    place_lists: list[list[Value]] = [stops, [*neighborhoods], [*monuments]]
    return [routes, *place_lists, *place_lists, dates, times]


def _is_usual(value: Value) -> bool:
    """Whether callers want the value more often than others of its slot: now, or today."""
    return value in ((("time.rel", "now"),), (("date.day", "today"),), (("date.day", "tomorrow"),))


def _elsewhere(domain: Domain, lists: list[list[Value]], begin: Ints) -> Ints:
    """(n_values, 2) the same place in the other direction, and the most similar one of another kind."""
    elsewhere = np.tile(np.arange(begin[-1])[:, None], (1, 2))
    names = domain.slot_names
    for column, values in enumerate(lists):
        numbers = np.arange(begin[column], begin[column + 1])
        side, _, kind = names[column].partition(".")
        if side in ("from", "to") and kind:
            elsewhere[numbers, 0] = numbers + begin[names.index(f"{_opposite(side)}.{kind}")] - begin[column]
            others = [names.index(name) for name in domain.groups[side] if name != names[column]]
            pool = np.concatenate([np.arange(begin[other], begin[other + 1]) for other in others])
            alike = likeness(values, [value for other in others for value in lists[other]])
            elsewhere[numbers, 1] = pool[alike.argmax(axis=1)]
    return elsewhere


def _opposite(side: str) -> str:
    return "to" if side == "from" else "from"
