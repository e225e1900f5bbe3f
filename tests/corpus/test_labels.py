"""What is right at a turn: DSTC1's labels accumulate, DSTC2's stand as they are."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.corpus.labels import LabelEvents, TableTruth, covered

# One slot of two, values 1 and 2; turns 0-2 are one segment, turns 3-4 another (a restart at 3).
SEGMENT_END = np.array([3, 3, 3, 5, 5])


def events(*found: tuple[int, int, int, bool]) -> LabelEvents:
    columns = list(zip(*found, strict=True)) if found else [(), (), (), ()]
    turn, slot, value, correct = columns
    return LabelEvents(
        np.array(turn, dtype=np.int64),
        np.array(slot, dtype=np.int64),
        np.array(value, dtype=np.int32),
        np.array(correct, dtype=bool),
    )


@pytest.mark.parametrize(
    ("labels", "of_value", "of_none"),
    [
        (events(), [False] * 5, [True] * 5),
        # Once true, true until the restart; a false value may become true later.
        (events((1, 0, 1, True), (2, 0, 1, False)), [0, 1, 1, 0, 0], [1, 0, 0, 1, 1]),
        (events((0, 0, 1, False), (2, 0, 1, True)), [0, 0, 1, 0, 0], [1, 1, 0, 1, 1]),
    ],
)
def test_which_value_is_right(labels: LabelEvents, of_value: list[bool], of_none: list[bool]) -> None:
    """Value 1 and None of the first slot, at each of the five turns."""
    truth, turns, slots = labels.truth(SEGMENT_END, 2), np.arange(5), np.zeros(5, int)
    for value, expected in ((1, of_value), (0, of_none)):
        assert truth.is_correct(turns, slots, np.full(5, value, dtype=np.int32)).tolist() == expected


def test_labelled_counts_wrong_values_too() -> None:
    """Schedule 3 asks for a label of any kind, not for a right one."""
    labels = events((1, 0, 1, False))
    assert labels.labelled(SEGMENT_END, 2).tolist() == [
        [False, False],
        [True, False],
        [True, False],
        [False, False],
        [False, False],
    ]


def test_covered_by_overlapping_spans() -> None:
    slots, starts, ends = np.array([0, 0]), np.array([0, 1]), np.array([2, 3])
    assert covered(slots, starts, ends, 4, 1).ravel().tolist() == [True, True, True, False]


def test_a_table_has_one_right_value() -> None:
    truth = TableTruth(np.array([[5, 0]], dtype=np.int32))
    turn = np.zeros(3, dtype=np.int64)
    value = np.array([5, 5, 0], dtype=np.int32)
    assert truth.is_correct(turn, np.array([0, 1, 1]), value).tolist() == [True, False, True]


def test_events_of_chosen_turns() -> None:
    """In the order of the turns chosen; within a turn in that of the files, which need not be by turn."""
    labels = events((3, 0, 1, True), (0, 1, 2, False), (3, 1, 2, True), (1, 0, 1, False))
    taken = labels.take(np.array([3, 2, 0]))
    assert taken.turn.tolist() == [0, 0, 2]
    assert taken.slot.tolist() == [0, 1, 1]
    assert taken.correct.tolist() == [True, True, False]
    assert len(events().take(np.array([0, 1])).turn) == 0
