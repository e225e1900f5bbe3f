"""What callers want in played dialogs, and how it changes: when they are asked, and when they are refused."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Bools, Ints
from extrinsic.simulation.chance import Chance, TurnNumber
from extrinsic.simulation.fitted.confusions import wrong_values
from extrinsic.simulation.fitted.logged_dialogs import Logs
from extrinsic.simulation.utterance import NOTHING


class PlayedGoals:
    """The goals of n callers, numbers of values.

    caller (n,): of the logs.   wanted (n, n_concepts): what they want from the start.
    value (n, n_concepts): the goals now, NOTHING for none.   if_wanted (n, n_concepts): what a wish is for of
    which nothing right was ever heard, or that comes up later.
    wrong (n, n_concepts, 2, n_wrong): what each value is taken for, in its slot and in others.
    """

    def __init__(self, logs: Logs, caller: Ints, chance: Chance, n_wrong: int) -> None:
        self.logs, self.caller, self.chance, self.n_wrong = logs, caller, chance, n_wrong
        callers = logs.callers
        shape = (logs.values.n_concepts,)
        self.wanted: Bools = chance.uniform("wants", 0, shape) < callers.may_want[caller]
        self.if_asked: Bools = chance.uniform("if asked", 0, shape) < callers.if_asked[caller]
        self.if_wanted: Ints = self._if_wanted()
        self.value: Ints = np.where(self.wanted, self.if_wanted, callers.goal[caller])
        self.wrong: Ints = wrong_values(logs, self.value, chance, n_wrong)
        self._changed: Bools = np.zeros(len(caller), dtype=bool)

    def _if_wanted(self) -> Ints:
        """(n, n_concepts) the goals by the labels; where there is none, that of some other caller."""
        logged = self.logs.callers.goal
        goal = logged[self.caller].copy()
        answered = self.logs.callers.answered
        for concept in range(goal.shape[1]):
            known = logged[:, concept] != NOTHING
            # Who finds out when asked wants what others told when asked: often that any will do.
            if (known & answered[:, concept]).any():
                known &= answered[:, concept]
            known = logged[known, concept]
            unknown = np.flatnonzero(goal[:, concept] == NOTHING)
            if len(known):
                draw = self.chance.take(unknown).uniform(f"goal {concept}", 0)
                goal[unknown, concept] = known[(draw * len(known)).astype(np.int64)]
        return goal

    def come_up(self, dialogs: Ints, asked: Ints, wanted: Bools) -> Bools:
        """(m,) who finds, when asked for a concept (m,), that it matters; wanted (m, n_concepts): so far."""
        rows = np.arange(len(dialogs))
        comes = (asked != NOTHING) & self.if_asked[dialogs, asked] & ~wanted[rows, asked]
        chosen, concept = dialogs[comes], asked[comes]
        self.value[chosen, concept] = self.if_wanted[chosen, concept]
        self._take_for(chosen)
        return np.asarray(comes)

    def turn_away(self, dialogs: Ints, turn: TurnNumber, refused: Ints, share: float) -> Bools:
        """(m, n_concepts) of what another value is wanted from now on: the one that the log says, or one that
        other callers turned to instead of what was refused.

        refused (m, n_concepts): the values for which there is nothing, of who was refused what was wanted.
        share: of the refused who turn away.
        """
        chance, later_of = self.chance.take(dialogs), self.logs.callers.later
        turns_away = (refused != NOTHING).any(axis=1) & (chance.uniform("turns away", turn) < share)
        rows = np.flatnonzero(turns_away)
        chosen = dialogs[rows]
        later = np.where(self._changed[chosen][:, None], NOTHING, later_of[self.caller[chosen]])
        self._changed[chosen] = True
        draw = chance.take(rows).uniform("changes", turn, (2,))
        up_to = np.cumsum((later_of != NOTHING).sum(axis=0) * (refused[rows] != NOTHING), axis=1)
        concept = (draw[:, :1] * up_to[:, -1:] >= up_to).sum(axis=1)
        like_others = (later == NOTHING).all(axis=1) & (up_to[:, -1] > 0)
        for number in np.unique(concept[like_others]).tolist():
            others = later_of[:, number][later_of[:, number] != NOTHING]
            who = np.flatnonzero(like_others & (concept == number))
            later[who, number] = others[(draw[who, 1] * len(others)).astype(np.int64)]
        self.value[chosen] = np.where(later != NOTHING, later, self.value[chosen])
        self._take_for(chosen)
        moves = np.zeros((len(dialogs), later.shape[1]), dtype=bool)
        moves[rows] = later != NOTHING
        return moves

    def _take_for(self, dialogs: Ints) -> None:
        """What the values of the chosen callers are taken for, after their goals have changed."""
        if len(dialogs):
            goal, chance = self.value[dialogs], self.chance.take(dialogs)
            self.wrong[dialogs] = wrong_values(self.logs, goal, chance, self.n_wrong)
