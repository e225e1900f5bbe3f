"""Which of the concepts that it has heard the logged system confirms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints
from extrinsic.simulation.fitted.logged_dialogs import Logs
from extrinsic.simulation.utterance import NOTHING


@dataclass(frozen=True)
class Choice:
    """The concept of the least cost is confirmed.

    sureness: the weight of a value's score, positive for the least sure value.
    implied: whether a value that was confirmed implicitly counts as settled, like one confirmed explicitly.
    newest: whether what the last answer was about comes first.
    """

    sureness: float
    implied: bool
    newest: bool

    def of(self, heard: Bools, score: Floats, confirmed: Bools, implied: Bools, fresh: Bools) -> Ints:
        """(m,) the chosen concept, all arguments (m, n_concepts); any one where nothing was heard.

        fresh: what the best hypothesis of the last answer was about.
        """
        settled = confirmed | implied if self.implied else confirmed
        cost = self.sureness * score + 2.0 * settled
        if self.newest:
            cost = cost - 10.0 * (fresh & ~settled)
        return np.asarray(np.where(heard, cost, np.inf).argmin(axis=1))


LEAST_SURE = Choice(0.5, implied=False, newest=False)
SUREST = Choice(-1.0, implied=True, newest=False)

CHOICES = (
    LEAST_SURE,
    SUREST,
    Choice(0.5, implied=True, newest=False),
    Choice(0.5, implied=True, newest=True),
    Choice(-1.0, implied=True, newest=True),
)


def fit_choice(logs: Logs, number: Ints, heard_from: Floats, usual: Choice) -> Choice:
    """The choice that agrees most often with the concepts of values that were confirmed.

    number (n_turns,): the value confirmed.   usual: where nothing was.
    """
    values, tops = logs.values, logs.tops
    rows = np.flatnonzero((number != NOTHING) & (logs.turns.turn > 0))
    heard = (tops.number[rows] != NOTHING) & (tops.score[rows] >= heard_from)
    rows, heard = rows[heard.any(axis=1)], heard[heard.any(axis=1)]
    if not len(rows):
        return usual
    confirmed, implied = confirmed_before(logs, rows)
    fresh = logs.turns.mentioned[rows - 1]
    agreement = [
        np.mean(choice.of(heard, tops.score[rows], confirmed, implied, fresh) == values.concept[number[rows]])
        for choice in CHOICES
    ]
    return CHOICES[int(np.argmax(agreement))]


def confirmed_before(logs: Logs, rows: Ints) -> tuple[Bools, Bools]:
    """(m, n_concepts) whether the best values before the rows were confirmed, and implicitly."""
    explicit, implicit = (
        _is_best(logs, rows, np.concatenate([getattr(log.history, name) for log in logs.corpora]))
        for name in ("confirmed", "implied")
    )
    return explicit, implicit


def _is_best(logs: Logs, rows: Ints, kept: Ids) -> Bools:
    """(m, n_concepts) whether the best values before the rows are those that a history keeps.

    kept (n_turns, n_slots): after each turn.
    """
    number = logs.tops.number[rows]
    slot, identity = logs.values.slot[number], logs.values.identity[number]
    same = np.take_along_axis(kept[rows - 1], slot, axis=1) == identity
    return np.asarray(same & (number != NOTHING))
