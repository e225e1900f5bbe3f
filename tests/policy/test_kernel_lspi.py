"""The class that holds it all: parameters, copies, what it acts on and what it refuses."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from extrinsic.errors import UsageError
from extrinsic.policy.kernel_lspi import KernelLSPI
from tests.policy.decisions import drawn_decisions, known_chances, states_of


def test_q_is_held_against_the_feasible_range() -> None:
    log = drawn_decisions(60)
    assert KernelLSPI().fit(log).fit_.feasible is None
    assert KernelLSPI().fit(replace(log, feasible=(-1e3, 1e3))).fit_.feasible is True
    assert KernelLSPI().fit(replace(log, feasible=(-1e3, 1.0))).fit_.feasible is False
    assert KernelLSPI().fit(replace(log, feasible=(30.0, 1e3))).fit_.feasible is False


def test_probabilities_respect_what_is_possible() -> None:
    log = drawn_decisions(60)
    learned = KernelLSPI().fit(log)
    rng = np.random.default_rng(1)
    possible = rng.random((len(log), 3)) < 0.5
    possible[np.arange(len(log)), rng.integers(0, 3, len(log))] = True
    chances = learned.probabilities(log.states, possible)
    assert (np.sort(chances, axis=1) == [0.0, 0.0, 1.0]).all()
    assert not chances[~possible].any()
    free = learned.probabilities(log.states)
    assert np.array_equal(free.argmax(axis=1), learned.act(log.states))
    assert (free != chances).any()


def test_a_temperature_draws_among_what_is_admitted() -> None:
    """By exp(Q / temperature); the colder, the greedier."""
    log = drawn_decisions(60)
    warm, cold = (KernelLSPI(temperature=heat, threshold=0.2).fit(log) for heat in (3.0, 1e-3))
    found = warm.probabilities(log.states)
    admitted = warm.chances(log.states) > 0.2
    q = np.stack([warm.q(log.states, np.full(len(log), action)) for action in range(3)], axis=1)
    odds = np.where(admitted, np.exp((q - q.max(axis=1, keepdims=True)) / 3.0), 0.0)
    some = admitted.any(axis=1)
    assert found[some] == pytest.approx((odds / odds.sum(axis=1, keepdims=True))[some])
    assert found.sum(axis=1) == pytest.approx(np.ones(len(log)))
    assert cold.probabilities(log.states).max(axis=1).min() > 0.5
    greedy = KernelLSPI(threshold=0.2).fit(log).probabilities(log.states)
    assert (cold.probabilities(log.states).argmax(axis=1) == greedy.argmax(axis=1)).mean() > 0.98


def test_chances_given_are_used() -> None:
    """Only what they admit is compared."""
    log = drawn_decisions(60)
    chances = np.tile([0.5, 0.5, 0.0], (len(log), 1))
    learned = KernelLSPI().fit(log, chances)
    assert not learned.admitted_[:, 2].any()
    assert learned.admitted_[:, :2].all()


def test_logged_propensities() -> None:
    log = drawn_decisions(60)
    learned = KernelLSPI(behaviour="logged").fit(log)
    assert np.array_equal(learned.chances_, known_chances(log.states, 3))
    assert len(learned.act(log.states)) == len(log)
    with pytest.raises(UsageError, match="logged decisions only"):
        learned.act(log.states.take(np.arange(3)))


def test_parameters_and_clones() -> None:
    parameters = {
        "height": 2.0,
        "width": 1.5,
        "nu": 0.5,
        "ridge": 50.0,
        "gamma": 0.9,
        "prior": -3.0,
        "threshold": 0.05,
        "behaviour": "svm",
        "behaviour_width": 0.9,
        "improvement": "one_step",
        "iterations": 4,
        "largest": 7,
        "temperature": 2.0,
    }
    model = KernelLSPI(**parameters)
    assert model.get_params() == parameters
    log = drawn_decisions(40)
    copy = clone(model.fit(log))
    assert copy.get_params() == parameters
    assert not hasattr(copy, "solution_")
    assert model.set_params(ridge=3.0) is model
    assert model.ridge == 3.0
    assert copy.ridge == 50.0
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(rigde=3.0)


@pytest.mark.parametrize("behaviour", ["logistic", "svm"])
def test_a_stored_policy_acts_the_same(behaviour: str) -> None:
    log, other = drawn_decisions(40), drawn_decisions(40, seed=9)
    learned = KernelLSPI(behaviour=behaviour).fit(log)
    copy = pickle.loads(pickle.dumps(learned))
    assert np.array_equal(copy.act(other.states), learned.act(other.states))
    assert np.array_equal(copy.q(other.states, other.action), learned.q(other.states, other.action))
    assert copy.fit_ == learned.fit_


@pytest.mark.parametrize("behaviour", ["logistic", "svm"])
def test_twice_the_same(behaviour: str) -> None:
    log = drawn_decisions(40)
    first, again = (KernelLSPI(behaviour=behaviour).fit(log) for _ in range(2))
    assert first.solution_.weights.tobytes() == again.solution_.weights.tobytes()
    assert first.chances_.tobytes() == again.chances_.tobytes()
    assert first.fit_ == again.fit_


def test_states_of_other_features_are_refused() -> None:
    log = drawn_decisions(40)
    learned = KernelLSPI().fit(log)
    others = (
        states_of(np.zeros((2, 3)), np.zeros((2, 2))),
        states_of(np.zeros((2, 2)), np.zeros((2, 1))),
        replace(log.states, continuous_names=("x1", "x0")),
    )
    for states in others:
        for use in (
            lambda states: learned.q(states, np.zeros(len(states), dtype=int)),
            learned.act,
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
        ({"improvement": "one_stp"}, "did you mean 'one_step'"),
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
        KernelLSPI(**parameters).fit(drawn_decisions(20))


def test_one_action_only() -> None:
    log = drawn_decisions(20)
    same = replace(log, action=np.full(len(log), 2))
    with pytest.raises(UsageError, match="at least two different actions, found only 'act2'"):
        KernelLSPI().fit(same)


@pytest.mark.parametrize("shape", [(99, 3), (100, 2)])
def test_chances_of_another_shape_are_refused(shape: tuple[int, int]) -> None:
    with pytest.raises(UsageError, match="the probabilities of actions have the wrong shape"):
        KernelLSPI().fit(drawn_decisions(20), np.full(shape, 0.3))


def test_chances_that_are_no_numbers_are_refused() -> None:
    chances = drawn_decisions(20).propensities.copy()
    chances[3, 1] = np.nan
    with pytest.raises(UsageError, match="finite"):
        KernelLSPI().fit(drawn_decisions(20), chances)
