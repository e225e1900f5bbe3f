"""The restaurant world: its system and expert, dialogs in lockstep, settings, and simulation of a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.corpus.acts import NONE, Acts
from extrinsic.corpus.requests import BY_ALTERNATIVES
from extrinsic.registry import TRACKERS
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.group_tops import best_values
from extrinsic.simulation.recogniser import Recogniser, RecogniserSettings
from extrinsic.simulation.restaurant_callers import Diners, DinerSettings, HostTurn, SearchSettings
from extrinsic.simulation.restaurant_database import ASKED, BYE, Database, database
from extrinsic.simulation.slot_filling import (
    HEARD_FROM,
    RuleExpert,
    SlotFillingDialogs,
    SlotFillingWorld,
    patience,
    properties_of,
)
from extrinsic.simulation.values import NOTHING, Values
from extrinsic.simulation.world import Moment, View
from extrinsic.simulation.world_files import FileSimulation, Properties, Property, Settings
from extrinsic.trackers.tracking import Tracker
from extrinsic.typed_files import Count, Share


class HostSettings(Settings, frozen=True):
    """What the system that made the corpus trusts, and how the expert on it decides."""

    ignores: Share = 0.20
    """A value scored below this counts as missing, for every policy."""
    main: Share = 0.85
    exploration: Share = 0.08
    """Share of random decisions among the possible ones; what main leaves besides is the second choice."""
    trusts: Share = 0.60
    """A value scored below this is confirmed before anything else."""
    asks_again: Count = 2
    """How often it asks for the same thing before it goes on without."""


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
    identity, score = best_values(view.belief)
    columns = np.arange(identity.shape[1])
    number = town.values.number[columns, identity]
    heard = (score >= settings.ignores) & (identity != NONE) & (number != NOTHING)
    filled = np.where(heard, number, NOTHING)
    if view.filled is not None:
        value = view.filled.value
        filled = np.where(value != NONE, town.values.number[columns, value], NOTHING)
    return SlotTops(number, score, heard, heard & (view.history.confirmed == identity), filled)


class RestaurantDialogs(SlotFillingDialogs[HostTurn]):
    """n calls; place (n,): the restaurant that was last offered, NOTHING for none."""

    def __init__(self, world: RestaurantSettings, chance: Chance) -> None:
        self.town, self.settings = database(), world.system
        values = self.town.values
        callers = Diners(world.search, world.caller, self.town, chance)
        recogniser = Recogniser(world.recogniser, values, chance, (1, BYE))
        super().__init__(values, callers, recogniser, self.town.callers)
        self.place: Ints = np.full(len(callers.goal), NOTHING, dtype=np.int64)

    def greeting(self, n_dialogs: int) -> HostTurn:
        welcome = np.full(n_dialogs, self.name("welcome"), dtype=np.int64)
        return HostTurn.of(welcome, len(self.values.domain.slots))

    def possible(self, view: View) -> Bools:
        """Confirming and presenting need a value, answering and asking for more a place."""
        tops, place = slot_tops(self.town, self.settings, view), self.place[view.dialogs]
        heard, filled = (np.asarray(some.any(axis=1)) for some in (tops.heard, tops.filled != NOTHING))
        can: dict[str, Bools] = {"request": heard | True, "confirm": heard, "present": filled}
        can |= dict.fromkeys(("inform", "other"), place != NOTHING)
        return np.stack([can.get(name, heard & False) for name in view.domain.predicate_names], axis=1)

    def decided(self, moment: Moment, predicate: Ints) -> HostTurn:
        town, place = self.town, self.place[moment.dialogs]
        tops = slot_tops(town, self.settings, moment)
        rows = np.arange(len(predicate))

        def where(act: str, value: Ints) -> Ints:
            return np.where(predicate == self.name(act), value, NOTHING)

        filled = tops.filled != NOTHING
        settled = filled * 1e6 + moment.history.requests * 1e2 + tops.score + 1e9 * ~town.constraint
        doubtful = np.where(tops.heard, tops.score + tops.confirmed, np.inf).argmin(axis=1)
        presents = predicate == self.name("present")
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
        system = replace(
            HostTurn.of(predicate, len(moment.slots)),
            request=where("request", settled.argmin(axis=1)),
            confirm=where("confirm", tops.number[rows, doubtful]),
            place=np.where(presents & fits.any(axis=1), chosen, where("inform", place)),
            about=where("inform", moment.requested[:, asked].argmax(axis=1)),
            query=query,
            fails=presents & ~fits.any(axis=1),
        )
        offers = system.place != NOTHING
        self.place[moment.dialogs[offers]] = system.place[offers]
        return system

    def acts_of(self, system: HostTurn) -> Acts:
        town, rows = self.town, np.arange(len(system.predicate))
        said: list[tuple[str, Ints, Ints | int]] = [
            ("welcome", rows[system.predicate == self.name("welcome")], 0),
            ("other", rows[system.predicate == self.name("other")], 0),
        ]
        for kind, number in (
            ("request", system.request),
            ("confirm", system.confirm),
            ("offer", system.place),
        ):
            said.append((kind, rows[number != NOTHING], number[number != NOTHING]))
        for about, slot in enumerate(ASKED):
            answers = rows[system.about == about]
            said.append((slot, answers, system.place[answers]))
        # A search by name always finds it; one by what is not cared about finds anything.
        narrows = (system.query != NOTHING) & (system.query != town.any_value) & town.constraint
        for column in np.flatnonzero(town.constraint):
            for kind, when in (("inform", ~system.fails), ("canthelp", system.fails)):
                chosen = rows[narrows[:, column] & when]
                said.append((kind, chosen, system.query[chosen, column]))
        return town.system.acts(len(rows), said)


class Host(RuleExpert):
    """The expert: answers questions, confirms what is doubtful, asks for what is missing, presents."""

    def __init__(self, town: Database, settings: HostSettings) -> None:
        super().__init__(settings.main, settings.exploration)
        self.town, self.settings = town, settings
        self.instead = {
            "request": "present",
            "confirm": "request",
            "present": "confirm",
            "other": "inform",
        }

    def rules(self, moment: Moment) -> list[tuple[Bools, str]]:
        settings, history = self.settings, moment.history
        name, tops = moment.domain.predicate_names.index, slot_tops(self.town, settings, moment)
        asked = [moment.requestable.index(slot) for slot in ASKED]
        was_offer = np.isin(history.predicate, [name("present"), name("inform")])
        answered = (history.negates > HEARD_FROM) | (history.informs > HEARD_FROM)
        unsure = (tops.heard & ~tops.confirmed & (tops.score < settings.trusts)).any(axis=1)
        lacks = (~tops.heard & self.town.constraint & (history.requests < settings.asks_again)).any(axis=1)
        by_name = tops.heard[:, moment.slots.index("name")]
        return [
            (moment.requested[:, asked].max(axis=1) > HEARD_FROM, "inform"),
            (moment.method.argmax(axis=1) == BY_ALTERNATIVES, "present"),
            (was_offer & ~answered, "other"),
            (unsure & (history.streak < 2), "confirm"),
            (was_offer & answered, "present"),
            (by_name, "present"),
            (lacks, "request"),
            (np.ones_like(lacks), "present"),
        ]


class RestaurantSettings(SlotFillingWorld, frozen=True):
    """The world of restaurant calls: what callers look for, how they behave, the recogniser, the system."""

    kind: ClassVar[str] = "restaurants"

    search: SearchSettings = SearchSettings()
    caller: DinerSettings = DinerSettings()
    recogniser: RecogniserSettings = RecogniserSettings()
    system: HostSettings = HostSettings()
    longest_dialog: Annotated[int, msgspec.Meta(ge=2, le=1000)] = 30

    @property
    def values(self) -> Values:
        return database().values

    def begin(self, chance: Chance) -> RestaurantDialogs:
        return RestaurantDialogs(self, chance)

    def policy(self) -> Host:
        return Host(database(), self.system)

    def tracker(self) -> Tracker:
        tracker: Tracker = TRACKERS.get("focus")
        return tracker

    def problems(self) -> Iterator[str]:
        if self.system.main + self.system.exploration > 1.0 + 1e-12:
            yield "system.main and system.exploration sum above 1"


def _slots(number: float) -> dict[str, Any]:
    """Every caller looks for so many of food, area and price range."""
    order = ("food", "area", "pricerange")
    return {"search": {slot: 1.0 if slot in order[: int(number)] else 0.0 for slot in order}}


class RestaurantSimulation(FileSimulation[RestaurantSettings], frozen=True):
    """The datasets of restaurant calls that a settings file describes."""

    settings: ClassVar[type[RestaurantSettings]] = RestaurantSettings
    file: ClassVar[Path] = Path(__file__).with_name("restaurant_worlds.toml")
    properties: ClassVar[Properties] = properties_of(
        patience(7.0, 16.0),
        Property("slots", "how many things callers look for", 1, 3, (1, 3), _slots, whole=True),
        Property("caution", "a score below this is confirmed", 0.0, 1.0, (0.25, 0.75), "system.trusts"),
    )
