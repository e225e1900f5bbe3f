"""The town of the bus world: the values of its slots, which of them sound alike, and its timetable."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import msgspec
import numpy as np

from extrinsic.arrays import Ids, Ints, take_rows
from extrinsic.corpus.acts import Value, Vocabulary
from extrinsic.corpus.domain import Domain, load_domain
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.values import NOTHING, Phrases, Repertoire, Values, likeness, values_of_slots
from extrinsic.typed_files import read_toml

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
    places = read_toml(Path(__file__).with_name("bus_places.toml"), Places)
    lists = _values_of_slots(places)
    vocabulary = Vocabulary()
    vocabulary.ids([*ACT_NAMES, *domain.slot_names, *domain.slot_of_part, *domain.groups])
    values = values_of_slots(domain, vocabulary, lists)
    # What callers want more often than other values of its slot: now, or today.
    often = ((("time.rel", "now"),), (("date.day", "today"),), (("date.day", "tomorrow"),))
    usual = np.array([value in often for of_slot in lists for value in of_slot])
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


def _elsewhere(domain: Domain, lists: list[list[Value]], begin: Ints) -> Ints:
    """(n_values, 2) the same place in the other direction, and the most similar one of another kind."""
    elsewhere = np.tile(np.arange(begin[-1])[:, None], (1, 2))
    names = domain.slot_names
    for column, values in enumerate(lists):
        numbers = np.arange(begin[column], begin[column + 1])
        side, _, kind = names[column].partition(".")
        if side in ("from", "to") and kind:
            opposite = "to" if side == "from" else "from"
            elsewhere[numbers, 0] = numbers + begin[names.index(f"{opposite}.{kind}")] - begin[column]
            others = [names.index(name) for name in domain.groups[side] if name != names[column]]
            pool = np.concatenate([np.arange(begin[other], begin[other + 1]) for other in others])
            alike = likeness(values, [value for other in others for value in lists[other]])
            elsewhere[numbers, 1] = pool[alike.argmax(axis=1)]
    return elsewhere


QUARTERS = 96
"""Buses leave every quarter of an hour, day and night."""


@cache
def _offer_phrases() -> Repertoire:
    """The parts of an offer: when a bus leaves and arrives, by quarters; values by number; today; nothing."""
    values = bus_ontology()
    words = values.vocabulary

    def clock(side: str) -> Phrases:
        names = [f"result.{side}.time.{part}" for part in ("hour", "minute", "ampm")]
        hours = [divmod(quarter, 4) for quarter in range(QUARTERS)]
        times = [
            (str((hour - 1) % 12 + 1), str(15 * part), "pm" if hour >= 12 else "am") for hour, part in hours
        ]
        return Phrases.of(words, [("schedule", list(zip(names, time, strict=True))) for time in times])

    written = np.arange(len(words), dtype=np.int32)
    for name in values.domain.slot_of_part:
        direction = "from." if name.startswith("date.") else ""
        written[words.find(name)] = words.id(f"result.{direction}{name}")
    named = Phrases.of_values(values, "schedule")
    return Repertoire.of(
        {
            "leaves": clock("from"),
            "arrives": clock("to"),
            "value": replace(named, slot=written[named.slot]),
            "today": Phrases.of(words, [("schedule", [("result.from.date.day", "today")])]),
            "nothing": Phrases.of(words, [("schedule", [])]),
        }
    )


@cache
def _quarters() -> Ints:
    """(n_values,) the quarter of the day that a time names, -1 for any other value."""
    values = bus_ontology()
    quarter = np.full(len(values), -1, dtype=np.int64)
    times = values.domain.slot_names.index("time")
    for number in range(values.begin[times], values.begin[times + 1]):
        value = values.vocabulary.value(int(values.identity[number]))
        parts = dict(value) if isinstance(value, tuple) else {}
        if "time.hour" in parts:
            hour = int(parts["time.hour"]) % 12 + 12 * (parts["time.ampm"] == "pm")
            quarter[number] = 4 * hour + int(parts["time.minute"]) // 15
    return quarter


def pairs_of_offers(values: Values, offer: Ints, bus: Ints) -> tuple[Ints, Ids, Ids]:
    """The pairs that describe a bus, as real calls write them: result.from.time.hour and so on.

    offer (k, n_groups): the values it is offered for.   bus (k,): how many buses later than the first.
    Returns offsets (k + 1,), slots and values. A bus leaves at the time asked for; asked for none, at one
    that depends on the two places, and so do the route and the length of the ride.
    """
    groups, routes = list(values.domain.groups), values.domain.slot_names.index("route")
    start, end, route, date, time = (
        offer[:, groups.index(g)] for g in ("from", "to", "route", "date", "time")
    )
    ride = (start * len(values) + end)[None]
    draw = {
        name: Chance.of(1, "timetable").uniform_at(name, 0, ride)[0] for name in ("leaves", "lasts", "route")
    }
    asked = _quarters()[time]
    leaves = np.where((time != NOTHING) & (asked >= 0), asked, (draw["leaves"] * QUARTERS).astype(np.int64))
    leaves = (leaves + bus) % QUARTERS
    arrives = (leaves + 1 + (draw["lasts"] * 4).astype(np.int64)) % QUARTERS
    first, n_routes = values.begin[routes], values.begin[routes + 1] - values.begin[routes]
    route = np.where(route == NOTHING, first + (draw["route"] * n_routes).astype(np.int64), route)
    # When it leaves, the date, the route, from where, to where, when it arrives.
    phrases, first_of = _offer_phrases().phrases, _offer_phrases().first
    named = np.stack([date, route, start, end], axis=1)
    missing = [first_of["today"], *[first_of["nothing"]] * 3]
    named = np.where(named == NOTHING, missing, first_of["value"] + named)
    parts = np.column_stack([first_of["leaves"] + leaves, named, first_of["arrives"] + arrives])
    offsets, pairs = take_rows(phrases.pair_offsets, parts.ravel())
    return offsets[:: parts.shape[1]], phrases.slot[pairs], phrases.value[pairs]
