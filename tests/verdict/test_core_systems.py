"""How alike trackers are, and which of them stay, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extrinsic.verdict.core_systems import NOTHING, agreement, near_duplicates


def test_by_hand() -> None:
    """Four items. First and second: alike .9 and 0 of .3 (others believed), one alone believes: 0; the last
    counts for neither. Third believes nothing."""
    tops = [np.array([5, 7, 3, NOTHING]), np.array([5, 8, NOTHING, NOTHING]), np.full(4, NOTHING)]
    scores = [np.array([0.8, 0.6, 0.5, 0.0]), np.array([0.7, 0.9, 0.0, 0.0]), np.zeros(4)]
    alike = agreement(tops, scores)
    assert alike[0, 1] == pytest.approx(0.9 / 3)
    assert (alike[0, 2], alike[1, 2]) == (0.0, 0.0)
    assert (alike == alike.T).all()
    assert np.diagonal(alike).tolist() == [1.0, 1.0, 1.0]


def test_believing_nothing_together() -> None:
    tops, scores = [np.full(3, NOTHING)] * 2, [np.zeros(3)] * 2
    assert agreement(tops, scores).tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_who_stays() -> None:
    """1 goes with 0; 2 is near to 1 only, which is gone, and stays; 3 is near to 0 and nearer to 2."""
    alike = np.eye(4)
    for i, j, value in ((0, 1, 0.99), (1, 2, 0.99), (0, 2, 0.9), (0, 3, 0.96), (2, 3, 0.97)):
        alike[i, j] = alike[j, i] = value
    assert near_duplicates(alike, 0.95) == [None, 0, None, 2]
    assert near_duplicates(alike, 0.99) == [None, 0, None, None]
    assert near_duplicates(alike, 0.5) == [None, 0, 0, 0]


@given(st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=1, max_size=6))
def test_those_that_stay_are_apart(believed: list[list[int]]) -> None:
    tops = [np.array(row) for row in believed]
    alike = agreement(tops, [np.where(row > 0, 0.5, 0.0) for row in tops])
    assert ((alike >= 0.0) & (alike <= 1.0)).all()
    original = near_duplicates(alike, 0.6)
    stays = [i for i, of in enumerate(original) if of is None]
    assert all(alike[i, j] < 0.6 for i in stays for j in stays if i != j)
    assert all(
        of in stays and of < i and alike[i, of] >= 0.6 for i, of in enumerate(original) if of is not None
    )
