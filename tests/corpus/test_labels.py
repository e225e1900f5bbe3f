"""What is right at a turn: DSTC1's labels accumulate, DSTC2's stand as they are."""

from __future__ import annotations

import numpy as np

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


def right(labels: LabelEvents, slot: int, value: int) -> list[bool]:
    """Whether the value is right at each of the five turns."""
    turns = np.arange(5)
    truth = labels.truth(SEGMENT_END, 2)
    return truth.is_correct(turns, np.full(5, slot), np.full(5, value, dtype=np.int32)).tolist()


def test_without_labels_only_none_is_right() -> None:
    assert right(events(), 0, 0) == [True] * 5
    assert right(events(), 0, 1) == [False] * 5


def test_a_value_once_true_stays_true_until_the_restart() -> None:
    labels = events((1, 0, 1, True), (2, 0, 1, False))
    assert right(labels, 0, 1) == [False, True, True, False, False]
    assert right(labels, 0, 0) == [True, False, False, True, True]


def test_false_may_become_true_later() -> None:
    labels = events((0, 0, 1, False), (2, 0, 1, True))
    assert right(labels, 0, 1) == [False, False, True, False, False]
    assert right(labels, 0, 0) == [True, True, False, True, True]


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
