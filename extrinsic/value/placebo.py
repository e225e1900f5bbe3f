"""Checks that learn again: whether a policy's gain vanishes where it must."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np

from extrinsic.policy.blocks import Blocks
from extrinsic.policy.learner import StatePolicy
from extrinsic.policy.transitions import Transitions
from extrinsic.value.estimator import Estimator
from extrinsic.value.evaluation_problem import EvaluationProblem

Learn = Callable[[Transitions], StatePolicy]
"""Learns a policy, including its behaviour model."""


@dataclass(frozen=True)
class Gain:
    """The estimated gain of a learned policy over the logged one, both by the same estimator."""

    policy: float
    behaviour: float

    @property
    def gain(self) -> float:
        return self.policy - self.behaviour


def gain_of(learn: Learn, train: Transitions, test: Transitions, estimator: Estimator) -> Gain:
    """Learn on one part, evaluate on the other."""
    return _gain(learn(train), test, estimator)


def placebo(
    learn: Learn, train: Transitions, tests: Sequence[Transitions], estimator: Estimator, seed: int = 0
) -> list[Gain]:
    """The gains with actions shuffled among decisions of the same discrete state, so that they cannot matter.

    Any gain then comes from the method, not from the policy. Learned once, evaluated on every test part; each
    is shuffled as if it were the only one.
    """
    rng = np.random.default_rng(seed)
    policy = learn(shuffled(train, rng))
    return [_gain(policy, shuffled(test, deepcopy(rng)), estimator) for test in tests]


def _gain(policy: StatePolicy, test: Transitions, estimator: Estimator) -> Gain:
    problem = EvaluationProblem(test, policy.probabilities(test.states, test.possible))
    return Gain(estimator.estimate(problem).mean, estimator.estimate(problem.behaviour(logged=True)).mean)


def shuffled(transitions: Transitions, rng: np.random.Generator) -> Transitions:
    """Actions permuted within each discrete state, together with what the log says of the choice."""
    _, block = Blocks.of(transitions.states.discrete)
    order = np.lexsort((rng.random(len(block)), block))
    source = np.empty_like(order)
    source[np.argsort(block, kind="stable")] = order
    possible = transitions.possible
    return replace(
        transitions,
        action=transitions.action[source],
        propensities=transitions.propensities[source],
        possible=None if possible is None else possible[source],
    )


def without_conditions(transitions: Transitions) -> Transitions:
    """The same decisions in states that do not reveal which system made them."""
    states = transitions.states
    kept = [number for number, name in enumerate(states.discrete_names) if not name.startswith("condition.")]
    names = tuple(states.discrete_names[number] for number in kept)
    return replace(
        transitions, states=replace(states, discrete=states.discrete[:, kept], discrete_names=names)
    )


def condition_gap(learn: Learn, train: Transitions, test: Transitions, estimator: Estimator) -> float:
    """How much a policy's estimated gain increases when its state hides which system made a call."""
    seen = gain_of(learn, train, test, estimator).gain
    blind = gain_of(learn, without_conditions(train), without_conditions(test), estimator).gain
    return blind - seen
