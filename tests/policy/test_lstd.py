"""LSTD against closed forms: tables, plain dense algebra, repeated rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from extrinsic.arrays import Floats, Ints
from extrinsic.errors import UsageError
from extrinsic.policy import lstd
from extrinsic.policy.basis import Basis
from extrinsic.policy.kernels import Gaussian
from extrinsic.policy.lstd import Solution, System
from tests.policy.decisions import Episodes, episodes

WAYS = {"dense": 10_000, "by steps": 0}
"""Up to which size a system is solved dense."""

every_way = pytest.mark.parametrize("way", WAYS)

HEIGHT = 16.0
"""k(x, x) of delta kernels and a Gaussian between equal numbers, at the height of 4."""


def solve_lstd(phi: sparse.csr_array, following: sparse.csr_array, ridge: float, *problem: Any) -> Solution:
    """Of all columns in one block; problem: reward, ends, gamma, prior."""
    return System(phi, np.array([0, phi.shape[1]]), ridge).solve(following, *problem)


def one_hot(pair: Floats, n_pairs: int) -> sparse.csr_array:
    """Rows of the basis of a table; -1: nothing follows."""
    return sparse.csr_array(HEIGHT * (np.arange(n_pairs) == np.asarray(pair)[:, None]))


def solve_table(
    log: Episodes, policy: tuple[int, ...] | None, gamma: float, ridge: float, prior: float
) -> Floats:
    """Q (n_states, n_actions) of the actions taken, or of a policy."""
    transitions = log.transitions()
    after = transitions.next
    action = log.action[after] if policy is None else np.array(policy)[log.state[after]]
    following = np.where(after >= 0, log.state[after] * log.n_actions + action, -1)
    taken = log.state * log.n_actions + log.action
    phi, phi_next = one_hot(taken, log.n_pairs), one_hot(following, log.n_pairs)
    solution = solve_lstd(phi, phi_next, ridge, log.reward, after < 0, gamma, prior)
    return (prior + HEIGHT * solution.weights).reshape(log.n_states, log.n_actions)


@every_way
@pytest.mark.parametrize("deterministic", [True, False])
@pytest.mark.parametrize("gamma", [1.0, 0.9])
@settings(max_examples=15)
@given(data=st.data())
def test_a_table_has_its_closed_form(
    way: str, deterministic: bool, gamma: float, data: st.DataObject
) -> None:
    """Whatever the prior is: there are kernels for every pair."""
    log = data.draw(episodes(deterministic))
    prior = data.draw(st.floats(-1000, 1000))
    policies = st.tuples(*(st.integers(0, log.n_actions - 1) for _ in range(log.n_states)))
    policy = data.draw(st.none() | policies)
    expected = log.closed_form(gamma, policy)
    for ridge in (0.0, 1e-9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lstd, "DENSE_UP_TO", WAYS[way])
            found = solve_table(log, policy, gamma, ridge, prior)
        # The ridge pulls towards the prior; with none left, only rounding is.
        tolerance = 1e-9 if ridge == 0.0 else 1e-6
        assert np.abs(found - expected).max() <= tolerance * max(1.0, np.abs(expected).max(), abs(prior))


def test_a_chain_by_hand() -> None:
    """Two steps, -1 and then 10: Q is 10 and -1 + gamma 10."""
    phi = sparse.csr_array(np.eye(2))
    after = sparse.csr_array(np.array([[0.0, 1.0], [0.0, 0.0]]))
    ends = np.array([False, True])
    solution = solve_lstd(phi, after, 0.0, np.array([-1.0, 10.0]), ends, 0.9, 3.0)
    assert (solution.prior + solution.weights) == pytest.approx([8.0, 10.0], abs=1e-12)
    # Half of the way from the prior of 3 at the end: (1 + 1) w = 10 - 3.
    halfway = solve_lstd(phi, after, 1.0, np.array([-1.0, 10.0]), ends, 0.9, 3.0)
    assert halfway.weights[1] == pytest.approx(3.5, abs=1e-12)
    # 2 w0 - .9 w1 = -1 + .9 * 3 - 3
    assert halfway.weights[0] == pytest.approx((-1.3 + 0.9 * 3.5) / 2, abs=1e-12)


def dense_formula(
    phi: Floats, phi_next: Floats, reward: Floats, ends: Floats, gamma: float, ridge: float, prior: float
) -> Floats:
    system = phi.T @ (phi - gamma * phi_next) + ridge * np.eye(phi.shape[1])
    follows = [0.0 if end else gamma * prior for end in ends]
    return np.linalg.solve(system, phi.T @ (reward + np.array(follows) - prior))


Rows = tuple[Ints, sparse.csr_array, sparse.csr_array]
"""Where blocks begin; basis functions of points, and those of what follows."""


def any_rows(rng: np.random.Generator, n: int) -> Rows:
    """Numbers of no kernel, in one block."""
    m = int(rng.integers(1, 30))
    parts = (16.0 * rng.random((n, m)) * (rng.random((n, m)) < 0.3) for _ in range(2))
    return np.array([0, m]), *map(sparse.csr_array, parts)


def kernel_rows(rng: np.random.Generator, n: int) -> Rows:
    """Points in blocks; what follows is mostly of other blocks."""
    continuous, table = rng.random((n, 2)), rng.integers(0, 3, (n, 2))
    basis, _ = Basis.fit(continuous, table, Gaussian(4.0, 0.3), 1.0)
    block = basis.block_of(table)
    after = basis.rows(rng.random((n, 2)), rng.permutation(block))
    return basis.offsets, basis.rows(continuous, block), after


@pytest.mark.parametrize("rows", [any_rows, kernel_rows])
@pytest.mark.parametrize("gamma", [1.0, 0.9])
@pytest.mark.parametrize("ridge", [100.0, 1.0, 1e-3])
@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1), entries=st.sampled_from([7, lstd.ENTRIES]))
def test_sparse_is_dense_is_the_plain_formula(
    rows: Callable[..., Rows], gamma: float, ridge: float, seed: int, entries: int
) -> None:
    """Both ways give its weights, for one policy after the other, however many entries are multiplied at
    once."""
    rng = np.random.default_rng(seed)
    offsets, phi, first = rows(rng, 150)
    m, ends, reward = phi.shape[1], rng.random(150) < 0.3, rng.normal(0, 50, 150)
    gram = phi.toarray().T @ phi.toarray() + ridge * np.eye(m)
    condition, system = np.linalg.cond(gram, 2), System(phi, offsets, ridge)
    for following in (first, first[::-1]):
        phi_next = sparse.csr_array(following.multiply(~ends[:, None]))
        expected = dense_formula(phi.toarray(), phi_next.toarray(), reward, ends, gamma, ridge, 7.0)
        dense = gram - gamma * phi.toarray().T @ phi_next.toarray()
        tolerance = max(1e-9, 1e-14 * np.linalg.cond(dense)) * max(1.0, np.abs(expected).max())
        for way in WAYS.values():
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(lstd, "DENSE_UP_TO", way)
                patch.setattr(lstd, "ENTRIES", entries)
                found = system.solve(phi_next, reward, ends, gamma, 7.0)
                back = system.solve_transposed(phi_next, reward[:m], gamma)
            assert np.abs(found.weights - expected).max() <= tolerance
            assert found.prior == 7.0
            assert found.condition == pytest.approx(condition, rel=1e-6)
            rounding = 1e-15 * (np.abs(dense.T) @ np.abs(back)).max()
            assert np.abs(dense.T @ back - reward[:m]).max() <= 1e-7 + rounding


@every_way
def test_a_system_without_a_solution_is_told(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state that only leads to itself, gamma 1, no ridge: there is no Q."""
    monkeypatch.setattr(lstd, "DENSE_UP_TO", WAYS[way])
    phi = sparse.csr_array(np.eye(2))
    with pytest.raises(UsageError, match="ridge"):
        solve_lstd(phi, phi, 0.0, np.ones(2), np.zeros(2, dtype=bool), 1.0, 0.0)
