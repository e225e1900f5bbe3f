"""Callers: what they say to the system, and when they have had enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.simulation.bus_ontology import Values
from extrinsic.simulation.bus_settings import CallerSettings, GoalSettings, SystemSettings
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.goals import NOTHING, another_value, draw_goals, part_places
from extrinsic.simulation.system import AGAIN, BYE, GO_BACK, NEXT, PREVIOUS, RESTART, SILENT, SystemTurn

YES, NO = 1, 2


@dataclass(frozen=True, eq=False)
class Utterance:
    """What m callers say.

    value (m, n_groups): the value said of each group, NOTHING where none is.   answer (m,): YES, NO, SILENT.
    command (m,): what else, SILENT or one of COMMANDS.   hangs_up (m,): says nothing any more.
    """

    value: Ints
    answer: Ints
    command: Ints
    hangs_up: Bools


@dataclass(frozen=True, eq=False)
class Faults:
    """Where the system was wrong: in an explicit or implicit confirmation, in an offer (m,), and in which
    groups of it, offered (m, n_groups)."""

    explicit: Bools
    implicit: Bools
    offer: Bools
    offered: Bools


class Callers:
    """n callers: what they want and have told, how patient they are, whether they got their bus.

    goal (n, n_groups).   told (n, n_groups).   patience, worn (n,): in turns.   content (n,): the last offer
    was right.   served (n,): one was.   changed (n,): the group in which the caller just changed his mind.
    leaving (n,): said bye.
    """

    def __init__(
        self,
        goal: GoalSettings,
        settings: CallerSettings,
        values: Values,
        chance: Chance,
        system: SystemSettings = SystemSettings(),  # noqa: B008 - frozen
    ) -> None:
        self.settings, self.values, self.chance, self.system = settings, values, chance, system
        self.goal = draw_goals(goal, values, chance)
        n_dialogs = len(chance.key)
        self.told: Bools = np.zeros(self.goal.shape, dtype=bool)
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

    def respond(self, dialogs: Ints, turn: int, said: SystemTurn, repeated: Bools) -> Utterance:
        """What the chosen callers answer. repeated (m,): they hear the very same as before."""
        settings, chance = self.settings, self.chance.take(dialogs)
        name = self.values.domain.predicate_names.index
        faults = self._faults(self.goal[dialogs], said)
        refused = (said.predicate == name("canthelp")) & ~faults.offer
        if self._change_goals(dialogs, chance, turn, refused):
            faults = self._faults(self.goal[dialogs], said)
        self._take_in(dialogs, said.predicate == name("offer"), faults, repeated)
        notices = chance.uniform("notices", turn) < settings.notices_implicit
        objects = faults.explicit | faults.offer | (faults.implicit & notices)
        browsing = np.isin(said.predicate, [name("offer"), name("help")])
        hangs_up, byes = self._leaves(dialogs, chance, turn, browsing)
        over = hangs_up | byes | (said.predicate == name("goodbye"))

        lost = (said.predicate == name("help")) & ~self.content[dialogs]
        undoes = ((faults.offer | faults.implicit) & objects & ~faults.explicit) | lost
        if settings.undoes < 1.0:
            undoes &= chance.uniform("undoes", turn) < settings.undoes
        answers = (chance.uniform("answers", turn) < settings.answers) & ~over
        speaks = self._topics(dialogs, chance, turn, said, faults, objects)
        speaks &= (answers & ~undoes)[:, None]
        speaks |= (self.changed[dialogs][:, None] == np.arange(self.goal.shape[1])) & ~over[:, None]
        speaks &= self.goal[dialogs] != NOTHING
        self.told[dialogs] |= speaks
        yes_no = self._answer(dialogs, chance, turn, said, objects)
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

    def _browses(self, chance: Chance, turn: int) -> Ints:
        """(m,) what is asked for after an offer that suits: another bus, the same again, or nothing."""
        settings = self.settings
        if settings.browses == 0.0:
            return np.zeros(len(chance.key), dtype=np.int64)
        draw = chance.uniform("browses which", turn)
        again = draw < settings.browses_back + settings.browses_again
        which = np.where(draw < settings.browses_back, PREVIOUS, np.where(again, AGAIN, NEXT))
        return np.where(chance.uniform("browses", turn) < settings.browses, which, SILENT)

    def begin_anew(self, dialogs: Ints) -> None:
        """The system has forgotten everything; so everything has to be told again."""
        self.told[dialogs] = False

    def _change_goals(self, dialogs: Ints, chance: Chance, turn: int, refused: Bools) -> bool:
        """Now and then a caller wants another value of something he has spoken of, and says so at once.

        Who is refused, because no bus goes there, wants to go elsewhere.
        """
        self.changed[dialogs] = NOTHING
        group = (chance.uniform("changed group", turn) * self.goal.shape[1]).astype(np.int64)
        changes = chance.uniform("changes", turn) < self.settings.changes_goal
        changes &= self.told[dialogs, group] & ~self.content[dialogs]
        group = np.where(refused, list(self.values.domain.groups).index("to"), group)
        changes |= refused
        who, which = dialogs[changes], group[changes]
        draw = chance.uniform("changed value", turn)[changes]
        self.goal[who, which] = another_value(self.values, self.goal[who, which], draw)
        moved = part_places(self.values, self.goal)
        self.told[moved, list(self.values.domain.groups).index("to")] = False
        self.told[who, which] = False
        self.changed[who] = which
        return len(who) > 0

    def _faults(self, goal: Ints, said: SystemTurn) -> Faults:
        """What of the system's words is not as the caller wants it."""
        rows, group_of = np.arange(len(goal)), self.values.group[self.values.slot]
        faults = []
        for value in (said.explicit, said.implicit):
            right = goal[rows, group_of[np.maximum(value, 0)]] == value
            faults.append((value != NOTHING) & ~right)
        names = self.values.domain.predicate_names
        offers = np.isin(said.predicate, [names.index("offer"), names.index("canthelp")])
        # Who has no time in mind takes any bus; who has, wants one at that time.
        fits = (said.offer == goal) | (goal == NOTHING) | ((said.offer == NOTHING) & ~self.required)
        return Faults(faults[0], faults[1], offers & ~fits.all(axis=1), ~fits)

    def _topics(
        self, dialogs: Ints, chance: Chance, turn: int, said: SystemTurn, faults: Faults, objects: Bools
    ) -> Bools:
        """(m, n_groups) what a caller speaks of: what is asked, what is wrong, and more if so inclined."""
        settings, values = self.settings, self.values
        name = values.domain.predicate_names.index
        rows, group_of = np.arange(len(dialogs)), values.group[values.slot]
        topics = np.zeros((len(dialogs), self.goal.shape[1]), dtype=bool)
        asked = (said.request != NOTHING) & ~objects
        topics[rows[asked], said.request[asked]] = True
        is_open = np.isin(said.predicate, [name("hello"), name("open_request"), name("restart")])
        is_open &= said.request == NOTHING
        topics[rows[is_open], self._first_to_tell(dialogs, chance, turn)[is_open]] = True

        more = np.where(is_open, settings.opens_with, settings.over_informs)
        more = np.where(objects | (said.predicate == name("offer")), 0.0, more)
        untold = ~self.told[dialogs] & (self.goal[dialogs] != NOTHING)
        topics |= untold & (chance.uniform("more", turn, (topics.shape[1],)) < more[:, None])

        corrects = (chance.uniform("corrects", turn) < settings.corrects_denied) & faults.explicit
        for value, when in ((said.explicit, corrects), (said.implicit, objects & faults.implicit)):
            topics[rows[when], group_of[value[when]]] = True
        return np.asarray(topics | (faults.offered & faults.offer[:, None]))

    def _first_to_tell(self, dialogs: Ints, chance: Chance, turn: int) -> Ints:
        """(m,) what a caller begins with when free to choose: something not yet told, mostly where from."""
        n_groups = self.goal.shape[1]
        liking = chance.uniform("first", turn, (n_groups,)) - 0.5 * np.arange(n_groups)
        liking = np.where(self.goal[dialogs] != NOTHING, liking, -1e3) - 1e2 * self.told[dialogs]
        return np.asarray(liking.argmax(axis=1))

    def _answer(self, dialogs: Ints, chance: Chance, turn: int, said: SystemTurn, objects: Bools) -> Ints:
        """Yes or no, where that is an answer."""
        name = self.values.domain.predicate_names.index
        again = self.content[dialogs] & (chance.uniform("again", turn) < self.settings.another_bus)
        if self.system.next_bus == "before":
            again = ((self.goal[dialogs] == NOTHING) | ~self.instead).all(axis=1)
        answer = np.where(objects, NO, np.where(said.predicate == name("confirm"), YES, SILENT))
        return np.where(said.predicate == name("next_bus"), np.where(again, YES, NO), answer)

    def _take_in(self, dialogs: Ints, offering: Bools, faults: Faults, repeated: Bools) -> None:
        """Be content or annoyed; every turn costs patience, until the right bus is named."""
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

    def _leaves(self, dialogs: Ints, chance: Chance, turn: int, browsing: Bools) -> tuple[Bools, Bools]:
        """(m,) who hangs up: patience is gone, or the right bus was named, and that is all some want; and who
        says bye first."""
        leaves = chance.uniform("leaves", turn) < self.settings.leaves_content
        leaves &= browsing & self.content[dialogs] & np.isfinite(self.patience[dialogs])
        byes = leaves & (chance.uniform("bye", turn) < self.settings.says_bye)
        gone = (self.worn[dialogs] > self.patience[dialogs]) | (leaves & ~byes) | self.leaving[dialogs]
        self.leaving[dialogs] |= byes
        return np.asarray(gone), np.asarray(byes & ~gone)
