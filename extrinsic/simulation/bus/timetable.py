"""The buses of the embedded town: when one leaves, and how an offer of it is written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from extrinsic.arrays import Ids, Ints, offsets_from_lengths, row_of_each, take_rows
from extrinsic.simulation.bus.bus_ontology import bus_ontology
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.ontology import Values
from extrinsic.simulation.utterance import NOTHING

QUARTERS = 96
"""Buses leave every quarter of an hour, day and night."""

PREFIX = "result."


@dataclass(frozen=True, eq=False)
class _Words:
    """How times and values are written in an offer.

    quarter (n_values,): the quarter of the day that a time names, -1 for none.
    clock (2, QUARTERS, 3, 2): pairs of hour, minute and half of the day, of leaving and arriving.
    result (n_words,): the name of a slot, or part of one, in an offer.   today (2,): its pair.
    route (2,): the first and the number of routes.
    """

    quarter: Ints
    clock: Ids
    result: Ids
    today: Ids
    route: Ints


@cache
def _words() -> _Words:
    values = bus_ontology()
    domain, words = values.domain, values.vocabulary
    quarter = np.full(len(values), -1, dtype=np.int64)
    times = domain.slot_names.index("time")
    for number in range(values.begin[times], values.begin[times + 1]):
        value = words.value(int(values.identity[number]))
        parts = dict(value) if isinstance(value, tuple) else {}
        if "time.hour" in parts:
            hour = int(parts["time.hour"]) % 12 + 12 * (parts["time.ampm"] == "pm")
            quarter[number] = 4 * hour + int(parts["time.minute"]) // 15
    clock = [
        [
            [
                words.ids([f"{PREFIX}{side}.time.{part}", text])
                for part, text in zip(("hour", "minute", "ampm"), _time_of_day(number), strict=True)
            ]
            for number in range(QUARTERS)
        ]
        for side in ("from", "to")
    ]
    names = {name: name for name in domain.slot_of_part}
    names |= {part: f"from.{part}" for part in names if part.startswith("date.")}
    pairs = [(words.find(name), f"{PREFIX}{written}") for name, written in names.items()]
    today = words.ids([f"{PREFIX}from.date.day", "today"])
    written = words.ids([text for _, text in pairs])
    result = np.full(len(words), -1, dtype=np.int32)
    result[[word for word, _ in pairs]] = written
    routes = domain.slot_names.index("route")
    size = values.begin[routes + 1] - values.begin[routes]
    return _Words(quarter, np.array(clock), result, today, np.array([values.begin[routes], size]))


def _time_of_day(quarter: int) -> tuple[str, str, str]:
    hour = quarter // 4
    return str((hour - 1) % 12 + 1), str(15 * (quarter % 4)), "pm" if hour >= 12 else "am"


def pairs_of_offers(values: Values, offer: Ints, bus: Ints) -> tuple[Ints, Ids, Ids]:
    """The pairs that describe a bus, as real calls write them: result.from.time.hour and so on.

    offer (k, n_groups): the values it is offered for.   bus (k,): how many buses later than the first.
    Returns offsets (k + 1,), slots and values. A bus leaves at the time asked for; asked for none, at one
    that depends on the two places, and so do the route and the length of the ride.
    """
    words, groups = _words(), list(values.domain.groups)
    start, end, route, date, time = (
        offer[:, groups.index(g)] for g in ("from", "to", "route", "date", "time")
    )
    ride = (start * len(values) + end)[None]
    draw = {
        name: Chance.of(1, "timetable").uniform_at(name, 0, ride)[0] for name in ("leaves", "lasts", "route")
    }
    asked = words.quarter[time]
    leaves = np.where((time != NOTHING) & (asked >= 0), asked, (draw["leaves"] * QUARTERS).astype(np.int64))
    leaves = (leaves + bus) % QUARTERS
    arrives = (leaves + 1 + (draw["lasts"] * 4).astype(np.int64)) % QUARTERS
    first, n_routes = words.route
    route = np.where(route == NOTHING, first + (draw["route"] * n_routes).astype(np.int64), route)
    named = np.stack([date, route, start, end], axis=1)
    offsets, places = take_rows(values.pair_offsets, np.maximum(named, 0).ravel())
    item = row_of_each(offsets)
    kept = named.ravel()[item] != NOTHING
    row, column = item[kept] // 4, item[kept] % 4
    today = np.flatnonzero(date == NOTHING)
    owner = np.concatenate([np.repeat(np.arange(len(offer)), 6), row, today])
    slot = np.concatenate(
        [
            np.concatenate([words.clock[0, leaves, :, 0], words.clock[1, arrives, :, 0]], axis=1).ravel(),
            words.result[values.pair_slot[places[kept]]],
            np.full(len(today), words.today[0]),
        ]
    )
    value = np.concatenate(
        [
            np.concatenate([words.clock[0, leaves, :, 1], words.clock[1, arrives, :, 1]], axis=1).ravel(),
            values.pair_value[places[kept]],
            np.full(len(today), words.today[1]),
        ]
    )
    # When it leaves, the date, the route, from where, to where, when it arrives.
    position = np.concatenate([np.tile([0, 0, 0, 5, 5, 5], len(offer)), column + 1, np.ones(len(today), int)])
    order = np.lexsort((position, owner))
    counts = np.bincount(owner, minlength=len(offer))
    return offsets_from_lengths(counts), slot[order].astype(np.int32), value[order].astype(np.int32)
