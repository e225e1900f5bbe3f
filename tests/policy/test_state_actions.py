"""Rows of state-action pairs, mixed by policies, against dense sums."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.policy.basis import Basis, with_action
from extrinsic.policy.kernels import Gaussian
from extrinsic.policy.state_actions import StateActions, rows_after
from extrinsic.policy.transitions import END
from tests.policy.decisions import states_of

N, N_ACTIONS = 30, 3


@pytest.mark.parametrize("greedy", [True, False])
def test_a_policy_mixes_the_rows_of_its_actions(greedy: bool) -> None:
    """Here, and in the states that follow; with one action in every state they are only looked up."""
    rng = np.random.default_rng(4)
    states = states_of(rng.normal(0, 1, (N, 2)), rng.integers(0, 2, (N, 1)))
    table = with_action(states, rng.integers(0, N_ACTIONS, N))
    basis = Basis.fit(states.continuous, table, Gaussian(4.0, 0.8), 1.0)
    admitted = rng.random((N, N_ACTIONS)) < 0.6
    admitted[np.arange(N), rng.integers(0, N_ACTIONS, N)] = True
    policy = admitted * rng.random((N, N_ACTIONS))
    if greedy:
        policy = np.eye(N_ACTIONS)[policy.argmax(axis=1)]
    policy = policy / policy.sum(axis=1, keepdims=True)
    following = np.where(np.arange(N) % 4 == 3, END, np.arange(N) + 1)
    following[-1] = END
    pairs = StateActions.of(basis, states, admitted)
    expected = np.zeros((N, len(basis)))
    for row, state, action in zip(pairs.rows.toarray(), pairs.state, pairs.action, strict=True):
        block = basis.block_of(with_action(states.take(np.array([state])), np.array([action])))
        assert row == pytest.approx(basis.rows(states.continuous[[state]], block).toarray()[0])
        expected[state] += policy[state, action] * row
    after = np.where((following == END)[:, None], 0.0, expected[following])
    assert pairs.mixed(policy).toarray() == pytest.approx(expected)
    assert pairs.mixed(policy, following).toarray() == pytest.approx(after)
    assert rows_after(pairs.mixed(policy), following).toarray() == pytest.approx(after)
