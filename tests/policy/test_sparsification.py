"""Sparsification against its definition, one point at a time with the full kernel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from extrinsic.errors import UsageError
from extrinsic.policy.blocks import Blocks
from extrinsic.policy.kernels import Gaussian
from extrinsic.policy.sparsification import sparsify
from tests.oracles import sparsification as oracle
from tests.oracles.kernels import Points


def draw_points(draw: st.DataObject) -> Points:
    """Numbers in some clusters, points that come twice, up to four signatures and two actions."""
    rng = np.random.default_rng(draw.draw(st.integers(0, 2**32 - 1)))
    n, d = draw.draw(st.integers(1, 40)), draw.draw(st.integers(1, 5))
    continuous = rng.normal(0, draw.draw(st.sampled_from([0.1, 0.5, 2.0])), (n, d))
    continuous[rng.random(n) < 0.3] = continuous[0]
    discrete = rng.integers(0, draw.draw(st.integers(1, 2)), (n, 2))
    return Points(continuous, np.column_stack([discrete, rng.integers(0, 2, n)]))


@settings(max_examples=200)
@given(
    data=st.data(),
    share=st.sampled_from([1e-5, 0.001, 0.06, 0.5, 0.95, 0.999]),
    height=st.sampled_from([1.0, 4.0]),
    width=st.sampled_from([0.5, 1.0, 3.0]),
    largest=st.none() | st.integers(1, 6),
)
def test_the_dictionary_of_the_definition(
    data: st.DataObject, share: float, height: float, width: float, largest: int | None
) -> None:
    points = draw_points(data)
    nu = share * height**2
    expected = oracle.sparsify(points, height, width, nu, largest)
    # A delta right at the threshold may fall on either side by rounding.
    assume(all(abs(delta - nu) > 1e-8 * height**2 for delta in expected.deltas))
    signatures, block = Blocks.of(points.signs)
    found = sparsify(points.continuous, block, len(signatures), Gaussian(height, width), nu, largest)

    of_block = [found.rows[found.offsets[i] : found.offsets[i + 1]].tolist() for i in range(len(signatures))]
    assert of_block == [
        [i for i in expected.chosen if block[i] == number] for number in range(len(signatures))
    ]
    assert len(found) == len(expected.chosen)
    assert found.full.tolist() == sorted({int(block[i]) for i in expected.refused})
    assert np.abs(found.residual - np.maximum(expected.residual, 0.0)).max() <= 1e-7 * height**2
    assert (found.residual[found.rows] == 0.0).all()
    if not len(found.full):
        assert found.residual.max() <= nu


def test_by_hand() -> None:
    """On a line, k = exp(-d^2 / 2): 0 joins; .1 has delta 1 - exp(-.01) = .00995; 3 is far from both."""
    line = np.array([[0.0], [0.1], [3.0], [0.0]])
    near = 1.0 - np.exp(-0.01)
    found = sparsify(line, np.zeros(4, dtype=np.int64), 1, Gaussian(1.0, 1.0), nu=0.01)
    assert found.rows.tolist() == [0, 2]
    assert found.residual[1] == pytest.approx(near, abs=1e-4)  # 3 takes a little of it
    assert found.residual[[0, 2, 3]] == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    finer = sparsify(line, np.zeros(4, dtype=np.int64), 1, Gaussian(1.0, 1.0), nu=0.0099)
    assert finer.rows.tolist() == [0, 1, 2]


def test_the_order_of_points_decides() -> None:
    line = np.array([[0.0], [0.1]])
    zero = np.zeros(2, dtype=np.int64)
    assert sparsify(line, zero, 1, Gaussian(1.0, 1.0), 0.5).rows.tolist() == [0]
    assert sparsify(line, np.array([1, 0]), 2, Gaussian(1.0, 1.0), 0.5).rows.tolist() == [1, 0]


def test_a_block_without_points() -> None:
    found = sparsify(np.zeros((2, 1)), np.array([2, 0]), 4, Gaussian(), 1.0)
    assert found.offsets.tolist() == [0, 1, 1, 2, 2]
    assert found.rows.tolist() == [1, 0]


@pytest.mark.parametrize(("height", "nu"), [(4.0, 16.0), (4, 17), (1.0, 1.0), (0.5, 0.3)])
def test_a_threshold_that_nobody_passes(height: float, nu: float) -> None:
    with pytest.raises(UsageError, match=f"no point would become a kernel .* {height**2:g}, found {nu}"):
        sparsify(np.zeros((2, 1)), np.array([2, 0]), 4, Gaussian(height), nu)
    assert len(sparsify(np.zeros((1, 1)), np.zeros(1, dtype=np.int64), 1, Gaussian(height), 0.99 * height**2))


@pytest.mark.parametrize("largest", [0, -1])
def test_a_block_has_room_for_one(largest: int) -> None:
    with pytest.raises(UsageError, match=f"at least 1 .*found {largest}"):
        sparsify(np.zeros((1, 1)), np.zeros(1, dtype=np.int64), 1, Gaussian(), 1.0, largest)


def test_many_members_outgrow_the_first_room() -> None:
    far = np.arange(0.0, 1000.0, 10.0)[:, None]
    found = sparsify(far, np.zeros(100, dtype=np.int64), 1, Gaussian(), 1.0)
    assert found.rows.tolist() == list(range(100))


@pytest.mark.parametrize("nu", [0.0, -1.0, float("nan"), float("inf")])
def test_a_threshold_is_positive(nu: float) -> None:
    with pytest.raises(UsageError, match="nu must be positive"):
        sparsify(np.zeros((1, 1)), np.zeros(1, dtype=np.int64), 1, Gaussian(), nu)


def test_whole_numbers_are_numbers() -> None:
    """A height of 4 as a config may write it."""
    line = np.array([[0.0], [0.1], [3.0]])
    found, expected = (
        sparsify(line, np.zeros(3, dtype=np.int64), 1, Gaussian(height, width), nu)
        for height, width, nu in ((4, 1, 1), (4.0, 1.0, 1.0))
    )
    assert found.rows.tolist() == expected.rows.tolist() == [0, 2]
    assert np.array_equal(found.residual, expected.residual)
