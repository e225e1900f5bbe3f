"""Which concept the logged system asks for, by what it has heard."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.simulation.fitted.logged_dialogs import Logs
from extrinsic.simulation.utterance import NOTHING
from extrinsic.simulation.world import View

FEWEST = 6
"""So many questions must have been logged in a situation for their shares to count."""

RAREST = 0.02
"""A concept that a smaller share of the questions is for counts as never asked for."""


@dataclass(frozen=True, eq=False)
class Questions:
    """A situation is a predicate, and which concepts have a value that is acted on.

    situation (n,): those that were logged often enough, ascending.
    up_to (n, n_groups): the share of the questions in each that are for a concept or one before it.
    order (n_groups,): the mean turn of the questions for each concept; infinite if there are next to none.
    """

    situation: Ints
    up_to: Floats
    order: Floats

    def asked(self, view: View, heard: Bools, predicate: Ints, draw: Floats) -> tuple[Ints, Bools]:
        """(m,) the concept that is asked for, and whether one of those that are needed is missing.

        In a situation that was logged it is drawn as in the log. Else what is needed and missing comes first,
        then anything else missing, then what is least sure; of equals what was asked for least often.
        heard (m, n_groups): what has a value that is acted on.   draw (m,): in [0, 1).
        """
        columns = view.domain.group_columns(view.slots)
        requests = np.stack([view.history.requests[:, group].max(axis=1) for group in columns], axis=1)
        required = view.history.required(view.domain)
        never = np.isinf(self.order)
        cost = heard * 1e6 + ~required * 1e5 + requests * 1e3 + heard * view.tops.score
        cost = cost + np.where(never, 1e9, self.order)
        missing = np.asarray((~heard & required & ~never).any(axis=1))
        if not len(self.situation):
            return cost.argmin(axis=1), missing
        key = _situations(heard, predicate)
        row = np.minimum(np.searchsorted(self.situation, key), len(self.situation) - 1)
        drawn = (draw[:, None] >= self.up_to[row]).sum(axis=1)
        return np.where(self.situation[row] == key, drawn, cost.argmin(axis=1)), missing


def _situations(heard: Bools, predicate: Ints) -> Ints:
    """(m,) each situation as a number."""
    return np.asarray((predicate << heard.shape[1]) + heard @ (1 << np.arange(heard.shape[1])))


def fit_questions(logs: Logs, heard_from: Floats) -> Questions:
    """heard_from (n_groups,): the score from which a value is acted on."""
    tops, asked = logs.tops, logs.turns.asked
    n_groups = tops.score.shape[1]
    used = np.flatnonzero((asked >= 0) & (asked < n_groups) & (logs.turns.turn > 0))
    heard = (tops.number[used] != NOTHING) & (tops.score[used] >= heard_from)
    situation, row = np.unique(_situations(heard, logs.turns.system.predicate[used]), return_inverse=True)
    counts = np.zeros((len(situation), n_groups))
    np.add.at(counts, (row, asked[used]), 1.0)
    often = counts.sum(axis=1) >= FEWEST
    share = counts[often] / counts[often].sum(axis=1, keepdims=True)
    order = np.full(n_groups, np.inf)
    for concept in range(n_groups):
        of_concept = used[asked[used] == concept]
        if len(of_concept) > RAREST * len(used):
            order[concept] = logs.turns.turn[of_concept].mean()
    up_to = np.minimum(np.cumsum(share, axis=1), 1.0)
    up_to[:, -1] = 1.0
    return Questions(situation[often], up_to, order)
