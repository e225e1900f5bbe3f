"""The restaurants of the town: what is known of them, and what systems and callers say."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec
import numpy as np

from extrinsic.arrays import Bools, Ints
from extrinsic.corpus.acts import Vocabulary
from extrinsic.corpus.domain import load_domain
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.values import NOTHING, Phrase, Phrases, Repertoire, Values, values_of_slots
from extrinsic.typed_files import read_toml

DONTCARE = "dontcare"
ASKED = ("phone", "addr", "postcode", "signature")
"""What callers ask for: the columns of `wants` and `answered`."""

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
    callers, system: what they can say; the system's phrases are numbered as values, slots or restaurants.
    """

    values: Values
    attribute: Ints
    any_value: Ints
    constraint: Bools
    callers: Phrases
    system: Repertoire

    def fits(self, query: Ints) -> Bools:
        """(m, n) which restaurants fit a query (m, n_slots); NOTHING and dontcare fit everything."""
        free = (query == NOTHING) | (query == self.any_value)
        return np.asarray((free[:, None, :] | (query[:, None, :] == self.attribute)).all(axis=2))


@cache
def database() -> Database:
    """The embedded town; a single object, so that everything made from it shares its ids."""
    domain = load_domain("restaurants")
    lists = read_toml(Path(__file__).with_name("restaurant_database.toml"), Lists)
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
    requests: list[Phrase] = [("request", [("slot", slot)]) for slot in ASKED]
    callers = Phrases.of_callers(values, [*requests, ("reqalts", []), ("bye", [])])
    system = {
        "welcome": Phrases.of(vocabulary, [("welcomemsg", [])]),
        "other": Phrases.of(vocabulary, [("reqmore", [])]),
        "request": Phrases.of(vocabulary, [("request", [("slot", slot)]) for slot in domain.slot_names]),
        "confirm": Phrases.of_values(values, "expl-conf"),
        "inform": Phrases.of_values(values, "inform"),
        "canthelp": Phrases.of_values(values, "canthelp"),
        "offer": Phrases.of(vocabulary, [("offer", [("name", name)]) for name in of_slot["name"]]),
    }
    system |= {
        slot: Phrases.of(vocabulary, [("inform", [(slot, fact)]) for fact in facts[slot]]) for slot in ASKED
    }
    return Database(values, attribute, any_value, constraint, callers, Repertoire.of(system))


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
