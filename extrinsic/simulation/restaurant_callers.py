"""Simulated diners: what they look for, what they say to the system, and when they leave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.simulation.chance import Chance, TurnNumber
from extrinsic.simulation.restaurant_database import ALTERNATIVES, ASKED, BYE, Database
from extrinsic.simulation.slot_filling import PatientCallers, PatientCallerSettings
from extrinsic.simulation.values import NO, NOTHING, SILENT, YES, Utterance
from extrinsic.simulation.world_files import Amount, Endless, Settings
from extrinsic.typed_files import Share


class SearchSettings(Settings, frozen=True):
    """What callers look for: the food, area and price range of some restaurant, as far as they care."""

    food: Share = 0.85
    area: Share = 0.70
    pricerange: Share = 0.60
    by_name: Share = 0.05
    """Looks for a restaurant that is known by its name."""
    impossible: Share = 0.10
    """Wants another food than that restaurant serves; there may be no such place."""
    phone: Share = 0.60
    addr: Share = 0.45
    postcode: Share = 0.20
    signature: Share = 0.05
    """What else a caller wants to know of the place."""


class DinerSettings(PatientCallerSettings, frozen=True):
    """How callers behave."""

    patience: Endless = 12.0
    answers: Share = 0.97
    opens_with: Share = 0.40
    over_informs: Share = 0.08
    alternatives: Share = 0.15
    """Asks for another place after the first right one."""
    annoyed_by_wrong_confirmation: Amount = 0.5
    annoyed_by_wrong_offer: Amount = 1.5
    annoyed_by_repetition: Amount = 1.0


@dataclass(frozen=True, eq=False)
class HostTurn:
    """What the system says to m callers; NOTHING where it does not apply.

    predicate (m,).   request (m,): the slot asked for.   confirm (m,): the value confirmed.
    place (m,): the restaurant it names.   about (m,): which of ASKED it answers.
    query (m, n_slots): the values it searched by.   fails (m,): nothing fits them.
    """

    predicate: Ints
    request: Ints
    confirm: Ints
    place: Ints
    about: Ints
    query: Ints
    fails: Bools

    @staticmethod
    def of(predicate: Ints, n_slots: int) -> HostTurn:
        """Turns that name nothing."""
        nothing = np.full(len(predicate), NOTHING, dtype=np.int64)
        query = np.full((len(predicate), n_slots), NOTHING, dtype=np.int64)
        return HostTurn(predicate, nothing, nothing, nothing, nothing, query, nothing == 0)


def _draw_goals(search: SearchSettings, town: Database, chance: Chance) -> Ints:
    """(n, n_slots) the properties of some restaurant, as far as the caller cares."""
    slots = town.values.domain.slot_names
    place = town.attribute[(chance.uniform("place", 0) * len(town.attribute)).astype(np.int64)]
    goal = np.full_like(place, NOTHING)
    cares = np.stack(
        [chance.uniform(f"{slot} wanted", 0) < getattr(search, slot, 0.0) for slot in slots], axis=1
    )
    cares[~cares.any(axis=1), slots.index("food")] = True
    goal[cares] = place[cares]
    food = slots.index("food")
    begin, n_foods = town.values.begin[food], town.any_value[food] - town.values.begin[food]
    other = begin + (chance.uniform("other food", 0) * n_foods).astype(np.int64)
    picky = (chance.uniform("impossible", 0) < search.impossible) & cares[:, food]
    goal[picky, food] = other[picky]
    by_name = chance.uniform("by name", 0) < search.by_name
    goal[by_name] = NOTHING
    goal[by_name, slots.index("name")] = place[by_name, slots.index("name")]
    return goal


class Diners(PatientCallers[HostTurn]):
    """n callers.

    stated (n, n_slots): the value wanted as last said.   wants, answered (n, len(ASKED)).
    place (n,): the right restaurant that was offered, NOTHING for none.
    curious (n,): will ask for another one.
    """

    def __init__(
        self, search: SearchSettings, settings: DinerSettings, town: Database, chance: Chance
    ) -> None:
        super().__init__(town.values, _draw_goals(search, town, chance), settings, chance)
        self.settings, self.town = settings, town
        self.stated: Ints = np.full_like(self.goal, NOTHING)
        shares = [getattr(search, slot) for slot in ASKED]
        self.wants: Bools = chance.uniform("wants", 0, (len(ASKED),)) < shares
        self.answered: Bools = np.zeros_like(self.wants)
        self.place: Ints = np.full(len(self.goal), NOTHING, dtype=np.int64)
        self.curious: Bools = chance.uniform("curious", 0) < settings.alternatives

    @property
    def outcomes(self) -> dict[str, Floats]:
        """success: a right place was offered, and every question about it answered; offered: the
        first half of that."""
        offered = self.place != NOTHING
        served = offered & (self.answered | ~self.wants).all(axis=1)
        return {"success": served.astype(np.float64), "offered": offered.astype(np.float64)}

    def labelled(self, dialogs: Ints) -> Ints:
        return self.stated[dialogs]

    def respond(self, dialogs: Ints, turn: TurnNumber, system: HostTurn, repeated: Bools) -> Utterance:
        settings, chance = self.settings, self.chance.take(dialogs)
        self._settle(dialogs, system)
        goal = self.goal[dialogs]
        wrong_value = self._wrong_confirmation(goal, system)
        presents = self.hears(system, "present")
        wrong_query = self._wrong_query(goal, system)
        offers = presents & ~system.fails
        right = offers & self.town.fits(goal)[np.arange(len(goal)), np.maximum(system.place, 0)]
        wrong_offer = presents & ~right & (wrong_query.any(axis=1) | offers)
        self._take_in(dialogs, system, right, wrong_offer)
        # What was taken for a wish and is none does not matter to the caller.
        no_wish = wrong_offer[:, None] & wrong_query & (goal == NOTHING)
        self.goal[dialogs] = np.where(no_wish, self.town.any_value, goal)
        refused = presents & system.fails & ~wrong_query.any(axis=1)
        changed = self._change_goals(dialogs, chance, turn, refused)
        goal = self.goal[dialogs]

        content = (self.place[dialogs] != NOTHING) & ~wrong_offer
        # After the greeting there is something to say first.
        command = self._next_wish(dialogs, content & ~self.hears(system, "welcome"))
        speaks = self._topics(dialogs, chance, turn, system, wrong_value, wrong_query, wrong_offer)
        speaks |= changed
        speaks &= (goal != NOTHING) & (command == SILENT)[:, None]
        confirms = self.hears(system, "confirm")
        answer = np.where(wrong_value, NO, np.where(confirms, YES, SILENT))
        cost = (
            1.0
            + settings.annoyed_by_wrong_confirmation * wrong_value
            + settings.annoyed_by_wrong_offer * wrong_offer
            + settings.annoyed_by_repetition * repeated
        )
        self.worn[dialogs] += cost
        gone = self.worn[dialogs] > self.patience[dialogs]
        silent = gone | (chance.uniform("answers", turn) >= settings.answers)
        speaks &= ~silent[:, None]
        self.stated[dialogs] = np.where(speaks, goal, self.stated[dialogs])
        return Utterance(
            value=np.where(speaks, goal, NOTHING),
            answer=np.where(silent, SILENT, answer),
            command=np.where(silent, SILENT, command),
            hangs_up=gone | (~silent & (command == BYE)),
        )

    def _settle(self, dialogs: Ints, system: HostTurn) -> None:
        """Asked for something that does not matter, a caller settles on not caring."""
        rows = np.flatnonzero(system.request != NOTHING)
        slot = system.request[rows]
        free = self.goal[dialogs[rows], slot] == NOTHING
        self.goal[dialogs[rows[free]], slot[free]] = self.town.any_value[slot[free]]

    def _wrong_confirmation(self, goal: Ints, system: HostTurn) -> Bools:
        """(m,) whether the value confirmed is not what is wanted."""
        slot = self.values.slot[np.maximum(system.confirm, 0)]
        wanted = goal[np.arange(len(goal)), slot]
        wanted = np.where(wanted == NOTHING, self.town.any_value[slot], wanted)
        return np.asarray((system.confirm != NOTHING) & (wanted != system.confirm))

    def _wrong_query(self, goal: Ints, system: HostTurn) -> Bools:
        """(m, n_slots) what the system searched by and the caller does not want."""
        narrows = (system.query != NOTHING) & (system.query != self.town.any_value)
        return np.asarray(narrows & (system.query != goal))

    def _take_in(self, dialogs: Ints, system: HostTurn, right: Bools, wrong_offer: Bools) -> None:
        """Note a right place, forget one that was withdrawn, note what was answered."""
        another = right & (system.place != self.place[dialogs])
        self.answered[dialogs[another]] = False
        self.place[dialogs[right]] = system.place[right]
        self.place[dialogs[wrong_offer]] = NOTHING
        answers = (system.about != NOTHING) & (system.place == self.place[dialogs])
        self.answered[dialogs[answers], system.about[answers]] = True

    def _change_goals(self, dialogs: Ints, chance: Chance, turn: TurnNumber, refused: Bools) -> Bools:
        """(m, n_slots) what changed: callers for whom there is nothing want what another place has."""
        drawn = (chance.uniform("another place", turn) * len(self.town.attribute)).astype(np.int64)
        goal = self.goal[dialogs]
        narrows = (goal != NOTHING) & (goal != self.town.any_value)
        changes = refused[:, None] & narrows
        self.goal[dialogs] = np.where(changes, self.town.attribute[drawn], goal)
        return np.asarray(changes)

    def _next_wish(self, dialogs: Ints, content: Bools) -> Ints:
        """(m,) what a content caller asks for: another place, something of this one; else bye."""
        missing = self.wants[dialogs] & ~self.answered[dialogs]
        wish = np.where(missing.any(axis=1), 1 + missing.argmax(axis=1), BYE)
        curious = content & self.curious[dialogs]
        self.curious[dialogs[curious]] = False
        return np.where(content, np.where(curious, ALTERNATIVES, wish), SILENT)

    def _topics(
        self,
        dialogs: Ints,
        chance: Chance,
        turn: TurnNumber,
        system: HostTurn,
        wrong_value: Bools,
        wrong_query: Bools,
        wrong_offer: Bools,
    ) -> Bools:
        """(m, n_slots) what a caller mentions: what was asked for or was wrong, and sometimes more."""
        settings, rows, goal = self.settings, np.arange(len(dialogs)), self.goal[dialogs]
        topics = np.zeros(goal.shape, dtype=bool)
        asked = system.request != NOTHING
        topics[rows[asked], system.request[asked]] = True
        corrects = wrong_value & (chance.uniform("corrects", turn) < settings.corrects_denied)
        topics[rows[corrects], self.values.slot[system.confirm[corrects]]] = True
        unstated = (goal != NOTHING) & (self.stated[dialogs] != goal)
        # An offer that was searched by the right values may still lack one that was never understood.
        wrong, wanted = wrong_query & (goal != NOTHING), goal != NOTHING
        topics |= wrong_offer[:, None] & np.where(wrong.any(axis=1)[:, None], wrong, wanted)
        is_open = self.hears(system, "welcome", "other", "inform")
        first = np.where(unstated, chance.uniform("first", turn, (goal.shape[1],)), -1.0).argmax(axis=1)
        opens = is_open & unstated.any(axis=1)
        topics[rows[opens], first[opens]] = True
        # Nothing new to say: the caller says again what is wanted.
        again = is_open & ~unstated.any(axis=1)
        topics |= again[:, None] & (goal != NOTHING)
        more = np.where(self.hears(system, "welcome"), settings.opens_with, settings.over_informs)
        topics |= unstated & (chance.uniform("more", turn, (goal.shape[1],)) < more[:, None])
        return topics
