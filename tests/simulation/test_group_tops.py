"""The best value of each group, by hand."""

from __future__ import annotations

import numpy as np

from extrinsic.corpus.domain import load_domain
from extrinsic.simulation.group_tops import group_tops
from extrinsic.trackers.tracking import StepBelief

BUS = load_domain("bus")

DIALOGS: list[dict[str, dict[int, float]]] = [
    {"from.desc": {5: 0.2, 6: 0.3}, "from.monument": {7: 0.4}, "route": {8: 0.1}},
    {"to.neighborhood": {9: 0.5}, "time": {10: 0.25, 11: 0.25}},  # of equals the first
    {"from.monument": {7: 0.4}, "from.desc": {5: 0.4, 6: 0.4}, "route": {8: 0.0}},  # no score, no value
]
"""Slot -> value -> score, in places by order."""


def test_the_best_of_each_group() -> None:
    value = np.zeros((len(DIALOGS), len(BUS.slots), 4), dtype=np.int32)
    score = np.zeros(value.shape)
    for row, slots in enumerate(DIALOGS):
        for slot, values in slots.items():
            places = (row, BUS.slot_names.index(slot), slice(len(values)))
            value[places], score[places] = list(values), list(values.values())
    tops = group_tops(BUS, BUS.slot_names, StepBelief(value, score))
    assert [
        {
            group: (BUS.slot_names[tops.slot[row, column]], int(tops.value[row, column]))
            for column, group in enumerate(BUS.groups)
            if tops.value[row, column]
        }
        for row in range(3)
    ] == [
        {"from": ("from.monument", 7), "route": ("route", 8)},
        {"to": ("to.neighborhood", 9), "time": ("time", 10)},
        {"from": ("from.desc", 5)},
    ]
    assert tops.score[0].tolist() == [0.4, 0.0, 0.1, 0.0, 0.0]
    assert tops.score[1].sum() == 0.75
