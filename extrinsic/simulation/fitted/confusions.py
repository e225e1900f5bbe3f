"""What values are taken for: how many wrong ones there are for a caller's value, and how they persist."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.fitted.logged_dialogs import Logs
from extrinsic.simulation.fitted.logged_values import LoggedValues
from extrinsic.simulation.utterance import NOTHING

POOLS = (2, 3, 4, 5, 7, 8, 10, 12, 15, 20, 30, 45)
"""The sizes of pools that are tried."""


@dataclass(frozen=True)
class Confusions:
    """pool: how many wrong values a value of a caller is taken for.   usual: the share of lists in which each
    of them stands where it usually does. Together they decide how often a wrong value comes back.
    longest: the places of the longest list; those beyond the pool hold values of their own."""

    pool: int
    longest: int
    usual: float
    comes_back: float
    stays_first: float


def moved(place: Ints, shift: Ints | int, pool: int) -> Ints:
    """Which wrong value stands at a place of a list whose wrong values are moved by `shift` places.

    In a list that is longer than the pool, no value stands twice.
    """
    return np.where(place < pool, (place + shift) % pool, place)


def fit_confusions(logs: Logs) -> Confusions:
    """The pool with which as many wrong values come back, and the best one is the same again, as logged."""
    lists, stays, comes = _wrong_lists(logs)
    stays_first = stays[0] / max(stays[1], 1)
    comes_back = comes[0] / max(comes[1], 1)
    longest = 1 + max((max(places) for of_dialog in lists for places in of_dialog), default=0)
    if not comes[1]:
        return Confusions(POOLS[-1], longest, 0.0, 0.0, 0.0)
    gaps = {}
    for pool in POOLS:
        usual = _usual(stays_first, pool)
        gaps[pool] = abs(_coming_back(lists, pool, usual) - comes_back)
    pool = min(gaps, key=lambda size: gaps[size])
    return Confusions(pool, max(longest, pool), _usual(stays_first, pool), comes_back, stays_first)


def _usual(stays_first: float, pool: int) -> float:
    """Two lists have the same first wrong value if both are as usual, or by chance: u^2 + (1 - u^2) / n."""
    return float(np.sqrt(max(stays_first - 1.0 / pool, 0.0) / (1.0 - 1.0 / pool)))


def _wrong_lists(logs: Logs) -> tuple[list[list[list[int]]], tuple[int, int], tuple[int, int]]:
    """Per dialog and concept the places of wrong values, list after list; then counts (again, all) of first
    wrong values that are the same as before, and of wrong values that stood in an earlier list."""
    places: dict[tuple[int, int], dict[int, dict[int, int]]] = {}
    for log, begin in zip(logs.corpora, logs.first, strict=False):
        evidence = log.evidence
        item = np.repeat(np.arange(len(evidence.offsets) - 1), np.diff(evidence.offsets))
        turn, slot = item // evidence.n_slots, item % evidence.n_slots
        # A yes to a wrong value brings it back by itself: only what was said counts.
        said = (evidence.rank >= 0) & (evidence.informed > evidence.affirmed)
        wrong = said & ~log.truth.is_correct(turn, slot, evidence.value)
        turn, slot, rank = turn[wrong], slot[wrong], evidence.rank[wrong]
        number = logs.values.number(slot, evidence.value[wrong])
        dialog = log.dialog_of_turn[turn] + begin
        concept = logs.values.concept_of_slot[slot]
        for key, at, value, place in zip(
            zip(dialog.tolist(), concept.tolist(), strict=True),
            turn.tolist(),
            number.tolist(),
            rank.tolist(),
            strict=True,
        ):
            places.setdefault(key, {}).setdefault(at, {}).setdefault(value, place)
    lists, stays, all_first, comes, all_later = [], 0, 0, 0, 0
    for by_turn in places.values():
        seen: set[int] = set()
        before = NOTHING
        for position, at in enumerate(sorted(by_turn)):
            of_list = by_turn[at]
            if position:
                comes, all_later = comes + sum(value in seen for value in of_list), all_later + len(of_list)
            seen |= set(of_list)
            best, place = min(of_list.items(), key=lambda entry: entry[1])
            if place == 0:
                if before != NOTHING:
                    stays, all_first = stays + (best == before), all_first + 1
                before = best
        if len(by_turn) > 1:
            lists.append([sorted(set(by_turn[at].values())) for at in sorted(by_turn)])
    return lists, (stays, all_first), (comes, all_later)


def _coming_back(lists: list[list[list[int]]], pool: int, usual: float) -> float:
    """The share of wrong values that stood in an earlier list, if they are drawn like this."""
    longest = max(map(len, lists))
    draws = Chance.of(len(lists), "confusions", pool).uniform("lists", 0, (longest, 2))
    comes = later = 0
    for of_dialog, draw in zip(lists, draws, strict=True):
        seen: set[int] = set()
        for position, places in enumerate(of_dialog):
            shift = 0 if draw[position, 0] < usual else int(draw[position, 1] * pool)
            values = set(moved(np.array(places), shift, pool).tolist())
            if position:
                comes, later = comes + len(values & seen), later + len(values)
            seen |= values
    return comes / max(later, 1)


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
