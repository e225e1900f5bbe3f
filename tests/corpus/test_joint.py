"""From single slots to all at once and back, against enumeration."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from extrinsic.arrays import offsets_from_lengths
from extrinsic.corpus.hypotheses import (
    DEPTH,
    SIZE,
    Beliefs,
    Hypotheses,
    JointHypotheses,
    confident_assignment,
    joint_correctness,
    joint_of_marginals,
    likeliest_assignments,
    marginals_of_joint,
    no_hypotheses,
    rank_dstc1,
    rank_dstc2,
)
from extrinsic.corpus.labels import TableTruth
from tests.contents import rows

Distribution = list[tuple[int, float]]
"""(value id, score); 0 is None."""

scores = st.sampled_from([0.0, 0.1, 0.25, 0.3, 1 / 3, 0.5]) | st.floats(0, 1)


def beliefs_of(items: list[Distribution]) -> Beliefs:
    flat = [pair for item in items for pair in item]
    return Beliefs(
        offsets_from_lengths([len(item) for item in items]),
        np.array([value for value, _ in flat], dtype=np.int32),
        np.array([score for _, score in flat], dtype=np.float64),
        np.zeros(len(flat), dtype=bool),
    )


def joint_of(turns: list[list[tuple[tuple[int, ...], float]]], n_slots: int) -> JointHypotheses:
    flat = [pair for turn in turns for pair in turn]
    return JointHypotheses(
        np.ones(len(turns), dtype=bool),
        offsets_from_lengths([len(turn) for turn in turns]),
        np.array([slots for slots, _ in flat], dtype=np.int32).reshape(len(flat), n_slots),
        np.array([score for _, score in flat], dtype=np.float64),
    )


def contents(joint: JointHypotheses) -> list[list[tuple[tuple[int, ...], float]]]:
    return rows(joint.offsets, [tuple(row) for row in joint.assignment.tolist()], joint.score)


@st.composite
def ranked_items(draw: st.DrawFn, n_items: int) -> Beliefs:
    """Beliefs as the rules make them of non-negative scores."""
    lists = draw(st.lists(st.lists(scores, max_size=4), min_size=n_items, max_size=n_items))
    flat = np.array([score for item in lists for score in item], dtype=np.float64)
    ranking = draw(st.sampled_from([rank_dstc1, rank_dstc2]))(
        offsets_from_lengths(list(map(len, lists))), flat
    )
    value = (ranking.source + 1).astype(np.int32)  # any ids will do, as long as None is 0
    return Beliefs(ranking.offsets, value, ranking.score, np.zeros(len(value), dtype=bool))


def enumerate_product(beliefs: Beliefs, n_slots: int) -> list[list[tuple[tuple[int, ...], float]]]:
    """Every combination of the slots' hypotheses but the one of Nones alone, best first."""
    items = rows(beliefs.offsets, beliefs.value, beliefs.score)
    turns = []
    for first in range(0, len(items), n_slots):
        found = [
            (tuple(value for value, _ in chosen), prod(score for _, score in chosen))
            for chosen in product(*items[first : first + n_slots])
        ]
        kept = [(slots, score) for slots, score in found if any(slots) and score > 0]
        turns.append(sorted(kept, key=lambda pair: -pair[1]))
    return turns


@given(st.integers(1, 3).flatmap(lambda n: st.tuples(st.just(n), ranked_items(2 * n))), st.integers(1, 8))
@example((2, beliefs_of([[(1, 0.75), (0, 0.25)], [(0, 0.5), (2, 0.5)]])), 8)
def test_the_product_is_the_whole_enumeration(drawn: tuple[int, Beliefs], most: int) -> None:
    """A cut one holds the best; the all-None assignment may take one of the places."""
    n_slots, beliefs = drawn
    whole, cut = (contents(joint_of_marginals(beliefs, n_slots, most=size)) for size in (10_000, most))
    for turn, some, expected in zip(whole, cut, enumerate_product(beliefs, n_slots), strict=True):
        best = [score for _, score in expected]
        assert [score for _, score in turn] == best
        assert sorted(turn) == sorted(expected)
        assert [score for _, score in some] in (best[:most], best[: most - 1])


def test_marginals_by_hand() -> None:
    """Summed per value, in the order of first mention; turns not flagged keep what was given."""
    joint = joint_of([[((1, 0), 0.25), ((2, 3), 0.125), ((1, 3), 0.5), ((0, 0), 0.1)], [((1, 1), 0.9)]], 2)
    given_items = Hypotheses(
        offsets_from_lengths([0, 0, 1, 0]), np.array([7], dtype=np.int32), np.array([0.375])
    )
    found = marginals_of_joint(joint, np.array([True, False]), given_items)
    assert rows(found.offsets, found.value, found.score) == [
        [(1, 0.75), (2, 0.125)],
        [(3, 0.625)],
        [(7, 0.375)],
        [],
    ]


assignments = st.tuples(st.integers(0, 2), st.integers(0, 2))


@given(st.lists(st.lists(st.tuples(assignments, scores), max_size=4), min_size=1, max_size=3))
def test_marginals_against_a_plain_sum(turns: list[list[tuple[tuple[int, ...], float]]]) -> None:
    everywhere = np.ones(len(turns), dtype=bool)
    found = marginals_of_joint(joint_of(turns, 2), everywhere, no_hypotheses(2 * len(turns)))
    expected = []
    for turn in turns:
        for slot in range(2):
            totals: dict[int, float] = {}
            for values, score in turn:
                if values[slot]:
                    totals[values[slot]] = totals.get(values[slot], 0.0) + score
            expected.append(list(totals.items()))
    assert rows(found.offsets, found.value, found.score) == expected


def test_joint_correctness_by_hand() -> None:
    """Turn 0: slot 0 is value 1, slot 1 unlabelled.   Turn 1: nothing is labelled."""
    truth = TableTruth(np.array([[1, 0], [0, 0]], dtype=np.int32))
    assignment = np.array([[1, 0], [1, 2], [0, 0], [0, 0], [0, 0], [0, 0]], dtype=np.int32)
    none = np.array([False, False, False, True, False, True])
    correct = joint_correctness(truth, np.array([0, 4, 6]), assignment, none)
    # A hypothesis without any slot is not None, and never right, also where None is.
    assert correct.tolist() == [True, False, False, False, False, True]


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
