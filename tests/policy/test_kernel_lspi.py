"""Kernel LSPI: its options, copies, what the policy acts on and what is refused."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, asdict, replace
from typing import Any

import numpy as np
import pytest

from extrinsic.errors import UsageError
from extrinsic.policy.kernel_lspi import KernelLSPI
from tests.policy.decisions import drawn_decisions, known_chances, states_of
from tests.policy.learning import act, behaviour_of, learn


def test_the_range_of_q_is_reported() -> None:
    """Over what is admitted in the training states, to be held against what a dialog can earn."""
    log = drawn_decisions(60)
    learned = learn(log, threshold=0.45)
    q = np.stack([learned.q(log.states, np.full(len(log), action)) for action in range(3)], axis=1)
    admitted = q[learned.behaviour.admitted]
    extremes = (learned.diagnostics["lowest_q"], learned.diagnostics["highest_q"])
    assert extremes == pytest.approx((admitted.min(), admitted.max()))
    assert admitted.min() > q.min() or admitted.max() < q.max()


def test_diagnostics_are_the_fit_as_numbers() -> None:
    learned = learn(drawn_decisions(60))
    assert learned.diagnostics == {name: float(value) for name, value in asdict(learned.fit).items()}
    assert {"kernels", "iterations", "converged", "cycle", "condition", "zero_kernel"} < set(
        learned.diagnostics
    )


def test_probabilities_respect_what_is_possible() -> None:
    log = drawn_decisions(60)
    learned = learn(log)
    rng = np.random.default_rng(1)
    possible = rng.random((len(log), 3)) < 0.5
    possible[np.arange(len(log)), rng.integers(0, 3, len(log))] = True
    chances = learned.probabilities(log.states, possible)
    assert (np.sort(chances, axis=1) == [0.0, 0.0, 1.0]).all()
    assert not chances[~possible].any()
    free = learned.probabilities(log.states)
    assert np.array_equal(free.argmax(axis=1), act(learned, log.states))
    assert (free != chances).any()


def test_a_temperature_draws_among_what_is_admitted() -> None:
    """By exp(Q / temperature); the colder, the greedier."""
    log = drawn_decisions(60)
    warm, cold = (learn(log, temperature=heat, threshold=0.2) for heat in (3.0, 1e-3))
    found = warm.probabilities(log.states)
    admitted = warm.behaviour.model.probabilities(log.states) > 0.2
    q = np.stack([warm.q(log.states, np.full(len(log), action)) for action in range(3)], axis=1)
    odds = np.where(admitted, np.exp((q - q.max(axis=1, keepdims=True)) / 3.0), 0.0)
    some = admitted.any(axis=1)
    assert found[some] == pytest.approx((odds / odds.sum(axis=1, keepdims=True))[some])
    assert found.sum(axis=1) == pytest.approx(np.ones(len(log)))
    assert cold.probabilities(log.states).max(axis=1).min() > 0.5
    greedy = learn(log, threshold=0.2).probabilities(log.states)
    assert (cold.probabilities(log.states).argmax(axis=1) == greedy.argmax(axis=1)).mean() > 0.98


def test_chances_given_are_used() -> None:
    """Only what they admit is compared."""
    log = drawn_decisions(60)
    chances = np.tile([0.5, 0.5, 0.0], (len(log), 1))
    behaviour = behaviour_of(log, chances=chances)
    assert not behaviour.admitted[:, 2].any()
    assert behaviour.admitted[:, :2].all()
    learned = KernelLSPI().fit(log, behaviour)
    assert learned.behaviour is behaviour
    q = np.stack([learned.q(log.states, np.full(len(log), action)) for action in range(2)], axis=1)
    assert learned.fit.lowest_q == pytest.approx(q.min())
    assert learned.fit.highest_q == pytest.approx(q.max())


def test_logged_propensities() -> None:
    log = drawn_decisions(60)
    learned = learn(log, behaviour="logged")
    assert np.array_equal(learned.behaviour.chances, known_chances(log.states, 3))
    assert len(act(learned, log.states)) == len(log)
    with pytest.raises(UsageError, match="logged decisions only"):
        act(learned, log.states.take(np.arange(3)))


def test_options_and_copies() -> None:
    """A config, which learning does not change."""
    options = {
        "height": 2.0,
        "width": 1.5,
        "nu": 0.5,
        "ridge": 50.0,
        "gamma": 0.9,
        "prior": -3.0,
        "iterations": 4,
        "largest": 7,
        "temperature": 2.0,
        "sparsification": "growing",
    }
    config = KernelLSPI(**options)  # type: ignore[arg-type]
    assert asdict(config) == options
    log = drawn_decisions(40)
    config.fit(log, behaviour_of(log))
    assert config == KernelLSPI(**options)  # type: ignore[arg-type]
    assert vars(config) == options
    assert replace(config, ridge=3.0).ridge == 3.0
    assert config.ridge == 50.0
    with pytest.raises(FrozenInstanceError):
        config.ridge = 3.0  # type: ignore[misc]
    with pytest.raises(TypeError, match="rigde"):
        replace(config, rigde=3.0)  # type: ignore[call-arg]


@pytest.mark.parametrize("behaviour", ["logistic", "svm"])
def test_a_stored_policy_acts_the_same(behaviour: str) -> None:
    log, other = drawn_decisions(40), drawn_decisions(40, seed=9)
    learned = learn(log, behaviour)
    copy = pickle.loads(pickle.dumps(learned))
    assert np.array_equal(act(copy, other.states), act(learned, other.states))
    assert np.array_equal(copy.q(other.states, other.action), learned.q(other.states, other.action))
    assert copy.fit == learned.fit


@pytest.mark.parametrize("behaviour", ["logistic", "svm"])
def test_twice_the_same(behaviour: str) -> None:
    log = drawn_decisions(40)
    first, again = (learn(log, behaviour) for _ in range(2))
    assert first.solution.weights.tobytes() == again.solution.weights.tobytes()
    assert first.behaviour.chances.tobytes() == again.behaviour.chances.tobytes()
    assert first.fit == again.fit


def test_states_of_other_features_are_refused() -> None:
    log = drawn_decisions(40)
    learned = learn(log)
    others = (
        states_of(np.zeros((2, 3)), np.zeros((2, 2))),
        states_of(np.zeros((2, 2)), np.zeros((2, 1))),
        replace(log.states, continuous_names=("x1", "x0")),
    )
    for states in others:
        for use in (
            lambda states: learned.q(states, np.zeros(len(states), dtype=int)),
            learned.probabilities,
            learned.zero_kernel_share,
        ):
            with pytest.raises(UsageError, match="other features"):
                use(states)


@pytest.mark.parametrize(
    ("parameters", "message"),
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
        ({"prior": "median"}, "prior"),
        ({"prior": float("nan")}, "prior"),
        ({"largest": 0}, "largest"),
        *[({"temperature": temperature}, "temperature") for temperature in (-1.0, np.nan, np.inf)],
    ],
    ids=str,
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        learn(drawn_decisions(20), **parameters)


def test_one_action_only() -> None:
    log = drawn_decisions(20)
    same = replace(log, action=np.full(len(log), 2))
    with pytest.raises(UsageError, match="at least two different actions, found only 'act2'"):
        learn(same)


@pytest.mark.parametrize("shape", [(99, 3), (100, 2)])
def test_chances_of_another_shape_are_refused(shape: tuple[int, int]) -> None:
    with pytest.raises(UsageError, match="the probabilities of actions have the wrong shape"):
        learn(drawn_decisions(20), chances=np.full(shape, 0.3))


def test_chances_that_are_no_numbers_are_refused() -> None:
    chances = drawn_decisions(20).propensities.copy()
    chances[3, 1] = np.nan
    with pytest.raises(UsageError, match="finite"):
        learn(drawn_decisions(20), chances=chances)
