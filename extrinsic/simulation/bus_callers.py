"""Callers of the bus world: what they want, what they say to the system, and when they hang up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.simulation.bus_system import (
    AGAIN,
    BYE,
    GO_BACK,
    NEXT,
    PREVIOUS,
    RESTART,
    SystemSettings,
    SystemTurn,
)
from extrinsic.simulation.bus_values import bus_ontology
from extrinsic.simulation.chance import Chance, TurnNumber
from extrinsic.simulation.slot_filling import PatientCallers, PatientCallerSettings
from extrinsic.simulation.values import NO, NOTHING, SILENT, YES, Utterance, Values
from extrinsic.simulation.world_files import Amount, Settings
from extrinsic.typed_files import Share


class GoalSettings(Settings, frozen=True):
    """What callers want. A place is a stop, a neighborhood or a monument; the others may be absent."""

    stop: Share = 0.60
    neighborhood: Share = 0.25
    route: Share = 0.35
    date: Share = 0.30
    time: Share = 0.90
    usual: Share = 0.15
    """Share of the times (dates) that are "now" (today or tomorrow)."""


class CallerSettings(PatientCallerSettings, frozen=True):
    """How callers behave."""

    notices_implicit: Share = 0.75
    """Objects to a wrong implicit confirmation."""
    changes_goal: Share = 0.01
    """Per turn: wants something else than before."""
    another_bus: Share = 0.30
    """After a right offer, asks for the next bus."""
    leaves_content: Share = 0.20
    """Hangs up as soon as the right bus was named."""
    annoyed_by_wrong_confirmation: Amount = 0.5
    annoyed_by_wrong_implicit: Amount = 1.0
    annoyed_by_wrong_offer: Amount = 2.0
    annoyed_by_repetition: Amount = 1.0
    starts_over: Share = 0.0
    """Per turn, once half of the patience is used: asks to start over. Lee leaves such calls out."""
    undoes: Share = 0.0
    """Objects to an implicit confirmation or an offer by "go back" alone, not by a no and the right value."""
    browses: Share = 0.0
    """After an offer of the right bus, asks at once for the next or previous one, or to hear it again."""
    browses_back: Share = 0.10
    browses_again: Share = 0.20
    """Of those requests: for the previous bus, and to hear the same again."""
    says_bye: Share = 0.0
    """A caller who leaves because the right bus was named says so, and hangs up a turn later."""


def draw_goals(settings: GoalSettings, values: Values, chance: Chance) -> Ints:
    """(n, n_groups) the value each caller wants of each group, NOTHING for no preference."""
    groups = list(values.domain.groups)
    n_dialogs = len(chance.key)
    goal = np.full((n_dialogs, len(groups)), NOTHING, dtype=np.int64)
    kinds = np.cumsum([settings.stop, settings.neighborhood])
    for side in ("from", "to"):
        slots = np.array([values.domain.slot_names.index(name) for name in values.domain.groups[side]])
        kind = np.searchsorted(kinds, chance.uniform(f"{side} kind", 0), side="right")
        goal[:, groups.index(side)] = _one_of(values, slots[kind], chance.uniform(side, 0))
    separate_places(values, goal)
    for name in ("route", "date", "time"):
        slot = np.full(n_dialogs, values.domain.slot_names.index(name))
        is_wanted = chance.uniform(f"{name} wanted", 0) < getattr(settings, name)
        value = _one_of(values, slot, chance.uniform(name, 0))
        usual = np.flatnonzero(values.usual[values.begin[slot[0]] : values.begin[slot[0] + 1]])
        if len(usual):
            chosen = values.begin[slot[0]] + usual[_index(chance.uniform(f"{name} which", 0), len(usual))]
            value = np.where(chance.uniform(f"{name} usual", 0) < settings.usual, chosen, value)
        goal[:, groups.index(name)] = np.where(is_wanted, value, NOTHING)
    return goal


def separate_places(values: Values, goal: Ints) -> Bools:
    """Replace destinations that equal the origin by the most similar place; (n,) where that happened."""
    groups = list(values.domain.groups)
    start, end = groups.index("from"), groups.index("to")
    same = values.elsewhere[goal[:, start], 0] == goal[:, end]
    goal[same, end] = values.neighbour[goal[same, end], 0]
    return np.asarray(same)


def another_value(values: Values, value: Ints, draw: np.ndarray) -> Ints:
    """A different value of the same slot."""
    slot = values.slot[value]
    begin, size = values.begin[slot], np.diff(values.begin)[slot]
    return np.asarray(begin + (value - begin + 1 + _index(draw, size - 1)) % size)


def _one_of(values: Values, slot: Ints, draw: np.ndarray) -> Ints:
    return np.asarray(values.begin[slot] + _index(draw, np.diff(values.begin)[slot]))


def _index(draw: np.ndarray, size: Ints | int) -> Ints:
    return np.asarray((draw * size).astype(np.int64))


@dataclass(frozen=True, eq=False)
class Faults:
    """Where the system was wrong: in an explicit or implicit confirmation, in an offer (m,), and in which
    groups of it, offered (m, n_groups)."""

    explicit: Bools
    implicit: Bools
    offer: Bools
    offered: Bools


class Callers(PatientCallers[SystemTurn]):
    """n callers: what they want and have mentioned, their patience, and whether they got their bus.

    mentioned (n, n_groups).   content (n,): the last offer was right.   served (n,): some offer was.
    changed (n,): the group in which the caller just changed the goal.   leaving (n,): said bye.
    """

    def __init__(
        self, goal: GoalSettings, settings: CallerSettings, system: SystemSettings, chance: Chance
    ) -> None:
        values = bus_ontology()
        super().__init__(values, draw_goals(goal, values, chance), settings, chance)
        self.settings, self.system_settings = settings, system
        self.group_of: Ints = values.group[values.slot]
        n_dialogs, groups = len(self.goal), list(values.domain.groups)
        self.mentioned: Bools = np.zeros(self.goal.shape, dtype=bool)
        self.content: Bools = np.zeros(n_dialogs, dtype=bool)
        self.served: Bools = np.zeros(n_dialogs, dtype=bool)
        self.leaving: Bools = np.zeros(n_dialogs, dtype=bool)
        self.changed: Ints = np.full(n_dialogs, NOTHING, dtype=np.int64)
        self.required: Bools = np.isin(groups, [*system.required, *system.unless_next_bus])
        self.instead: Bools = np.isin(groups, system.unless_next_bus)

    @property
    def outcomes(self) -> dict[str, Floats]:
        """success: the right bus was offered."""
        return {"success": self.served.astype(np.float64)}

    def respond(self, dialogs: Ints, turn: TurnNumber, system: SystemTurn, repeated: Bools) -> Utterance:
        settings, chance = self.settings, self.chance.take(dialogs)
        # The system has forgotten everything, so everything has to be mentioned again.
        self.mentioned[dialogs[self.hears(system, "restart")]] = False
        faults = self._faults(self.goal[dialogs], system)
        refused = self.hears(system, "canthelp") & ~faults.offer
        if self._change_goals(dialogs, chance, turn, refused):
            faults = self._faults(self.goal[dialogs], system)
        self._take_in(dialogs, self.hears(system, "offer"), faults, repeated)
        notices = chance.uniform("notices", turn) < settings.notices_implicit
        objects = faults.explicit | faults.offer | (faults.implicit & notices)
        browsing = self.hears(system, "offer", "help")
        hangs_up, byes = self._leaves(dialogs, chance, turn, browsing)
        over = hangs_up | byes | self.hears(system, "goodbye")

        lost = self.hears(system, "help") & ~self.content[dialogs]
        undoes = ((faults.offer | faults.implicit) & objects & ~faults.explicit) | lost
        if settings.undoes < 1.0:
            undoes &= chance.uniform("undoes", turn) < settings.undoes
        answers = (chance.uniform("answers", turn) < settings.answers) & ~over
        speaks = self._topics(dialogs, chance, turn, system, faults, objects)
        speaks &= (answers & ~undoes)[:, None]
        speaks |= (self.changed[dialogs][:, None] == np.arange(self.goal.shape[1])) & ~over[:, None]
        speaks &= self.goal[dialogs] != NOTHING
        self.mentioned[dialogs] |= speaks
        yes_no = self._answer(dialogs, chance, turn, system, objects)
        weary = self.worn[dialogs] > 0.5 * self.patience[dialogs]
        startover = weary & (chance.uniform("startover", turn) < settings.starts_over) & ~over
        command = np.where(answers & undoes, GO_BACK, SILENT)
        command = np.where(answers & browsing & self.content[dialogs], self._browses(chance, turn), command)
        return Utterance(
            value=np.where(speaks, self.goal[dialogs], NOTHING),
            answer=np.where(answers & ~undoes, yes_no, SILENT),
            command=np.where(startover, RESTART, np.where(byes & ~hangs_up, BYE, command)),
            hangs_up=hangs_up,
        )

    def _browses(self, chance: Chance, turn: TurnNumber) -> Ints:
        """(m,) what is requested after an offer of the right bus: another bus, the same again, or nothing."""
        settings = self.settings
        if settings.browses == 0.0:
            return np.zeros(len(chance.key), dtype=np.int64)
        draw = chance.uniform("browses which", turn)
        again = draw < settings.browses_back + settings.browses_again
        which = np.where(draw < settings.browses_back, PREVIOUS, np.where(again, AGAIN, NEXT))
        return np.where(chance.uniform("browses", turn) < settings.browses, which, SILENT)

    def _change_goals(self, dialogs: Ints, chance: Chance, turn: TurnNumber, refused: Bools) -> bool:
        """Sometimes a caller wants another value of a group mentioned already, and says so at once.

        A caller who is refused, because no bus goes there, changes the destination.
        """
        self.changed[dialogs] = NOTHING
        group = (chance.uniform("changed group", turn) * self.goal.shape[1]).astype(np.int64)
        changes = chance.uniform("changes", turn) < self.settings.changes_goal
        changes &= self.mentioned[dialogs, group] & ~self.content[dialogs]
        group = np.where(refused, list(self.values.domain.groups).index("to"), group)
        changes |= refused
        callers, groups = dialogs[changes], group[changes]
        draw = chance.uniform("changed value", turn)[changes]
        self.goal[callers, groups] = another_value(self.values, self.goal[callers, groups], draw)
        moved = separate_places(self.values, self.goal)
        self.mentioned[moved, list(self.values.domain.groups).index("to")] = False
        self.mentioned[callers, groups] = False
        self.changed[callers] = groups
        return len(callers) > 0

    def _faults(self, goal: Ints, system: SystemTurn) -> Faults:
        """Which of the system's confirmations and offers contradict the caller's goal."""
        rows = np.arange(len(goal))

        def contradicts(value: Ints) -> Bools:
            return np.asarray((value != NOTHING) & (goal[rows, self.group_of[np.maximum(value, 0)]] != value))

        offers = self.hears(system, "offer", "canthelp")
        # A caller without a time takes any bus; one with a time wants a bus at that time.
        fits = (system.offer == goal) | (goal == NOTHING) | ((system.offer == NOTHING) & ~self.required)
        wrong = offers & ~fits.all(axis=1)
        return Faults(contradicts(system.explicit), contradicts(system.implicit), wrong, ~fits)

    def _topics(
        self,
        dialogs: Ints,
        chance: Chance,
        turn: TurnNumber,
        system: SystemTurn,
        faults: Faults,
        objects: Bools,
    ) -> Bools:
        """(m, n_groups) the groups a caller mentions: the requested, the wrong, and sometimes more."""
        settings, rows, n_groups = self.settings, np.arange(len(dialogs)), self.goal.shape[1]
        topics = np.zeros((len(dialogs), n_groups), dtype=bool)
        is_requested = (system.request != NOTHING) & ~objects
        topics[rows[is_requested], system.request[is_requested]] = True
        is_open = self.hears(system, "hello", "open_request", "restart")
        is_open &= system.request == NOTHING
        # Free to choose, a caller mentions something new first, mostly the origin.
        liking = chance.uniform("first", turn, (n_groups,)) - 0.5 * np.arange(n_groups)
        liking = np.where(self.goal[dialogs] != NOTHING, liking, -1e3) - 1e2 * self.mentioned[dialogs]
        topics[rows[is_open], liking.argmax(axis=1)[is_open]] = True

        more = np.where(is_open, settings.opens_with, settings.over_informs)
        more = np.where(objects | self.hears(system, "offer"), 0.0, more)
        unmentioned = ~self.mentioned[dialogs] & (self.goal[dialogs] != NOTHING)
        topics |= unmentioned & (chance.uniform("more", turn, (n_groups,)) < more[:, None])

        corrects = (chance.uniform("corrects", turn) < settings.corrects_denied) & faults.explicit
        for value, when in ((system.explicit, corrects), (system.implicit, objects & faults.implicit)):
            topics[rows[when], self.group_of[value[when]]] = True
        return np.asarray(topics | (faults.offered & faults.offer[:, None]))

    def _answer(
        self, dialogs: Ints, chance: Chance, turn: TurnNumber, system: SystemTurn, objects: Bools
    ) -> Ints:
        """(m,) YES or NO to a yes/no question, else SILENT."""
        again = self.content[dialogs] & (chance.uniform("again", turn) < self.settings.another_bus)
        if self.system_settings.next_bus == "before":
            again = ((self.goal[dialogs] == NOTHING) | ~self.instead).all(axis=1)
        answer = np.where(objects, NO, np.where(self.hears(system, "confirm"), YES, SILENT))
        return np.where(self.hears(system, "next_bus"), np.where(again, YES, NO), answer)

    def _take_in(self, dialogs: Ints, offering: Bools, faults: Faults, repeated: Bools) -> None:
        """Update contentment and patience; every turn costs patience until the right bus is named."""
        settings, right = self.settings, offering & ~faults.offer
        self.content[dialogs] = (self.content[dialogs] & ~faults.offer) | right
        self.served[dialogs] |= right
        cost = (
            1.0
            + settings.annoyed_by_wrong_confirmation * faults.explicit
            + settings.annoyed_by_wrong_implicit * faults.implicit
            + settings.annoyed_by_wrong_offer * faults.offer
            + settings.annoyed_by_repetition * repeated
        )
        self.worn[dialogs] += np.where(self.content[dialogs], 0.0, cost)

    def _leaves(
        self, dialogs: Ints, chance: Chance, turn: TurnNumber, browsing: Bools
    ) -> tuple[Bools, Bools]:
        """(m,) whether a caller hangs up, because patience is exhausted or the right bus was named and that
        is enough; and whether the caller says bye first."""
        leaves = chance.uniform("leaves", turn) < self.settings.leaves_content
        leaves &= browsing & self.content[dialogs] & np.isfinite(self.patience[dialogs])
        byes = leaves & (chance.uniform("bye", turn) < self.settings.says_bye)
        gone = (self.worn[dialogs] > self.patience[dialogs]) | (leaves & ~byes) | self.leaving[dialogs]
        self.leaving[dialogs] |= byes
        return np.asarray(gone), np.asarray(byes & ~gone)
