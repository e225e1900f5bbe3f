"""Ragged arrays, against plain loops over lists."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from extrinsic.arrays import (
    Columns,
    Floats,
    Ints,
    add_in_order,
    count_per_row,
    offsets_from_lengths,
    position_in_row,
    row_of_each,
    take_rows,
)

ragged = st.lists(st.lists(st.floats(-10, 10), max_size=4), max_size=6)


def flatten(rows: list[list[float]]) -> tuple[np.ndarray, np.ndarray]:
    flat = [value for row in rows for value in row]
    return offsets_from_lengths([len(row) for row in rows]), np.array(flat, dtype=np.float64)


def test_offsets_by_hand() -> None:
    offsets = offsets_from_lengths([2, 0, 3])
    assert offsets.tolist() == [0, 2, 2, 5]
    assert row_of_each(offsets).tolist() == [0, 0, 2, 2, 2]
    assert position_in_row(offsets).tolist() == [0, 1, 0, 1, 2]


def test_no_rows_at_all() -> None:
    offsets = offsets_from_lengths([])
    assert offsets.tolist() == [0]
    assert len(row_of_each(offsets)) == len(position_in_row(offsets)) == 0


@given(ragged, st.data())
def test_taking_rows_is_taking_rows(rows: list[list[float]], data: st.DataObject) -> None:
    """Also rows taken twice, in any order, and from the end."""
    offsets, flat = flatten(rows)
    chosen = data.draw(st.lists(st.integers(-len(rows), len(rows) - 1), max_size=6)) if rows else []
    new_offsets, elements = take_rows(offsets, np.array(chosen, dtype=np.int64))
    expected_offsets, expected = flatten([rows[i] for i in chosen])
    assert new_offsets.tolist() == expected_offsets.tolist()
    assert flat[elements].tolist() == expected.tolist()


@given(ragged)
def test_counts_per_row(rows: list[list[float]]) -> None:
    offsets, flat = flatten(rows)
    counts = count_per_row(flat > 0, offsets)
    assert counts.tolist() == [sum(value > 0 for value in row) for row in rows]


@given(ragged, st.sampled_from([(0.0, 1.0), (1.0, -1.0)]))
def test_sums_are_done_one_after_the_other(rows: list[list[float]], how: tuple[float, float]) -> None:
    """To the last bit: ties between scores hang on it."""
    start, sign = how
    expected = []
    for row in rows:
        total = start
        for value in row:
            total += sign * value
        expected.append(total)
    assert add_in_order(flatten(rows)[1], flatten(rows)[0], start, sign).tolist() == expected


def test_a_sum_whose_order_shows() -> None:
    values = np.array([0.1, 0.2, 0.3, 0.4])
    assert add_in_order(values, np.array([0, 3, 4])).tolist() == [(0.1 + 0.2) + 0.3, 0.4]
    assert 0.1 + (0.2 + 0.3) != (0.1 + 0.2) + 0.3


@dataclass(frozen=True, eq=False)
class Rows(Columns):
    """Of each row a name and a ragged list, whose elements have ragged lists of their own."""

    kind: str
    name: Ints
    offsets: Ints
    flat: Floats
    inner_offsets: Ints
    inner: Floats


def test_columns_are_taken_and_joined_by_their_fields() -> None:
    rows = Rows(
        "same",
        np.array([7, 8]),
        np.array([0, 2, 3]),
        np.array([0.5, 1.5, 2.5]),
        np.array([0, 1, 1, 3]),
        np.array([10.0, 20.0, 30.0]),
    )
    last = rows.take(np.array([1]))
    assert (last.kind, last.name.tolist(), last.offsets.tolist()) == ("same", [8], [0, 1])
    assert (last.flat.tolist(), last.inner_offsets.tolist(), last.inner.tolist()) == (
        [2.5],
        [0, 2],
        [20.0, 30.0],
    )
    again = Rows.joined([rows.take(np.array([True, False])), last])
    for name in ("name", "offsets", "flat", "inner_offsets", "inner"):
        assert getattr(again, name).tolist() == getattr(rows, name).tolist()
