"""What sets the learners apart: one step, pessimism, widths, imitation; each against its formula."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from extrinsic.errors import UsageError
from extrinsic.policy.ard_lspi import ArdLSPI
from extrinsic.policy.behaviour import Behaviour
from extrinsic.policy.imitation import Imitation
from extrinsic.policy.kernel_lspi import KernelLSPI
from extrinsic.policy.kernels import Gaussian
from extrinsic.policy.one_step import OneStep
from extrinsic.policy.pessimistic_lspi import PessimisticLSPI
from extrinsic.policy.states import States
from extrinsic.policy.transitions import Transitions
from tests.policy.decisions import decisions, drawn_decisions, states_of
from tests.policy.learning import act, behaviour_of, learn


class Uniform:
    """Every action is as likely as any other."""

    def probabilities(self, states: States) -> np.ndarray:
        return np.full((len(states), 2), 0.5)


def uniform(log: Transitions) -> Behaviour:
    return Behaviour(np.full((len(log), 2), 0.5), Uniform())


def one_state(rewards: list[list[float]]) -> Transitions:
    """Dialogs of one decision in one state; rewards: of each action, one for each dialog."""
    action = np.repeat(np.arange(len(rewards)), [len(earned) for earned in rewards])
    states = states_of(np.zeros((len(action), 1)), np.zeros((len(action), 1)))
    return decisions(states, action, np.concatenate(rewards), np.arange(len(action)), len(rewards))


def test_one_step_by_returns_is_the_mean_of_what_followed() -> None:
    """Without a ridge, in a table: the mean return-to-go of every (state, action)."""
    log = replace(drawn_decisions(60), propensities=np.full((300, 3), np.nan))
    log = replace(log, states=replace(log.states, continuous=np.zeros((300, 2))))
    learned = learn(log, learner=OneStep, evaluation="returns", ridge=1e-9)
    to_go = log.returns_to_go()
    for sign in np.unique(log.states.discrete, axis=0):
        for action in range(3):
            alike = (log.states.discrete == sign).all(axis=1) & (log.action == action)
            q = learned.q(log.states.take(np.flatnonzero(alike)[:1]), np.array([action]))
            assert q[0] == pytest.approx(to_go[alike].mean(), abs=1e-6)


def test_pessimism_of_0_is_lspi() -> None:
    log = drawn_decisions(40)
    usual, careful = learn(log), learn(log, learner=PessimisticLSPI, pessimism=0.0)
    assert np.array_equal(act(careful, log.states), act(usual, log.states))
    assert careful.q(log.states, log.action) == pytest.approx(usual.q(log.states, log.action))


def test_what_pessimism_subtracts() -> None:
    """pessimism sigma k / sqrt(n k^2 + ridge) for n decisions alike, which share one kernel k = height^2."""
    log = one_state([[10.0, 14.0, 12.0, 8.0], [11.0]])
    careful = PessimisticLSPI(pessimism=2.0, ridge=50.0).fit(log, uniform(log))
    usual = KernelLSPI(ridge=50.0).fit(log, uniform(log))
    states = log.states.take(np.array([0, 0]))
    actions = np.array([0, 1])
    # Dialogs of one decision: the temporal difference is the reward less Q.
    sigma = np.std(log.reward - usual.q(log.states, log.action))
    k, n = 16.0, np.array([4.0, 1.0])
    expected = usual.q(states, actions) - 2.0 * sigma * k / np.sqrt(n * k**2 + 50.0)
    assert careful.q(states, actions) == pytest.approx(expected)
    unseen = states_of(np.zeros((1, 1)), np.ones((1, 1)))
    assert careful.q(unseen, np.array([0]))[0] == pytest.approx(
        log.returns().mean() - 2.0 * sigma * k / np.sqrt(50.0)
    )


def test_luck_that_happened_once_is_not_believed() -> None:
    """One dialog earned 60 by another action; the 40 others 20 on average, with a large spread."""
    log = one_state([[0.0, 40.0] * 20, [60.0]])
    usual = KernelLSPI(ridge=1.0).fit(log, uniform(log))
    careful = PessimisticLSPI(ridge=1.0, pessimism=4.0).fit(log, uniform(log))
    assert (act(usual, log.states) == 1).all()
    assert (act(careful, log.states) == 0).all()


def test_pessimism_needs_a_ridge() -> None:
    with pytest.raises(UsageError, match="needs a ridge above 0"):
        PessimisticLSPI(ridge=0.0)


def test_a_column_of_noise_gets_a_wide_kernel() -> None:
    """The reward depends on the first column; the second is noise, and its width grows instead."""
    rng = np.random.default_rng(5)
    n = 400
    states = states_of(rng.normal(0, 2, (n, 2)), np.zeros((n, 1)))
    action = rng.integers(0, 2, n)
    reward = 50.0 * np.sin(2.0 * states.continuous[:, 0]) * np.where(action == 0, 1.0, -1.0)
    log = decisions(states, action, reward, np.arange(n), 2)
    learned = ArdLSPI(width=1.0, nu=0.1, ridge=1.0).fit(log, uniform(log))
    first, second = learned.basis.kernel.scales or (0.0, 0.0)
    assert first == 1.0 < second
    assert learned.basis.kernel.width == 1.0


def test_scales_are_widths_of_columns() -> None:
    rng = np.random.default_rng(1)
    points, others = rng.normal(size=(7, 2)), rng.normal(size=(5, 2))
    scales = np.array([0.5, 4.0])
    scaled = Gaussian(4.0, 2.0, (0.5, 4.0)).between(points, others)
    assert scaled == pytest.approx(Gaussian(4.0, 2.0).between(points / scales, others / scales))


def test_few_dialogs_keep_the_width_they_are_given() -> None:
    log = one_state([[1.0], [2.0]]).take_dialogs(np.array([0, 1]))
    both = replace(log, dialog=np.zeros(2, dtype=np.int64), sessions=("only",), next=np.array([1, -1]))
    assert ArdLSPI().kernel(both).scales is None


@pytest.mark.parametrize("sampled", [False, True])
def test_imitation_does_what_the_log_does(sampled: bool) -> None:
    log = drawn_decisions(60)
    behaviour = behaviour_of(log, threshold=0.2)
    learned = Imitation(sampled).fit(log, behaviour)
    chances, admitted = behaviour.choices(log.states)
    drawn = np.where(admitted, chances, 0.0)
    expected = drawn / drawn.sum(axis=1, keepdims=True) if sampled else np.eye(3)[chances.argmax(axis=1)]
    assert learned.probabilities(log.states) == pytest.approx(expected)
    agreement = (behaviour.chances.argmax(axis=1) == log.action).mean()
    assert learned.diagnostics["agreement"] == agreement > 0.4
