"""Which searches find nothing: what the log's database had to offer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.fitted.caller_states import FEATURES, REFUSED, TURNS_AWAY
from extrinsic.simulation.fitted.logged_dialogs import Logs
from extrinsic.simulation.utterance import NOTHING

SHRINKAGE = 2.0


@dataclass(frozen=True, eq=False)
class Refusals:
    """The share of searches that found nothing: of those for the very same values, and of those for a value.

    seen: per search (the values of all concepts) how many found nothing, and how many there were.
    of_value (n_values + 1,): the share of searches for a value; the last entry is that of all.
    telling: the concept whose values decide most.
    turned_away: the share of those who were refused what they wanted and then look for something else.
    """

    seen: dict[tuple[int, ...], tuple[int, int]]
    of_value: Floats
    telling: int
    turned_away: float

    def refused(self, offered: Ints) -> Bools:
        """(m,) whether a search for these values (m, n_concepts) finds nothing; equal ones are alike."""
        if not self.of_value[-1]:
            return np.zeros(len(offered), dtype=bool)
        queries, inverse = np.unique(offered, axis=0, return_inverse=True)
        expected = self.of_value[queries[:, self.telling]]
        share = np.empty(len(queries))
        for row, query in enumerate(queries.tolist()):
            fails, total = self.seen.get(tuple(query), (0, 0))
            share[row] = (fails + SHRINKAGE * expected[row]) / (total + SHRINKAGE)
        key = np.zeros(len(queries), dtype=np.int64)
        for column in queries.T:
            key = key * np.int64(1_000_003) + column + 2
        draw = Chance.of(1, "database").uniform_at("search", 0, key[None])[0]
        return np.asarray((draw < share)[inverse.ravel()])


def fit_refusals(logs: Logs) -> Refusals:
    """From all turns that presented a result, or said that there is none."""
    system = logs.turns.system
    domain = logs.corpora[-1].domain
    presents = np.isin(system.predicate, [domain.predicate_names.index(name) for name in domain.offer])
    shown = np.flatnonzero(presents & (system.offers | system.refuses))
    fails, offered = system.refuses[shown], system.offered[shown]
    seen: dict[tuple[int, ...], tuple[int, int]] = {}
    for query, failed in zip(offered.tolist(), fails.tolist(), strict=True):
        count = seen.get(tuple(query), (0, 0))
        seen[tuple(query)] = (count[0] + failed, count[1] + 1)
    overall = float(fails.mean()) if len(shown) else 0.0
    of_value = np.full(len(logs.values) + 1, overall)
    spread = np.zeros(offered.shape[1])
    for concept in range(offered.shape[1]):
        named = offered[:, concept] != NOTHING
        number = offered[named, concept]
        counts = np.bincount(number, minlength=len(logs.values))
        failed = np.bincount(number, fails[named], minlength=len(logs.values))
        rate = (failed + SHRINKAGE * overall) / (counts + SHRINKAGE)
        of_value[:-1] = np.where(counts > 0, rate, of_value[:-1])
        spread[concept] = np.sum(counts * (rate - overall) ** 2)
    claim = logs.turns.context[:, FEATURES.index("claim")]
    n_turning, n_staying = (claim == TURNS_AWAY).sum(), (claim == REFUSED).sum()
    turned_away = float(n_turning / max(n_turning + n_staying, 1))
    return Refusals(seen, of_value, int(spread.argmax()) if len(spread) else 0, turned_away)
