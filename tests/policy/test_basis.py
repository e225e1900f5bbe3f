"""Sparse rows of basis functions against the full kernel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extrinsic.policy import basis as basis_module
from extrinsic.policy.basis import Basis, with_action
from extrinsic.policy.blocks import UNKNOWN
from extrinsic.policy.kernels import Gaussian
from tests.oracles.kernels import Points, full_kernel
from tests.policy.decisions import states_of


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 40),
    n_columns=st.integers(0, 2),
    nu=st.sampled_from([0.01, 1.0, 8.0]),
    largest=st.none() | st.integers(1, 3),
)
def test_rows_are_the_full_kernel(seed: int, n: int, n_columns: int, nu: float, largest: int | None) -> None:
    """Between any points, of signatures seen and not, and those of the dictionary."""
    rng = np.random.default_rng(seed)

    def draw(size: int, kinds: int) -> Points:
        states = states_of(rng.normal(0, 1, (size, 2)), rng.integers(0, kinds, (size, n_columns)))
        return Points(states.continuous, with_action(states, rng.integers(0, kinds, size)))

    points, others = draw(n, 2), draw(15, 3)
    basis = Basis.fit(points.continuous, points.signs, Gaussian(4.0, 0.8), nu, largest)
    centers = points.take(basis.dictionary.rows)
    kinds = {tuple(row) for row in points.signs.tolist()}
    for at in (points, others):
        rows = basis.rows(at.continuous, basis.block_of(at.signs))
        backwards = np.arange(len(at))[::-1]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(basis_module, "ROWS", 7)
            again = basis.rows(at.continuous, basis.block_of(at.signs[backwards]), backwards)
        assert np.abs(again.toarray()[backwards] - rows.toarray()).max(initial=0.0) <= 1e-12
        assert rows.shape == (len(at), len(basis))
        assert np.abs(rows.toarray() - full_kernel(at, centers, 4.0, 0.8)).max(initial=0.0) <= 1e-9
        unseen = [tuple(row) not in kinds for row in at.signs.tolist()]
        assert ((basis.block_of(at.signs) == UNKNOWN) == unseen).all()
        assert np.array_equal(np.diff(rows.indptr)[unseen], np.zeros(sum(unseen)))


def test_by_hand() -> None:
    """Two kernels of one signature, one of another."""
    continuous = np.array([[0.0], [5.0], [0.0]])
    table = np.array([[0, 1], [0, 1], [1, 0]])
    basis = Basis.fit(continuous, table, Gaussian(2.0, 1.0), 1.0)
    at = np.array([[0.0], [1.0], [1.0]])
    block = basis.block_of(np.array([[0, 1], [1, 0], [1, 1]]))
    assert block.tolist() == [0, 1, UNKNOWN]
    near = 4.0 * np.exp([0.0, -12.5, -0.5])
    expected = [[near[0], near[1], 0.0], [0.0, 0.0, near[2]], [0.0, 0.0, 0.0]]
    assert basis.rows(at, block).toarray() == pytest.approx(np.array(expected))


def test_an_action_stands_behind_the_signs() -> None:
    states = states_of(np.zeros((2, 1)), np.array([[1, 2], [3, 4]]))
    assert with_action(states, np.array([7, 8])).tolist() == [[1, 2, 7], [3, 4, 8]]
