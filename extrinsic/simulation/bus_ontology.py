"""The ontology of the embedded world: the values of its slots, and which of them sound alike."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec
import numpy as np

from extrinsic.arrays import Bools, Ids, Ints, offsets_from_lengths
from extrinsic.corpus.vocabulary import Value, Vocabulary
from extrinsic.domain import Domain, load_domain
from extrinsic.toml_files import read_toml

N_NEIGHBOURS = 8
"""How many other values a value may be confused with."""

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


@dataclass(frozen=True, eq=False)
class Values:
    """All values of all slots, numbered slot by slot.

    slot, identity (n_values,): the slot's column, and the value's id in the vocabulary.
    begin (n_slots + 1,): the values of each slot.
    pair_offsets, pair_slot, pair_value: the pairs that acts write a value as.
    neighbour (n_values, N_NEIGHBOURS): the values it may be confused with, most similar first.
    elsewhere (n_values, 2): the same words in the other direction (from, to), and the most similar value of
    another slot of the same group; itself where there is none.
    number (n_slots, n_words): the value with a given id of the vocabulary, -1 for none.
    group (n_slots,): the group of each slot, an index into domain.groups.
    usual (n_values,): whether callers want it more often than other values of the slot.
    """

    domain: Domain
    vocabulary: Vocabulary
    slot: Ints
    identity: Ids
    begin: Ints
    pair_offsets: Ints
    pair_slot: Ids
    pair_value: Ids
    neighbour: Ints
    elsewhere: Ints
    number: Ints
    group: Ints
    usual: Bools

    def __len__(self) -> int:
        return len(self.slot)


@cache
def bus_ontology() -> Values:
    """The values of the embedded world; a single object, so that everything made from it shares its ids."""
    domain = load_domain("bus")
    places = read_toml(Path(__file__).with_name("places.toml"), Places)
    lists = _values_of_slots(places)
    vocabulary = Vocabulary()
    vocabulary.ids([*ACT_NAMES, *domain.slot_names, *domain.slot_of_part, *domain.groups])
    slots = np.repeat(np.arange(len(lists)), [len(values) for values in lists])
    pairs = [
        list(value) if isinstance(value, tuple) else [(name, value)]
        for name, values in zip(domain.slot_names, lists, strict=True)
        for value in values
    ]
    flat = [pair for of_value in pairs for pair in of_value]
    pair_slot = vocabulary.ids([name for name, _ in flat])
    pair_value = vocabulary.ids([value for _, value in flat])
    identity = vocabulary.ids([value for values in lists for value in values])
    begin = offsets_from_lengths([len(values) for values in lists])
    number = np.full((len(lists), len(vocabulary)), -1, dtype=np.int64)
    number[slots, identity] = np.arange(len(slots))
    groups = list(domain.groups.values())
    group = [next(i for i, members in enumerate(groups) if slot in members) for slot in domain.slot_names]
    neighbour, elsewhere = _sounds(domain, lists, begin)
    return Values(
        domain=domain,
        vocabulary=vocabulary,
        slot=slots,
        identity=identity,
        begin=begin,
        pair_offsets=offsets_from_lengths(list(map(len, pairs))),
        pair_slot=pair_slot,
        pair_value=pair_value,
        neighbour=neighbour,
        elsewhere=elsewhere,
        number=number,
        group=np.array(group),
        usual=np.array([_is_usual(value) for values in lists for value in values]),
    )


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


def _sounds(domain: Domain, lists: list[list[Value]], begin: Ints) -> tuple[Ints, Ints]:
    """The values each value may be confused with: within its slot, and in other slots."""
    n_values = int(begin[-1])
    neighbour = np.empty((n_values, N_NEIGHBOURS), dtype=np.int64)
    elsewhere = np.tile(np.arange(n_values)[:, None], (1, 2))
    names = domain.slot_names
    for column, values in enumerate(lists):
        numbers = np.arange(begin[column], begin[column + 1])
        alike = _likeness(values, values)
        np.fill_diagonal(alike, -1.0)
        neighbour[numbers] = begin[column] + np.argsort(-alike, axis=1, kind="stable")[:, :N_NEIGHBOURS]
        side, _, kind = names[column].partition(".")
        if side in ("from", "to") and kind:
            elsewhere[numbers, 0] = numbers + begin[names.index(f"{_opposite(side)}.{kind}")] - begin[column]
            others = [names.index(name) for name in domain.groups[side] if name != names[column]]
            pool = np.concatenate([np.arange(begin[other], begin[other + 1]) for other in others])
            likeness = _likeness(values, [value for other in others for value in lists[other]])
            elsewhere[numbers, 1] = pool[likeness.argmax(axis=1)]
    return neighbour, elsewhere


def _opposite(side: str) -> str:
    return "to" if side == "from" else "from"


def _likeness(first: list[Value], second: list[Value]) -> np.ndarray:
    """(n_first, n_second) share of common letter pairs (Dice): a crude but deterministic similarity."""
    texts = [_spoken(value) for value in (*first, *second)]
    pairs = [{f" {text} "[i : i + 2] for i in range(len(text) + 1)} for text in texts]
    index = {pair: i for i, pair in enumerate(sorted(set().union(*pairs)))}
    table = np.zeros((len(texts), len(index)))
    for row, of_text in enumerate(pairs):
        table[row, [index[pair] for pair in of_text]] = 1.0
    sizes = table.sum(axis=1)
    left, right = table[: len(first)], table[len(first) :]
    # Counts are whole numbers: the product is exact, whatever order it is added in.
    return np.asarray(2.0 * (left @ right.T) / (sizes[: len(first), None] + sizes[len(first) :]))


def _spoken(value: Value) -> str:
    return " ".join(part for _, part in value) if isinstance(value, tuple) else value
