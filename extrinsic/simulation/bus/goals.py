"""What callers want: one value for each group of slots, or nothing."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Bools, Ints
from extrinsic.simulation.bus.bus_settings import GoalSettings
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.ontology import Values
from extrinsic.simulation.utterance import NOTHING


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
