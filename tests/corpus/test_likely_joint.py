"""Joint lists from single slots, against enumeration."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extrinsic.arrays import offsets_from_lengths
from extrinsic.corpus.hypotheses import Hypotheses
from extrinsic.corpus.joint import DEPTH, SIZE, confident_assignment, likeliest_assignments

N_SLOTS = 3
SLOT = st.lists(st.floats(0.01, 1.0), max_size=DEPTH - 1)


def hypotheses(slots: list[list[float]]) -> Hypotheses:
    """Values 1, 2, ... of every slot."""
    values = [1 + i for slot in slots for i in range(len(slot))]
    return Hypotheses(
        offsets_from_lengths(list(map(len, slots))), np.array(values, np.int32), np.concatenate([[], *slots])
    )


@settings(max_examples=100)
@given(st.lists(SLOT, min_size=N_SLOTS, max_size=N_SLOTS))
def test_the_likeliest_assignments(raw: list[list[float]]) -> None:
    """The best of all products in order, scaled so that None has the product of the slots' None."""
    slots = [[score / (sum(slot) * 1.1) for score in slot] for slot in raw]
    with_none = [[(0, 1.0 - sum(slot)), *enumerate(slot, start=1)] for slot in slots]
    every = [
        (prod(score for _, score in chosen), tuple(value for value, _ in chosen))
        for chosen in product(*with_none)
        if any(value for value, _ in chosen)
    ]
    every.sort(reverse=True)
    joint = likeliest_assignments(hypotheses(slots), N_SLOTS)
    of_none = prod(values[0][1] for values in with_none)
    # None itself takes one of the places of the list where it is among the best.
    assert min(SIZE - 1, len(every)) <= len(joint.score) <= SIZE
    if not every:
        return
    assert joint.score.sum() == pytest.approx(1.0 - of_none)
    scale = joint.score[0] / every[0][0]
    assert joint.score == pytest.approx([score * scale for score, _ in every[: len(joint.score)]])
    scores = {values: score for score, values in every}
    for score, assignment in zip(joint.score, joint.assignment.tolist(), strict=True):
        assert scores[tuple(assignment)] * scale == pytest.approx(score)


def test_a_confident_assignment_is_scored_by_the_geometric_mean() -> None:
    joint = confident_assignment(
        hypotheses([[0.5], [], [0.98], [0.4], [], [], [0.81], [0.4], [1.0]]), N_SLOTS
    )
    assert joint.assignment.tolist() == [[1, 0, 1], [1, 0, 1]]
    assert joint.offsets.tolist() == [0, 1, 1, 2]
    assert joint.score == pytest.approx([0.7, 0.9])
