"""Sparsification as Lee words it: a point is removed when it depends on all that are left."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from extrinsic.errors import UsageError
from extrinsic.policy.behaviour import fit_behaviour
from extrinsic.policy.kernel_logistic import KernelLogistic
from extrinsic.policy.kernel_lspi import KernelLSPI
from extrinsic.policy.kernels import Gaussian
from extrinsic.policy.sparsification import sparsify
from tests.oracles.removal import remove
from tests.policy.decisions import drawn_decisions

UNIT = Gaussian(1.0, 1.0)


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 30),
    st.integers(1, 5),
    st.sampled_from([0.1, 0.5, 2.0]),
    st.sampled_from([0.06, 3 / 16, 0.5, 0.95]),
    st.sampled_from([1.0, 4.0]),
)
def test_the_points_of_the_definition(
    seed: int, n_points: int, d: int, spread: float, share: float, height: float
) -> None:
    """In two blocks; points that come twice among them."""
    rng = np.random.default_rng(seed)
    points = rng.normal(0, spread, (n_points, d))
    points[rng.random(n_points) < 0.3] = points[0]
    block, kernel, nu = rng.integers(0, 2, n_points), Gaussian(height, 1.0), share * height**2
    made = sparsify(points, block, 2, kernel, nu, method="removal")
    for number in range(2):
        members = np.flatnonzero(block == number)
        exact = remove(points[members], height, nu)
        # A delta right at the threshold may fall on either side by rounding.
        assume(all(abs(delta - nu) > 1e-9 * nu for delta in exact.deltas))
        chosen = made.rows[made.offsets[number] : made.offsets[number + 1]]
        assert chosen.tolist() == members[exact.remaining].tolist()
        assert made.residual[members] == pytest.approx(exact.residual, abs=1e-12 * height**2)


def test_by_hand() -> None:
    """On a line, k = exp(-d^2 / 2). Of 0, 0 and 3 the first 0 depends on the second. Of 0 and .1 the first
    goes, as 1 - exp(-.01) < .01 is what is left of it; growing keeps the first instead."""
    one_block = np.zeros(3, dtype=np.int64)
    twice = np.array([[0.0], [0.0], [3.0]])
    assert sparsify(twice, one_block, 1, UNIT, 0.01, method="removal").rows.tolist() == [1, 2]
    assert sparsify(twice, one_block, 1, UNIT, 0.01).rows.tolist() == [0, 2]
    near = np.array([[0.0], [0.1]])
    made = sparsify(near, one_block[:2], 1, UNIT, 0.01, method="removal")
    assert made.rows.tolist() == [1]
    assert made.residual == pytest.approx([1.0 - np.exp(-0.01), 0.0])


def test_what_was_removed_may_end_up_far_from_what_remains() -> None:
    """A long row of neighbours: each depends on the next when it goes, and the last one alone remains.
    Growing leaves nobody further than nu."""
    row = np.arange(0.0, 6.0, 0.1)[:, None]
    block, nu = np.zeros(len(row), dtype=np.int64), 0.2
    removed, grown = (sparsify(row, block, 1, UNIT, nu, method=method) for method in ("removal", "growing"))
    assert len(removed) < len(grown)
    assert removed.residual.max() > nu >= grown.residual.max()


def test_a_learner_takes_it() -> None:
    log = drawn_decisions(60)
    behaviour = fit_behaviour(KernelLogistic(), log)
    growing, removal = (
        KernelLSPI(width=0.5, sparsification=method).fit(log, behaviour) for method in ("growing", "removal")
    )
    assert removal.fit.kernels < growing.fit.kernels
    assert removal.probabilities(log.states).shape == (len(log), 3)


def test_a_largest_size_goes_with_growing() -> None:
    with pytest.raises(UsageError, match="'growing' only"):
        sparsify(np.zeros((2, 1)), np.zeros(2, dtype=np.int64), 1, UNIT, 0.5, 1, "removal")
    with pytest.raises(UsageError, match="'growing' only"):
        KernelLSPI(largest=3, sparsification="removal")
