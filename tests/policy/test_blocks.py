"""Blocks against a plain dictionary of rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from extrinsic.arrays import Ints
from extrinsic.policy import blocks
from extrinsic.policy.blocks import UNKNOWN, Blocks

NUMBERS = st.integers(-2, 2) | st.sampled_from([2**63 - 1, -(2**63), 2**56 - 1, 255, 256, -256])


def tables(n_columns: int) -> st.SearchStrategy[Ints]:
    shape = st.tuples(st.integers(1, 12), st.just(n_columns))
    return shape.flatmap(lambda size: arrays.arrays(np.int64, size, elements=NUMBERS))


@settings(max_examples=100)
@given(st.data(), st.sampled_from([5, blocks.SORTED]))
def test_every_row_has_its_number(data: st.DataObject, n_sorted: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SORTED", n_sorted)
        _check_numbers(data)


def _check_numbers(data: st.DataObject) -> None:
    n_columns = data.draw(st.integers(0, 3))
    table, others = data.draw(tables(n_columns)), data.draw(tables(n_columns))
    signatures, number = Blocks.of(table)
    expected = sorted({tuple(row) for row in table.tolist()})
    assert [tuple(row) for row in signatures.rows.tolist()] == expected
    assert len(signatures) == len(expected)
    assert number.tolist() == [expected.index(tuple(row)) for row in table.tolist()]
    assert np.array_equal(signatures.rows[number], table)
    assert np.array_equal(signatures.find(table), number)
    known = {row: place for place, row in enumerate(expected)}
    assert signatures.find(others).tolist() == [known.get(tuple(row), UNKNOWN) for row in others.tolist()]


def test_slices_and_flags() -> None:
    """Tables that are no contiguous block of 64-bit numbers."""
    wide = np.arange(24).reshape(4, 6)
    signatures, number = Blocks.of(wide[::-1, ::2])
    assert number.tolist() == [3, 2, 1, 0]
    assert signatures.find(wide[:, ::2].astype(np.int32)).tolist() == [0, 1, 2, 3]
    flags, number = Blocks.of(np.array([[True, False], [False, True], [True, False]]))
    assert number.tolist() == [1, 0, 1]
    assert flags.find(np.array([[True, True]])).tolist() == [UNKNOWN]


def test_nothing_to_find() -> None:
    signatures, _ = Blocks.of(np.array([[1, 2]]))
    assert signatures.find(np.zeros((0, 2), dtype=np.int64)).tolist() == []
