"""The restaurants of the town: what is known of them, and how systems and callers speak of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec
import numpy as np

from extrinsic.arrays import Bools, Ints
from extrinsic.corpus.vocabulary import Vocabulary
from extrinsic.domain import load_domain
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.ontology import Values, values_of_slots
from extrinsic.simulation.phrases import Phrase, Phrases
from extrinsic.simulation.utterance import NOTHING
from extrinsic.toml_files import read_toml

DONTCARE = "dontcare"
ASKED = ("phone", "addr", "postcode", "signature")
"""What callers ask for: the columns of `wants` and `told`."""

COMMANDS = (*(f"request {slot}" for slot in ASKED), "reqalts", "bye")
ALTERNATIVES, BYE = len(ASKED) + 1, len(ASKED) + 2
"""What a caller may say besides values, yes and no; 1 to 4 are the requests."""


class Lists(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The lists that the restaurants are made of."""

    restaurants: int
    foods: tuple[str, ...]
    areas: tuple[str, ...]
    priceranges: tuple[str, ...]
    first_words: tuple[str, ...]
    second_words: tuple[str, ...]
    streets: tuple[str, ...]
    dishes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Database:
    """All values, and n restaurants.

    attribute (n, n_slots): the value of each slot, as a number.   any_value (n_slots,): the number of
    dontcare, NOTHING for the name.   constraint (n_slots,): whether restaurants are searched by it.
    callers, system: what they can say. The system's phrases begin with the greeting and reqmore; the first
    one of each other kind is in `first`, and what follows is numbered as values, slots, or restaurants are.
    """

    values: Values
    attribute: Ints
    any_value: Ints
    constraint: Bools
    callers: Phrases
    system: Phrases
    first: dict[str, int]

    def fits(self, query: Ints) -> Bools:
        """(m, n) which restaurants fit a query (m, n_slots); NOTHING and dontcare fit everything."""
        free = (query == NOTHING) | (query == self.any_value)
        return np.asarray((free[:, None, :] | (query[:, None, :] == self.attribute)).all(axis=2))


WELCOME, MORE = 0, 1


@cache
def database() -> Database:
    """The embedded town; a single object, so that everything made from it shares its ids."""
    domain = load_domain("restaurants")
    lists = read_toml(Path(__file__).with_name("database.toml"), Lists)
    names = [f"the {first} {second}" for first in lists.first_words for second in lists.second_words]
    of_slot = {
        "food": [*lists.foods, DONTCARE],
        "pricerange": [*lists.priceranges, DONTCARE],
        "name": names[: lists.restaurants],
        "area": [*lists.areas, DONTCARE],
    }
    vocabulary = Vocabulary()
    vocabulary.ids([*domain.slot_names, *domain.requestable])
    values = values_of_slots(domain, vocabulary, [of_slot[slot] for slot in domain.slot_names])
    constraint = np.array([DONTCARE in of_slot[slot] for slot in domain.slot_names])
    any_value = np.where(constraint, values.begin[1:] - 1, NOTHING)
    chance, n_restaurants = Chance.of(lists.restaurants, "restaurants"), lists.restaurants
    attribute = np.empty((n_restaurants, len(domain.slot_names)), dtype=np.int64)
    for column, slot in enumerate(domain.slot_names):
        size = len(of_slot[slot]) - 1
        drawn = (chance.uniform(slot, 0) * size).astype(np.int64)
        attribute[:, column] = values.begin[column] + (
            drawn if constraint[column] else np.arange(n_restaurants)
        )
    facts = _facts(lists, chance)
    informs = [
        (slot, value) for slot, members in ((s, of_slot[s]) for s in domain.slot_names) for value in members
    ]
    phrases: dict[str, list[Phrase]] = {
        "request": [("request", [("slot", slot)]) for slot in domain.slot_names],
        "confirm": [("expl-conf", [pair]) for pair in informs],
        "inform": [("inform", [pair]) for pair in informs],
        "canthelp": [("canthelp", [pair]) for pair in informs],
        "offer": [("offer", [("name", name)]) for name in of_slot["name"]],
        **{slot: [("inform", [(slot, fact)]) for fact in facts[slot]] for slot in ASKED},
    }
    first: dict[str, int] = {}
    spoken: list[Phrase] = [("welcomemsg", []), ("reqmore", [])]
    for kind, of_kind in phrases.items():
        first[kind] = len(spoken)
        spoken += of_kind
    requests: list[Phrase] = [("request", [("slot", slot)]) for slot in ASKED]
    return Database(
        values,
        attribute,
        any_value,
        constraint,
        Phrases.of_callers(values, [*requests, ("reqalts", []), ("bye", [])]),
        Phrases.of(vocabulary, spoken),
        first,
    )


def _facts(lists: Lists, chance: Chance) -> dict[str, list[str]]:
    """Per slot that callers ask for, what it is of each restaurant."""
    n_restaurants = lists.restaurants
    street = (chance.uniform("street", 0) * len(lists.streets)).astype(int)
    house = 1 + (chance.uniform("house", 0) * 90).astype(int)
    dish = (chance.uniform("dish", 0) * len(lists.dishes)).astype(int)
    return {
        "phone": [f"01223 {300000 + 7919 * number % 600000}" for number in range(n_restaurants)],
        "addr": [f"{house[i]} {lists.streets[street[i]]}" for i in range(n_restaurants)],
        "postcode": [f"c.b {1 + number % 5}, {number // 5} x.y" for number in range(n_restaurants)],
        "signature": [lists.dishes[dish[i]] for i in range(n_restaurants)],
    }
