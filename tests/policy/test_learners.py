"""Learners: kernel LSPI and one step of it, by enumeration, ends and options; fitted Q and its forests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from extrinsic.errors import UsageError
from extrinsic.policy import lstd
from extrinsic.policy.basis import Basis, with_action
from extrinsic.policy.features import States
from extrinsic.policy.fitted_q import FittedQ, Forest
from extrinsic.policy.kernel_lspi import KernelLSPI, KernelPolicy, OneStep
from extrinsic.policy.kernels import Gaussian
from extrinsic.policy.learner import policy_of
from extrinsic.policy.lstd import Solution
from extrinsic.policy.transitions import Transitions
from tests.policy.decisions import (
    Episodes,
    act,
    behaviour_of,
    decisions,
    drawn_decisions,
    episodes,
    learn,
    states_of,
)

TABULAR: dict[str, Any] = {"ridge": 0.0, "threshold": 0.0}


def every_state(log: Episodes) -> States:
    return states_of(np.full((log.n_states, 1), 0.25), np.arange(log.n_states)[:, None])


def q_of(learned: KernelPolicy, states: States, n_actions: int) -> np.ndarray:
    """(n, n_actions)"""
    columns = [learned.q(states, np.full(len(states), action)) for action in range(n_actions)]
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("deterministic", [True, False])
@pytest.mark.parametrize("gamma", [1.0, 0.9])
@settings(max_examples=12)
@given(data=st.data())
def test_the_best_policy_by_enumeration(deterministic: bool, gamma: float, data: st.DataObject) -> None:
    """Of all policies there are, whatever the prior."""
    log = data.draw(episodes(deterministic))
    prior = data.draw(st.sampled_from(["mean", 0.0, 500.0, -500.0]))
    learned = learn(log.transitions(), chances=log.chances(), **TABULAR, gamma=gamma, prior=prior)
    best = log.best_by_enumeration(gamma)
    tolerance = 1e-9 * max(500.0, np.abs(best).max())
    assert np.abs(q_of(learned, every_state(log), log.n_actions) - best).max() <= tolerance
    chosen = act(learned, every_state(log))
    assert (chosen < log.n_actions).all()  # never what nobody tried
    value = best[np.arange(log.n_states), chosen]
    assert np.abs(value - best.max(axis=1)).max() <= 1e-8 * max(500.0, np.abs(best).max())
    assert learned.fit.converged
    assert learned.fit.cycle == 0
    assert learned.fit.kernels == log.n_pairs
    assert learned.fit.zero_kernel == 0.0
    extremes = (learned.fit.lowest_q, learned.fit.highest_q)
    assert extremes == pytest.approx((best.min(), best.max()), abs=1e-7 * np.abs(best).max())


@settings(max_examples=20)
@given(log=episodes(deterministic=False), gamma=st.sampled_from([1.0, 0.9]))
def test_one_step_improves_the_behaviour_policy(log: Episodes, gamma: float) -> None:
    """Q of what was done, then the best of it."""
    settings = {**TABULAR, "gamma": gamma, "evaluation": "lstd"}
    learned = learn(log.transitions(), chances=log.chances(), learner=OneStep, **settings)
    expected = log.closed_form(gamma)
    q = q_of(learned, every_state(log), log.n_actions)
    assert np.abs(q - expected).max() <= 1e-9 * max(100.0, np.abs(expected).max())
    value = expected[np.arange(log.n_states), act(learned, every_state(log))]
    assert np.abs(value - expected.max(axis=1)).max() <= 1e-8 * max(100.0, np.abs(expected).max())
    assert (learned.fit.iterations, learned.fit.converged, learned.fit.cycle) == (1, True, 0)


def test_the_filter_keeps_to_what_was_likely() -> None:
    """The best action was tried in one of ten cases: above a threshold of .05 it is chosen, of .2 not."""
    states = states_of(np.zeros((200, 1)), np.zeros((200, 1)))
    action = np.where(np.arange(200) % 10 == 0, 1, 0)
    log = decisions(states, action, 10.0 * action, np.arange(200), 2)
    for threshold, expected in ((0.05, 1), (0.2, 0)):
        learned = learn(log, threshold=threshold, ridge=1.0)
        assert set(act(learned, states)) == {expected}
        assert learned.q(states, np.ones(200, dtype=int))[0] == pytest.approx(10.0, abs=0.1)


class Script:
    """Answers to the question for Q: in turn, each policy prefers one given action."""

    def __init__(self, *preferred: int) -> None:
        self.preferred = list(preferred)
        self.asked: list[np.ndarray] = []

    def __call__(self, phi: Any, *others: Any) -> Script:
        self.phi = phi
        return self

    def solve(self, phi_next: Any, *others: Any) -> Solution:
        self.asked.append(phi_next.toarray())
        preferred = self.preferred[min(len(self.asked), len(self.preferred)) - 1]
        return Solution(np.where(np.arange(phi_next.shape[1]) == preferred, 1.0, 0.0), 0.0, 1.0)


@pytest.fixture
def three_actions() -> Transitions:
    """One state, two decisions a dialog; three kernels, one for each action in order."""
    states = states_of(np.zeros((60, 1)), np.zeros((60, 0)))
    return decisions(states, np.arange(60) % 3, np.zeros(60), np.arange(60) // 2, 3)


@pytest.mark.parametrize(
    ("script", "limit", "iterations", "converged", "cycle", "chosen"),
    [
        ((1,), 30, 2, True, 0, 1),
        ((0, 2, 2), 30, 3, True, 0, 2),
        ((0, 1, 0), 30, 3, False, 2, 0),
        ((0, 1, 2, 0), 30, 4, False, 3, 0),
        ((2, 0, 1, 0), 30, 4, False, 2, 0),
        ((0, 1, 2), 3, 3, False, 0, 2),
        ((0, 1, 2), 2, 2, False, 0, 1),
        ((0,), 1, 1, False, 0, 0),
    ],
)
def test_how_it_ends(
    script: tuple[int, ...],
    limit: int,
    iterations: int,
    converged: bool,
    cycle: int,
    chosen: int,
    three_actions: Transitions,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same policy twice, one that was there before, or no iterations left."""
    answers = Script(*script)
    monkeypatch.setattr(lstd, "System", answers)
    learned = learn(three_actions, iterations=limit)
    found = learned.fit
    assert (found.iterations, found.converged, found.cycle) == (iterations, converged, cycle)
    assert (act(learned, three_actions.states) == chosen).all()
    # Each policy is evaluated with its own next actions, the first one with those in the log.
    goes_on = three_actions.next >= 0
    first = np.eye(3)[three_actions.action[three_actions.next]] * goes_on[:, None]
    assert np.array_equal(answers.asked[0], 16.0 * first)
    for number, asked in enumerate(answers.asked[1:]):
        preferred = script[min(number, len(script) - 1)]
        assert np.array_equal(asked, 16.0 * np.eye(3)[[preferred] * 60] * goes_on[:, None])


def test_of_equals_the_likeliest() -> None:
    q = np.array([[1.0, 1.0, 0.0], [2.0, 2.0 + 1e-12, 5.0], [0.0, 1.0, 0.0]])
    chances = np.array([[0.3, 0.6, 0.1], [0.5, 0.4, 0.1], [0.8, 0.1, 0.1]])
    admitted = np.array([[True, True, True], [True, True, False], [True, True, True]])
    best = policy_of(np.where(admitted, q, -np.inf), chances, admitted)
    assert np.array_equal(best, np.eye(3)[[1, 0, 1]])


def test_where_no_kernel_speaks_q_is_the_prior() -> None:
    log = drawn_decisions(60)
    elsewhere = states_of(log.states.continuous[:5], np.full((5, 2), 99))
    for prior, expected in (("mean", log.returns().mean()), (-12.5, -12.5)):
        learned = learn(log, prior=prior)
        assert learned.q(elsewhere, np.zeros(5, dtype=int)) == pytest.approx([expected] * 5)
        assert learned.zero_kernel_share(elsewhere) == 1.0
        assert learned.zero_kernel_share(log.states) == learned.fit.zero_kernel == 0.0
        # The likeliest action then; of states never seen, the model knows the shares only.
        assert set(act(learned, elsewhere)) == set(
            learned.behaviour.model.probabilities(elsewhere).argmax(axis=1)
        )


def test_the_weights_are_lstds() -> None:
    """The last policy's Q by the plain formula, from the basis up."""
    log = drawn_decisions(80)
    learned = learn(log, width=1.0, nu=2.0, ridge=10.0, gamma=0.95, prior=3.0)
    assert learned.fit.converged
    basis, _ = Basis.fit(log.states.continuous, with_action(log.states, log.action), Gaussian(4.0, 1.0), 2.0)
    assert learned.fit.kernels == len(basis)
    best = best_of_training(learned, log)
    after = np.maximum(log.next, 0)
    following = basis.rows(
        log.states.continuous[after], basis.block_of(with_action(log.states.take(after), best[after]))
    ).multiply((log.next >= 0)[:, None])
    taken = basis.rows(log.states.continuous, basis.block_of(with_action(log.states, log.action)))
    phi = taken.toarray()
    system = phi.T @ (phi - 0.95 * following.toarray()) + 10.0 * np.eye(len(basis))
    expected = np.linalg.solve(system, phi.T @ (log.reward + 0.95 * 3.0 * ~log.ends - 3.0))
    assert np.abs(learned.solution.weights - expected).max() <= 1e-9


def best_of_training(learned: KernelPolicy, log: Transitions) -> np.ndarray:
    q, admitted = q_of(learned, log.states, 3), learned.behaviour.admitted
    best = policy_of(np.where(admitted, q, -np.inf), learned.behaviour.chances, admitted)
    return np.asarray(best.argmax(axis=1))


def test_a_temperature_draws_among_what_is_admitted() -> None:
    """By exp(Q / temperature); the colder, the greedier."""
    log = drawn_decisions(60)
    warm, cold = (learn(log, temperature=heat, threshold=0.2) for heat in (3.0, 1e-3))
    found = warm.probabilities(log.states)
    admitted = warm.behaviour.model.probabilities(log.states) > 0.2
    q = q_of(warm, log.states, 3)
    odds = np.where(admitted, np.exp((q - q.max(axis=1, keepdims=True)) / 3.0), 0.0)
    some = admitted.any(axis=1)
    assert found[some] == pytest.approx((odds / odds.sum(axis=1, keepdims=True))[some])
    assert found.sum(axis=1) == pytest.approx(np.ones(len(log)))
    assert cold.probabilities(log.states).max(axis=1).min() > 0.5
    greedy = learn(log, threshold=0.2).probabilities(log.states)
    assert (cold.probabilities(log.states).argmax(axis=1) == greedy.argmax(axis=1)).mean() > 0.98


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *[({"gamma": gamma}, "gamma") for gamma in (0.0, -0.1, 1.0001, float("nan"))],
        *[({"ridge": ridge}, "ridge") for ridge in (-1.0, float("nan"), float("inf"))],
        *[({"iterations": number}, "iteration") for number in (0, -1)],
        ({"behaviour": "logistics"}, "did you mean 'logistic'"),
        *[({"threshold": threshold}, "threshold") for threshold in (-0.1, 1.0, float("nan"))],
        *[({"nu": nu}, "nu must be positive") for nu in (0.0, -1.0)],
        ({"nu": 16.0}, "no point would become a kernel"),
        ({"height": 1.0}, "no point would become a kernel"),
        *[({"width": width}, "width") for width in (0.0, -1.0)],
        ({"height": 0.0}, "height"),
        *[({"prior": prior}, "prior") for prior in ("median", float("nan"))],
        ({"largest": 0}, "largest"),
        ({"largest": 3, "sparsification": "removal"}, "'growing' only"),
        *[({"temperature": temperature}, "temperature") for temperature in (-1.0, np.nan, np.inf)],
        ({"chances": np.where(np.arange(300).reshape(100, 3) == 7, np.nan, 0.3)}, "finite"),
    ],
    ids=str,
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        learn(drawn_decisions(20), **options)


@pytest.mark.parametrize("change", ["reward", "action"])
def test_kernels_are_made_once_for_all_rewards_and_for_nothing_else(change: str) -> None:
    """The policy is the one that is learned from nothing."""
    log = drawn_decisions(60)
    behaviour = behaviour_of(log)
    other = replace(log, **{change: getattr(log, change)[::-1].copy()})
    KernelLSPI().fit(log, behaviour)
    after = KernelLSPI().fit(other, behaviour)
    KernelLSPI(width=9.0).fit(log, behaviour)  # forgets the log's
    assert after.solution.weights.tobytes() == KernelLSPI().fit(other, behaviour).solution.weights.tobytes()


@pytest.mark.parametrize("kind", [ExtraTreesRegressor, RandomForestRegressor])
@pytest.mark.parametrize("smallest_leaf", [1, 7, 500])
def test_a_forest_bit_for_bit(kind: Any, smallest_leaf: int) -> None:
    rng = np.random.default_rng(2)
    inputs = np.concatenate([rng.normal(size=(300, 3)), rng.integers(0, 2, (300, 2))], axis=1)
    forest = kind(12, min_samples_leaf=smallest_leaf, random_state=0).fit(inputs, rng.normal(size=300) * 50)
    elsewhere = np.concatenate([inputs, rng.normal(size=(500, 5)) * 3])
    assert Forest.of(forest).predict(elsewhere).tobytes() == forest.predict(elsewhere).tobytes()
    assert Forest.of(forest).predict(elsewhere[:0]).shape == (0,)


def test_gamma_by_hand() -> None:
    """Two decisions, rewards 0 and 10, whatever is done: Q is 10 gamma, then 10."""
    number = np.arange(80)
    states = states_of(np.zeros((80, 1)), (number % 2)[:, None])
    log = decisions(states, number // 4 % 2, 10.0 * (number % 2), number // 2, 2)
    for gamma in (1.0, 0.5):
        found = FittedQ(smallest_leaf=1, gamma=gamma).fit(log, behaviour_of(log)).diagnostics
        assert (found["lowest_q"], found["highest_q"]) == pytest.approx((10.0 * gamma, 10.0))
