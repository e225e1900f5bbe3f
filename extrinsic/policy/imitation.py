"""Imitation as a learner: the behaviour model itself is the policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats
from extrinsic.policy.behaviour import Behaviour
from extrinsic.policy.learner import require_choice
from extrinsic.policy.states import States
from extrinsic.policy.supervised import SupervisedPolicy
from extrinsic.policy.transitions import Transitions


@dataclass(frozen=True)
class Imitation:
    """The action that the logged system would most likely take; rewards are not looked at.

    sampled: draw it by the system's probabilities, among what the filter admits.
    """

    sampled: bool = False

    def fit(self, transitions: Transitions, behaviour: Behaviour) -> ImitatedPolicy:
        require_choice(transitions)
        behaviour.require_about(transitions)
        taken = behaviour.chances[np.arange(len(transitions)), transitions.action]
        diagnostics = {
            "agreement": float((behaviour.chances.argmax(axis=1) == transitions.action).mean()),
            "mean_chance": float(taken.mean()),
        }
        policy = SupervisedPolicy(behaviour.model, self.sampled, behaviour.threshold)
        no_states = transitions.states.take(np.zeros(0, dtype=np.int64))
        return ImitatedPolicy(policy, no_states, diagnostics)


@dataclass(frozen=True, eq=False)
class ImitatedPolicy:
    """A supervised policy; learned_from: an empty States with the columns used in training.

    diagnostics: how often the log takes the likeliest action, and how likely what it takes is on average;
    both of dialogs that the model was not fitted to.
    """

    policy: SupervisedPolicy
    learned_from: States
    diagnostics: Mapping[str, float]

    def probabilities(self, states: States, possible: Bools | None = None) -> Floats:
        states.require_like(self.learned_from)
        return self.policy.probabilities(states, possible)
