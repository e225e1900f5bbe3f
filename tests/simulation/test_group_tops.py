"""The best value of each group, by hand."""

from __future__ import annotations

import numpy as np

from extrinsic.corpus.domain import load_domain
from extrinsic.simulation.group_tops import group_tops
from extrinsic.trackers.tracking import StepBelief

BUS = load_domain("bus")
GROUPS = list(BUS.groups)


def belief(*dialogs: dict[str, dict[int, float]]) -> StepBelief:
    """Per dialog: slot -> value -> score, in places by order."""
    value = np.zeros((len(dialogs), len(BUS.slots), 4), dtype=np.int32)
    score = np.zeros(value.shape)
    for row, slots in enumerate(dialogs):
        for slot, values in slots.items():
            for place, (identity, of) in enumerate(values.items()):
                column = BUS.slot_names.index(slot)
                value[row, column, place], score[row, column, place] = identity, of
    return StepBelief(value, score)


def test_the_best_of_each_group() -> None:
    tops = group_tops(
        BUS,
        BUS.slot_names,
        belief(
            {"from.desc": {5: 0.2, 6: 0.3}, "from.monument": {7: 0.4}, "route": {8: 0.1}},
            {"to.neighborhood": {9: 0.5}, "time": {10: 0.25, 11: 0.25}},
        ),
    )
    found = [
        {
            group: (
                BUS.slot_names[tops.slot[row, column]],
                int(tops.value[row, column]),
                tops.score[row, column],
            )
            for column, group in enumerate(GROUPS)
            if tops.value[row, column]
        }
        for row in (0, 1)
    ]
    assert found == [
        {"from": ("from.monument", 7, 0.4), "route": ("route", 8, 0.1)},
        {"to": ("to.neighborhood", 9, 0.5), "time": ("time", 10, 0.25)},
    ]
    assert tops.score[1].sum() == 0.75


def test_a_candidate_without_score_is_no_value() -> None:
    tops = group_tops(BUS, BUS.slot_names, belief({"route": {8: 0.0}}))
    assert not tops.value.any()
    assert not tops.score.any()


def test_of_equals_the_first() -> None:
    slots = {"from.monument": {7: 0.4}, "from.desc": {5: 0.4, 6: 0.4}}
    tops = group_tops(BUS, BUS.slot_names, belief(slots))
    assert tops.value[0, GROUPS.index("from")] == 5
