"""Checks that learn again: the placebo, and states with and without conditions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from extrinsic.policy.transitions import Transitions
from extrinsic.value.estimators import IS, LSTD, WIS
from extrinsic.value.placebo import Gain, condition_gap, gain_of, placebo, shuffled, without_conditions
from tests.policy.decisions import decisions, drawn_decisions, states_of
from tests.policy.learning import learn

TRAIN, TEST = drawn_decisions(150), drawn_decisions(150, seed=1)


def test_a_gain() -> None:
    assert Gain(policy=-3.0, behaviour=-10.0).gain == 7.0


def test_shuffled_actions() -> None:
    """In every discrete state as many of each as before, with their probabilities; all else as it was."""
    found = shuffled(TRAIN, np.random.default_rng(0))
    key = TRAIN.states.discrete @ [2, 1]
    for state in range(4):
        rows = key == state
        pairs = [
            sorted(zip(log.action[rows].tolist(), map(tuple, log.propensities[rows].tolist()), strict=True))
            for log in (TRAIN, found)
        ]
        assert pairs[0] == pairs[1]
    assert 0.2 < (found.action != TRAIN.action).mean() < 0.9
    assert found.reward is TRAIN.reward
    assert found.states is TRAIN.states
    again, other = (shuffled(TRAIN, np.random.default_rng(seed)).action for seed in (0, 1))
    assert np.array_equal(found.action, again)
    assert not np.array_equal(found.action, other)


def test_states_of_one_decision_stay() -> None:
    lonely = states_of(np.zeros((6, 1)), np.arange(6)[:, None])
    log = decisions(lonely, [0, 1, 2, 2, 1, 0], np.zeros(6), np.arange(6), 3)
    assert shuffled(log, np.random.default_rng(0)).action.tolist() == [0, 1, 2, 2, 1, 0]


def test_a_placebo_does_not_help() -> None:
    """One action earns 10, others cost 5, five times: much can be gained; once they are shuffled, nothing."""
    true, shuffled_gain = gain_of(learn, TRAIN, TEST, LSTD), placebo(learn, TRAIN, [TEST], LSTD)[0]
    assert true.gain > 20.0
    assert abs(shuffled_gain.gain) < 5.0
    assert true.behaviour == pytest.approx(TEST.returns().mean(), abs=1.0)
    assert placebo(learn, TRAIN, [TEST, TEST], LSTD) == [shuffled_gain, shuffled_gain]
    assert placebo(learn, TRAIN, [TEST], LSTD, seed=1)[0] != shuffled_gain


@pytest.mark.parametrize("estimator", [IS, WIS], ids=lambda estimator: estimator.name)
def test_the_behaviour_by_weights_is_what_was_observed(estimator: Any) -> None:
    found = gain_of(learn, TRAIN, TEST, estimator)
    assert found.behaviour == pytest.approx(TEST.returns().mean())


def two_systems(n_dialogs: int, named: str, seed: int = 0) -> Transitions:
    """One system has easy calls, at +10, and mostly takes action 1; the other hard ones, at -10, and mostly
    takes action 0. What is done does not matter."""
    rng = np.random.default_rng(seed)
    system = np.arange(n_dialogs) % 2
    action = np.where(rng.random(n_dialogs) < 0.8, system, 1 - system)
    states = replace(states_of(np.zeros((n_dialogs, 1)), system[:, None]), discrete_names=(named,))
    return decisions(
        states, action, 20.0 * system - 10.0 + rng.normal(size=n_dialogs), np.arange(n_dialogs), 2
    )


def test_without_conditions() -> None:
    log = two_systems(10, "condition.manager")
    found = without_conditions(log)
    assert found.states.discrete_names == ()
    assert found.states.discrete.shape == (10, 0)
    assert found.states.continuous is log.states.continuous
    same = without_conditions(TRAIN)
    assert np.array_equal(same.states.discrete, TRAIN.states.discrete)
    mixed = replace(TRAIN, states=replace(TRAIN.states, discrete_names=("condition.manager", "conditional")))
    kept = without_conditions(mixed).states
    assert kept.discrete_names == ("conditional",)
    assert np.array_equal(kept.discrete[:, 0], TRAIN.states.discrete[:, 1])


def test_switching_systems_is_no_gain() -> None:
    """Who does not know the system gains 6 by acting like the one with the easy calls; who does, nothing."""
    train, test = (two_systems(400, "condition.manager", seed) for seed in (0, 1))
    gap = condition_gap(learn, train, test, LSTD)
    assert gap == pytest.approx(6.0, abs=1.5)
    assert gain_of(learn, train, test, LSTD).gain == pytest.approx(0.0, abs=1.0)
    same = (two_systems(400, "sign", seed) for seed in (0, 1))
    assert condition_gap(learn, *same, LSTD) == 0.0
