"""Which searches find nothing: what the log's database had to offer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.fitted.caller_states import FEATURES, REFUSED, TURNS_AWAY
from extrinsic.simulation.fitted.logged_dialogs import Logs
from extrinsic.simulation.fitted.system_turns import search_keys
from extrinsic.simulation.utterance import NOTHING

SHRINKAGE = 2.0
"""Searches with the usual result that are added to those for a value."""

LEAST_ALIKE = 0.1


@dataclass(frozen=True, eq=False)
class Refusals:
    """The share of searches that found nothing: of those for the very same values, and of those for a value.

    seen: per search (the values of all concepts) how many found nothing, and how many there were.
    of_value (2, n_values + 1): the share of searches for a value, those that were wrong for the caller and
    those that were right; the last entry is that of all. Callers look for what exists more often than what
    they are taken to look for.
    telling: the concept whose values decide most.
    usual: how many searches a share is worth beside those for the very same values: few if equal searches
    have equal results.
    turned_away: the share of those who were refused what they wanted and then look for something else.
    """

    seen: dict[tuple[int, ...], tuple[int, int]]
    of_value: Floats
    telling: int
    usual: float
    turned_away: float

    def refused(self, offered: Ints, right: Bools) -> Bools:
        """(m,) whether a search for these values (m, n_concepts) finds nothing.

        right (m,): whether the caller wants all of them; equal searches are alike.
        """
        if not self.of_value.any():
            return np.zeros(len(offered), dtype=bool)
        queries, inverse = np.unique(
            np.column_stack([offered, right.astype(np.int64)]), axis=0, return_inverse=True
        )
        expected = self.of_value[queries[:, -1], queries[:, self.telling]]
        counts = np.array([self.seen.get(tuple(query), (0, 0)) for query in queries[:, :-1].tolist()])
        share = (counts[:, 0] + self.usual * expected) / (counts[:, 1] + self.usual)
        draw = Chance.of(1, "database").uniform_at("search", 0, search_keys(queries[:, :-1])[None])[0]
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
    cares = ~logs.callers.indifferent[logs.turns.dialog[shown]]
    # What an offer left out, or what is of no matter, makes a search no wrong one.
    wrong = logs.turns.wrong[shown] & (offered != NOTHING) & cares
    kind: Ints = np.asarray(~wrong.any(axis=1), dtype=np.int64)
    overall = float(fails.mean()) if len(shown) else 0.0
    of_kind = (_sums(kind, 2, fails) + SHRINKAGE * overall) / (_sums(kind, 2) + SHRINKAGE)
    of_value = np.repeat(of_kind[:, None], len(logs.values) + 1, axis=1)
    spread = np.zeros(offered.shape[1])
    for concept in range(offered.shape[1]):
        named = np.flatnonzero(offered[:, concept] != NOTHING)
        cell = kind[named] * len(logs.values) + offered[named, concept]
        counts = _sums(cell, 2 * len(logs.values)).reshape(2, -1)
        failed = _sums(cell, 2 * len(logs.values), fails[named]).reshape(2, -1)
        rate = (failed + SHRINKAGE * of_kind[:, None]) / (counts + SHRINKAGE)
        of_value[:, :-1] = np.where(counts > 0, rate, of_value[:, :-1])
        spread[concept] = np.sum(counts * (rate - of_kind[:, None]) ** 2)
    claim = logs.turns.context[:, FEATURES.index("claim")]
    n_turning, n_staying = (claim == TURNS_AWAY).sum(), (claim == REFUSED).sum()
    turned_away = float(n_turning / max(n_turning + n_staying, 1))
    telling = int(spread.argmax()) if len(spread) else 0
    return Refusals(seen, of_value, telling, usual_weight(seen, overall), turned_away)


def _sums(cell: Ints, n_cells: int, weight: Bools | None = None) -> Floats:
    return np.bincount(cell, weight, minlength=n_cells).astype(np.float64)


def usual_weight(seen: dict[tuple[int, ...], tuple[int, int]], overall: float) -> float:
    """With the correlation c of the results of equal searches, n of them have the weight n against 1 / c - 1.

    Two equal searches differ with probability 2 p (1 - p) (1 - c).
    """
    pairs = sum(total * (total - 1) for _, total in seen.values())
    differ = sum(2 * fails * (total - fails) for fails, total in seen.values())
    if not pairs or not 0.0 < overall < 1.0:
        return SHRINKAGE
    alike = 1.0 - differ / pairs / (2.0 * overall * (1.0 - overall))
    return float(1.0 / np.clip(alike, LEAST_ALIKE, 1.0) - 1.0 + 1e-3)
