"""Simulated callers: what they say to the system, and when they hang up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv

from extrinsic.arrays import Bools, Floats, Ints, is_among
from extrinsic.simulation.bus.bus_settings import CallerSettings, GoalSettings, SystemSettings
from extrinsic.simulation.bus.goals import another_value, draw_goals, separate_places
from extrinsic.simulation.bus.system import AGAIN, BYE, GO_BACK, NEXT, PREVIOUS, RESTART, SystemTurn
from extrinsic.simulation.chance import Chance, TurnNumber
from extrinsic.simulation.ontology import Values
from extrinsic.simulation.utterance import NO, NOTHING, SILENT, YES, Utterance


@dataclass(frozen=True, eq=False)
class Faults:
    """Where the system was wrong: in an explicit or implicit confirmation, in an offer (m,), and in which
    groups of it, offered (m, n_groups)."""

    explicit: Bools
    implicit: Bools
    offer: Bools
    offered: Bools


class Callers:
    """n callers: what they want and have mentioned, their patience, and whether they got their bus.

    goal (n, n_groups).   mentioned (n, n_groups).   patience, worn (n,): in turns.
    content (n,): the last offer was right.   served (n,): some offer was.
    changed (n,): the group in which the caller just changed the goal.   leaving (n,): said bye.
    """

    def __init__(
        self,
        goal: GoalSettings,
        settings: CallerSettings,
        values: Values,
        chance: Chance,
        system: SystemSettings = SystemSettings(),  # noqa: B008 - frozen
    ) -> None:
        self.settings, self.system_settings = settings, system
        self.values, self.chance = values, chance
        self.goal = draw_goals(goal, values, chance)
        n_dialogs = len(chance.key)
        self.mentioned: Bools = np.zeros(self.goal.shape, dtype=bool)
        self.worn: Floats = np.zeros(n_dialogs)
        self.patience = self._draw_patience()
        self.content: Bools = np.zeros(n_dialogs, dtype=bool)
        self.served: Bools = np.zeros(n_dialogs, dtype=bool)
        self.leaving: Bools = np.zeros(n_dialogs, dtype=bool)
        self.changed: Ints = np.full(n_dialogs, NOTHING, dtype=np.int64)
        groups = list(values.domain.groups)
        self.required: Bools = np.isin(groups, [*system.required, *system.unless_next_bus])
        self.instead: Bools = np.isin(groups, system.unless_next_bus)

    def _draw_patience(self) -> Floats:
        shape, mean = self.settings.patience_shape, self.settings.patience
        if np.isinf(mean):
            return np.full(len(self.chance.key), np.inf)
        return np.asarray(gammaincinv(shape, self.chance.uniform("patience", 0)) * mean / shape)

    def respond(self, dialogs: Ints, turn: TurnNumber, system: SystemTurn, repeated: Bools) -> Utterance:
        """The answers of the chosen callers. repeated (m,): the system repeated itself exactly."""
        settings, chance = self.settings, self.chance.take(dialogs)
        name = self.values.domain.predicate_names.index
        faults = self._faults(self.goal[dialogs], system)
        refused = (system.predicate == name("canthelp")) & ~faults.offer
        if self._change_goals(dialogs, chance, turn, refused):
            faults = self._faults(self.goal[dialogs], system)
        self._take_in(dialogs, system.predicate == name("offer"), faults, repeated)
        notices = chance.uniform("notices", turn) < settings.notices_implicit
        objects = faults.explicit | faults.offer | (faults.implicit & notices)
        browsing = is_among(system.predicate, [name("offer"), name("help")])
        hangs_up, byes = self._leaves(dialogs, chance, turn, browsing)
        over = hangs_up | byes | (system.predicate == name("goodbye"))

        lost = (system.predicate == name("help")) & ~self.content[dialogs]
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

    def start_over(self, dialogs: Ints) -> None:
        """The system has forgotten everything, so everything has to be mentioned again."""
        self.mentioned[dialogs] = False

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
        rows, group_of = np.arange(len(goal)), self.values.group[self.values.slot]
        faults = []
        for value in (system.explicit, system.implicit):
            right = goal[rows, group_of[np.maximum(value, 0)]] == value
            faults.append((value != NOTHING) & ~right)
        names = self.values.domain.predicate_names
        offers = is_among(system.predicate, [names.index("offer"), names.index("canthelp")])
        # A caller without a time takes any bus; one with a time wants a bus at that time.
        fits = (system.offer == goal) | (goal == NOTHING) | ((system.offer == NOTHING) & ~self.required)
        return Faults(faults[0], faults[1], offers & ~fits.all(axis=1), ~fits)

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
        settings, values = self.settings, self.values
        name = values.domain.predicate_names.index
        rows, group_of = np.arange(len(dialogs)), values.group[values.slot]
        topics = np.zeros((len(dialogs), self.goal.shape[1]), dtype=bool)
        is_requested = (system.request != NOTHING) & ~objects
        topics[rows[is_requested], system.request[is_requested]] = True
        is_open = is_among(system.predicate, [name("hello"), name("open_request"), name("restart")])
        is_open &= system.request == NOTHING
        topics[rows[is_open], self._first_to_mention(dialogs, chance, turn)[is_open]] = True

        more = np.where(is_open, settings.opens_with, settings.over_informs)
        more = np.where(objects | (system.predicate == name("offer")), 0.0, more)
        unmentioned = ~self.mentioned[dialogs] & (self.goal[dialogs] != NOTHING)
        topics |= unmentioned & (chance.uniform("more", turn, (topics.shape[1],)) < more[:, None])

        corrects = (chance.uniform("corrects", turn) < settings.corrects_denied) & faults.explicit
        for value, when in ((system.explicit, corrects), (system.implicit, objects & faults.implicit)):
            topics[rows[when], group_of[value[when]]] = True
        return np.asarray(topics | (faults.offered & faults.offer[:, None]))

    def _first_to_mention(self, dialogs: Ints, chance: Chance, turn: TurnNumber) -> Ints:
        """(m,) what a caller mentions first when free to choose: something new, mostly the origin."""
        n_groups = self.goal.shape[1]
        liking = chance.uniform("first", turn, (n_groups,)) - 0.5 * np.arange(n_groups)
        liking = np.where(self.goal[dialogs] != NOTHING, liking, -1e3) - 1e2 * self.mentioned[dialogs]
        return np.asarray(liking.argmax(axis=1))

    def _answer(
        self, dialogs: Ints, chance: Chance, turn: TurnNumber, system: SystemTurn, objects: Bools
    ) -> Ints:
        """(m,) YES or NO to a yes/no question, else SILENT."""
        name = self.values.domain.predicate_names.index
        again = self.content[dialogs] & (chance.uniform("again", turn) < self.settings.another_bus)
        if self.system_settings.next_bus == "before":
            again = ((self.goal[dialogs] == NOTHING) | ~self.instead).all(axis=1)
        answer = np.where(objects, NO, np.where(system.predicate == name("confirm"), YES, SILENT))
        return np.where(system.predicate == name("next_bus"), np.where(again, YES, NO), answer)

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
