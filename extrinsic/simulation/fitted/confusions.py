"""What values are taken for: how many wrong ones there are for a caller's value, and how they persist."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.simulation.chance import Chance, TurnNumber
from extrinsic.simulation.fitted.logged_dialogs import Logs
from extrinsic.simulation.fitted.logged_values import LoggedValues
from extrinsic.simulation.utterance import NOTHING

POOLS = (2, 3, 4, 5, 7, 8, 10, 12, 15, 20, 30, 45, 60)
"""The sizes of pools that are tried."""

SKEWS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""How much likelier some wrong values are than others: 1, not at all."""

BY_SCORE = 0.9
"""How much it counts that values coincide by score: this is the evidence that trackers add up."""

N_DRAWN = 1_000
"""Lists that are drawn to find out where wrong values stand."""


@dataclass(frozen=True)
class Confusions:
    """pool: how many wrong values a value of a caller is taken for, the likeliest first; skew: how much
    likelier (`chances`).   usual: the share of lists in which each of them stands at its own place; in others
    they are drawn one after the other, by their chances. Together they decide how often a wrong value comes
    back.   longest: the places of the longest list; those beyond the pool hold values of their own.
    stays_first: how often the best value, if wrong twice in a row, is the same again.
    coincides, coincides_weighted: how often a wrong value of a list and one of the next are the same; and
    that with each counted by its score, as trackers that add up evidence do."""

    pool: int
    longest: int
    usual: float
    skew: float
    stays_first: float
    coincides: float
    coincides_weighted: float


def chances(pool: int, skew: float) -> Floats:
    """(pool,) how likely each wrong value is to come first, the likeliest first."""
    return np.diff((np.arange(pool + 1) / pool) ** (1.0 / skew))


def drawn_orders(pool: int, skew: float, draws: Floats) -> Ints:
    """(n, pool) the values at places 0, 1, ..., drawn one after the other by their chances, none twice.

    Each value comes after a waiting time, exponential with its chance as the rate.
    draws (n, pool): in [0, 1).
    """
    return np.argsort(np.log1p(-draws) / -chances(pool, skew), axis=1, kind="stable")


@dataclass(frozen=True, eq=False)
class ConfusedTurn:
    """What the values of m callers are taken for at one turn.

    wrong_values (m, n_concepts, 2, longest): see `wrong_values`.   chance: of the m callers.
    """

    confusions: Confusions
    wrong_values: Ints
    chance: Chance
    turn: TurnNumber

    def values(self, caller: Ints, concept: Ints, place: Ints, elsewhere: Ints) -> Ints:
        """(k,) the wrong values at places of the lists of callers; elsewhere (k,): 1 for another slot."""
        fitted, n_concepts = self.confusions, self.wrong_values.shape[1]
        lists, of_list = np.unique(caller * n_concepts + concept, return_inverse=True)
        rows, about = lists // n_concepts, (lists % n_concepts)[:, None]
        chance = self.chance.take(rows)
        turn = self.turn[rows] if isinstance(self.turn, np.ndarray) else self.turn
        draws = chance.uniform_at("confused", turn, about * fitted.pool + np.arange(fitted.pool))
        orders = drawn_orders(fitted.pool, fitted.skew, draws)
        is_usual = chance.uniform_at("usual", turn, about)[:, 0] < fitted.usual
        orders[is_usual] = np.arange(fitted.pool)
        within = orders[of_list, np.minimum(place, fitted.pool - 1)]
        which = np.where(place < fitted.pool, within, np.minimum(place, fitted.longest - 1))
        return np.asarray(self.wrong_values[caller, concept, elsewhere, which])


def fit_confusions(logs: Logs) -> Confusions:
    """The pool and skew with which wrong values of consecutive lists coincide as often as logged, whether
    counted by score or not; and the best one is the same again as often."""
    lists = WrongLists.of(logs)
    longest = lists.score.shape[1]
    stays_first, plain, weighted = lists.stays_first, lists.coinciding(False), lists.coinciding(True)
    if stays_first is None or not plain or not weighted:
        return Confusions(POOLS[-1], max(longest, POOLS[-1]), 0.0, 1.0, 0.0, 0.0, 0.0)
    beside = [lists.beside(by_score) for by_score in (False, True)]
    gaps = {}
    for pool in POOLS:
        for skew in SKEWS:
            usual = _usual(stays_first, pool, skew)
            same = _same_value(longest, pool, skew, usual)
            expected = [float(np.sum(pairs * same) / pairs.sum()) for pairs in beside]
            of_plain, of_weighted = expected[0] / plain - 1.0, expected[1] / weighted - 1.0
            gaps[pool, skew] = (1.0 - BY_SCORE) * of_plain**2 + BY_SCORE * of_weighted**2
    pool, skew = min(gaps, key=lambda choice: gaps[choice])
    usual = _usual(stays_first, pool, skew)
    return Confusions(pool, max(longest, pool), usual, skew, stays_first, plain, weighted)


def _usual(stays_first: float, pool: int, skew: float) -> float:
    """The share u of usual lists with which two lists have the same first wrong value as often as logged.

    If a value comes first with chance c_k in a list that is not as usual, two lists have the same first one
    with probability u^2 + 2 u (1 - u) c_0 + (1 - u)^2 sum c_k^2.
    """
    by = chances(pool, skew)
    by_chance, first = float(by @ by), float(by[0])
    square, linear = 1.0 - 2.0 * first + by_chance, 2.0 * (first - by_chance)
    over = max(stays_first - by_chance, 0.0)
    if square < 1e-9:
        return 0.0
    return float(np.clip((np.sqrt(linear**2 + 4.0 * square * over) - linear) / (2.0 * square), 0.0, 1.0))


@cache
def _places(pool: int, skew: float) -> Floats:
    """(pool, pool) the share of drawn lists in which each value (columns) stands at each place."""
    draws = Chance.of(N_DRAWN, "confusions").uniform("orders", 0, (pool,))
    orders = drawn_orders(pool, skew, draws)
    counts = np.zeros((pool, pool))
    np.add.at(counts, (np.arange(pool), orders), 1.0)
    return counts / N_DRAWN


def _same_value(longest: int, pool: int, skew: float, usual: float) -> Floats:
    """(longest, longest) the probability that the wrong values at two places of two lists are the same."""
    stands = (1.0 - usual) * _places(pool, skew) + usual * np.eye(pool)
    same = np.eye(longest)
    known = min(longest, pool)
    same[:known, :known] = (stands @ stands.T)[:known, :known]
    return same


@dataclass(frozen=True, eq=False)
class WrongLists:
    """The wrong values of the N-best lists of a concept, list after list of a dialog.

    value, place, weight, of_list (k,): the wrong values, the place at which each first stands, its score, and
    its list.   score (n, longest): the sum of scores at each place of the lists.
    before (n,): the list before each in the same dialog, NOTHING for the first.
    """

    value: Ints
    place: Ints
    weight: Floats
    of_list: Ints
    score: Floats
    before: Ints

    @staticmethod
    def of(logs: Logs) -> WrongLists:
        columns: list[tuple[np.ndarray, ...]] = []
        first_turn = 0
        for log, begin in zip(logs.corpora, logs.first, strict=False):
            evidence = log.evidence
            item = np.repeat(np.arange(len(evidence.offsets) - 1), np.diff(evidence.offsets))
            turn, slot = item // evidence.n_slots, item % evidence.n_slots
            # A yes to a wrong value brings it back by itself: only what was said counts.
            score = evidence.informed - evidence.affirmed
            wrong = (evidence.rank >= 0) & (score > 0.0)
            wrong &= ~log.truth.is_correct(turn, slot, evidence.value)
            turn, slot = turn[wrong], slot[wrong]
            dialog = log.dialog_of_turn[turn] + begin
            number = logs.values.number(slot, evidence.value[wrong])
            concept = logs.values.concept_of_slot[slot]
            columns.append((dialog, concept, turn + first_turn, number, evidence.rank[wrong], score[wrong]))
            first_turn += log.n_turns
        dialog, concept, turn, number, place, score = (
            np.concatenate(part) for part in zip(*columns, strict=True)
        )
        sequence = dialog * logs.values.n_concepts + concept
        order = np.lexsort((turn, sequence))
        sequence, turn = sequence[order], turn[order]
        begins = np.append(True, (np.diff(sequence) != 0) | (np.diff(turn) != 0))[: len(order)]
        of_list: Ints = np.cumsum(begins) - 1
        starts = np.flatnonzero(begins)
        same_dialog = np.append(False, np.diff(sequence[starts]) == 0)[: len(starts)]
        table = np.zeros((len(starts), int(place.max(initial=0)) + 1))
        np.add.at(table, (of_list, place[order]), score[order])
        before = np.where(same_dialog, np.arange(len(starts)) - 1, NOTHING)
        return WrongLists(number[order], place[order], score[order], of_list, table, before)

    def beside(self, by_score: bool) -> Floats:
        """(longest, longest) how often wrong values stand at a place of a list and at one of the next."""
        weight = self.score if by_score else (self.score > 0.0).astype(np.float64)
        later = np.flatnonzero(self.before != NOTHING)
        return np.asarray(weight[self.before[later]].T @ weight[later])

    def coinciding(self, by_score: bool) -> float:
        """The share of the pairs of wrong values of consecutive lists that are the same value."""
        pairs = float(self.beside(by_score).sum())
        n_values = int(self.value.max(initial=0)) + 1
        key = self.of_list * n_values + self.value
        distinct, where = np.unique(key, return_inverse=True)
        weight = np.bincount(where, self.weight if by_score else None).astype(np.float64)
        if not by_score:
            weight = np.minimum(weight, 1.0)
        before = self.before[distinct // n_values]
        sought = np.where(before == NOTHING, -1, before * n_values + distinct % n_values)
        position = np.minimum(np.searchsorted(distinct, sought), max(len(distinct) - 1, 0))
        again = distinct[position] == sought if len(distinct) else np.zeros(0, dtype=bool)
        return float(np.sum(weight[again] * weight[position[again]])) / pairs if pairs else 0.0

    @property
    def stays_first(self) -> float | None:
        """How often the best value of a list is the same as that of the one before, both being wrong."""
        best = np.full(len(self.score), NOTHING, dtype=np.int64)
        rows = np.flatnonzero(self.place == 0)
        best[self.of_list[rows]] = self.value[rows]
        previous = np.where(self.before == NOTHING, NOTHING, best[self.before])
        both = (best != NOTHING) & (previous != NOTHING)
        return float((best == previous)[both].mean()) if both.any() else None


def wrong_values(logs: Logs, goal: Ints, chance: Chance, width: int) -> Ints:
    """(n, n_concepts, 2, width) what the value of each caller is taken for: others of the same slot, and
    values of another one, as often as callers want something of it; or of the same where there is no other.

    goal (n, n_concepts): where a caller has none, any value of the concept stands for it.
    """
    values = logs.values
    table = np.full((*goal.shape, 2, width), NOTHING, dtype=np.int64)
    known = logs.callers.goal
    for concept in range(goal.shape[1]):
        of_concept = np.flatnonzero(values.concept == concept)
        if not len(of_concept):
            continue
        start = chance.uniform(f"confusions {concept}", 0)
        any_value = of_concept[(start * len(of_concept)).astype(np.int64)]
        base = np.where(goal[:, concept] == NOTHING, any_value, goal[:, concept])
        table[:, concept, 0] = _others(values, base, start, width)
        wanted = known[known[:, concept] != NOTHING, concept]
        table[:, concept, 1] = table[:, concept, 0]
        for slot in np.unique(values.slot[base]).tolist():
            elsewhere = wanted[values.slot[wanted] != slot]
            rows = np.flatnonzero(values.slot[base] == slot)
            if len(elsewhere):
                draw = chance.take(rows).uniform(f"elsewhere {concept}", 0)
                near = elsewhere[(draw * len(elsewhere)).astype(np.int64)]
                table[rows, concept, 1] = _others(values, near, draw, width)
    return table


def _others(values: LoggedValues, base: Ints, start: Floats, width: int) -> Ints:
    """(n, width) values of the slot of a value (n,), but that one; NOTHING where it has no other."""
    first = values.begin[values.slot[base]]
    size = values.begin[values.slot[base] + 1] - first
    step = (start * 1e6).astype(np.int64)[:, None] + np.arange(width)
    others = np.maximum(size - 1, 1)[:, None]
    numbers = first[:, None] + ((base - first)[:, None] + 1 + step % others) % size[:, None]
    return np.where(size[:, None] > 1, numbers, NOTHING)
