"""The system's side: from a predicate to acts with arguments, and the expert that made the corpus."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints
from extrinsic.corpus.acts import Acts
from extrinsic.corpus.requests import BY_ALTERNATIVES
from extrinsic.corpus.vocabulary import NONE
from extrinsic.simulation.exploration import exploring
from extrinsic.simulation.restaurants.database import ASKED, MORE, WELCOME, Database
from extrinsic.simulation.restaurants.diners import HostTurn
from extrinsic.simulation.restaurants.restaurant_settings import HostSettings
from extrinsic.simulation.utterance import NOTHING
from extrinsic.simulation.world import Moment, View

HEARD_FROM = 0.3
"""After an offer, a no, a value or a request heard with more than this score is an answer to it."""


@dataclass(frozen=True, eq=False)
class SlotTops:
    """The best value of every slot: number, score (m, n_slots), and whether it is `heard` well enough, and
    `confirmed`.

    filled (m, n_slots): the value that may be offered, NOTHING for none: by the fill rule, or what was heard.
    """

    number: Ints
    score: Floats
    heard: Bools
    confirmed: Bools
    filled: Ints


def slot_tops(town: Database, settings: HostSettings, view: View) -> SlotTops:
    best = view.belief.score.argmax(axis=2)[..., None]
    score = np.take_along_axis(view.belief.score, best, axis=2)[..., 0]
    identity: Ids = np.take_along_axis(view.belief.value, best, axis=2)[..., 0]
    columns = np.arange(identity.shape[1])
    number = town.values.number[columns, identity]
    heard = (score > 0.0) & (score >= settings.ignores) & (identity != NONE) & (number != NOTHING)
    filled = np.where(heard, number, NOTHING)
    if view.filled is not None:
        value = view.filled.value
        filled = np.where(value != NONE, town.values.number[columns, value], NOTHING)
    return SlotTops(number, score, heard, heard & (view.history.confirmed == identity), filled)


def possible(town: Database, settings: HostSettings, view: View, place: Ints) -> Bools:
    """(m, n_predicates) confirming and presenting need a value, telling and asking for more a place."""
    tops = slot_tops(town, settings, view)
    heard, filled = (np.asarray(some.any(axis=1)) for some in (tops.heard, tops.filled != NOTHING))
    can: dict[str, Bools] = {"request": heard | True, "confirm": heard, "present": filled}
    can |= dict.fromkeys(("inform", "other"), place != NOTHING)
    return np.stack([can.get(name, heard & False) for name in view.domain.predicate_names], axis=1)


def realise(town: Database, settings: HostSettings, predicate: Ints, moment: Moment, place: Ints) -> HostTurn:
    """The turns of the chosen predicates; place (m,): the restaurant offered before."""
    name, tops = moment.domain.predicate_names.index, slot_tops(town, settings, moment)
    nothing = HostTurn.of(predicate, len(moment.slots))
    rows = np.arange(len(predicate))

    def where(act: str, value: Ints) -> Ints:
        return np.where(predicate == name(act), value, NOTHING)

    filled = tops.filled != NOTHING
    settled = filled * 1e6 + moment.history.requests * 1e2 + tops.score + 1e9 * ~town.constraint
    doubtful = np.where(tops.heard, tops.score + tops.confirmed, np.inf).argmin(axis=1)
    presents = predicate == name("present")
    query = np.where(presents[:, None], tops.filled, NOTHING)
    # A name that is better heard than anything else is what is searched by, alone.
    column = moment.slots.index("name")
    rest = np.where(filled & town.constraint, tops.score, 0.0).max(axis=1)
    by_name = filled[:, column] & (tops.score[:, column] > rest)
    query[by_name] = np.where(np.arange(query.shape[1]) == column, query[by_name], NOTHING)
    query[~by_name, column] = NOTHING
    fits = town.fits(query)
    # Another one that fits, where the caller asks for it: the next of the list after the one before.
    n_places = len(town.attribute)
    other = moment.method.argmax(axis=1) == BY_ALTERNATIVES
    start = np.where(place == NOTHING, 0, place + other)
    order = (start[:, None] + np.arange(n_places)) % n_places
    chosen = order[rows, np.take_along_axis(fits, order, axis=1).argmax(axis=1)]
    asked = [moment.requestable.index(slot) for slot in ASKED]
    return replace(
        nothing,
        request=where("request", settled.argmin(axis=1)),
        confirm=where("confirm", tops.number[rows, doubtful]),
        place=np.where(presents & fits.any(axis=1), chosen, where("inform", place)),
        about=where("inform", moment.requested[:, asked].argmax(axis=1)),
        query=query,
        fails=presents & ~fits.any(axis=1),
    )


def acts_of(town: Database, names: tuple[str, ...], system: HostTurn) -> Acts:
    """What the system says, as acts."""
    rows, first = np.arange(len(system.predicate)), town.first
    said: list[tuple[Ints, Ints]] = []

    def say(when: Bools, phrase: Ints) -> None:
        said.append((rows[when], phrase[when]))

    constant = np.zeros(len(rows), dtype=np.int64)
    say(system.predicate == names.index("welcome"), constant + WELCOME)
    say(system.predicate == names.index("other"), constant + MORE)
    say(system.request != NOTHING, first["request"] + system.request)
    say(system.confirm != NOTHING, first["confirm"] + system.confirm)
    say(system.place != NOTHING, first["offer"] + system.place)
    facts = np.array([first[slot] for slot in ASKED])
    say(system.about != NOTHING, facts[system.about] + system.place)
    narrows = (system.query != NOTHING) & (system.query != town.any_value)
    for column in np.flatnonzero(town.constraint):
        value = system.query[:, column]
        say(narrows[:, column] & ~system.fails, first["inform"] + value)
        say(narrows[:, column] & system.fails, first["canthelp"] + value)
    # A search by name always finds it; one by what is not cared about finds anything.
    owner, phrase = (np.concatenate(parts) for parts in zip(*said, strict=True))
    order = np.argsort(owner, kind="stable")
    return town.system.acts(len(rows), owner[order], phrase[order])


class Host:
    """The expert: tells what was asked for, confirms what is doubtful, asks for what is missing, presents."""

    def __init__(self, town: Database, settings: HostSettings) -> None:
        self.town, self.settings = town, settings

    def probabilities(self, moment: Moment) -> Floats:
        main = self._choice(moment)
        return exploring(
            main, self._second(moment, main), moment.allowed, self.settings.main, self.settings.exploration
        )

    def _choice(self, moment: Moment) -> Ints:
        """(m,) the choice of the first rule that applies and is possible."""
        settings, history = self.settings, moment.history
        name, tops = moment.domain.predicate_names.index, slot_tops(self.town, settings, moment)
        asked = [moment.requestable.index(slot) for slot in ASKED]
        was_offer = np.isin(history.predicate, [name("present"), name("inform")])
        answered = (history.negates > HEARD_FROM) | (history.informs > HEARD_FROM)
        unsure = (tops.heard & ~tops.confirmed & (tops.score < settings.trusts)).any(axis=1)
        lacks = (~tops.heard & self.town.constraint & (history.requests < settings.asks_again)).any(axis=1)
        by_name = tops.heard[:, moment.slots.index("name")]
        rules = [
            (moment.requested[:, asked].max(axis=1) > HEARD_FROM, "inform"),
            (moment.method.argmax(axis=1) == BY_ALTERNATIVES, "present"),
            (was_offer & ~answered, "other"),
            (unsure & (history.streak < 2), "confirm"),
            (was_offer & answered, "present"),
            (by_name, "present"),
            (lacks, "request"),
            (np.ones_like(lacks), "present"),
        ]
        conditions = [when & moment.allowed[:, name(act)] for when, act in rules]
        return np.select(conditions, [name(act) for _, act in rules], name("request"))

    def _second(self, moment: Moment, main: Ints) -> Ints:
        """(m,) the second choice, where it is possible."""
        name = moment.domain.predicate_names.index
        table = np.arange(len(moment.domain.predicate_names))
        for act, other in (
            ("request", "present"),
            ("confirm", "request"),
            ("present", "confirm"),
            ("other", "inform"),
        ):
            table[name(act)] = name(other)
        second = table[main]
        return np.where(moment.allowed[np.arange(len(main)), second], second, main)
