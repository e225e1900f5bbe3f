"""Imitation: the behaviour model itself as the policy, as a learner and as the supervised policies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from extrinsic.arrays import Bools, Floats
from extrinsic.policy.behaviour import ActionModel, Behaviour, admit
from extrinsic.policy.features import States
from extrinsic.policy.learner import require_choice
from extrinsic.policy.transitions import Transitions


@dataclass(frozen=True)
class Imitation:
    """The action that the logged system would most likely take; rewards are not looked at.

    sampled: draw it by the system's probabilities, among what the filter admits.
    """

    sampled: bool = False

    def fit(self, transitions: Transitions, behaviour: Behaviour) -> SupervisedPolicy:
        require_choice(transitions)
        behaviour.require_about(transitions)
        taken = behaviour.chances[np.arange(len(transitions)), transitions.action]
        diagnostics = {
            "agreement": float((behaviour.chances.argmax(axis=1) == transitions.action).mean()),
            "mean_chance": float(taken.mean()),
        }
        learned_from = transitions.states.no_states
        return SupervisedPolicy(behaviour.model, self.sampled, behaviour.threshold, learned_from, diagnostics)


@dataclass(frozen=True)
class SupervisedPolicy:
    """P(a | s) as a policy: its likeliest action, or (`sampled`) a draw from it.

    The likeliest action tends to loop on confirmations; a draw does not. Two with one model are equal.
    learned_from: an empty States with the columns used in training; None where any are taken.
    diagnostics: how often the log takes the likeliest action, and how likely what it takes is on average;
    both of dialogs that the model was not fitted to.
    """

    model: ActionModel
    sampled: bool = False
    threshold: float = 0.0
    learned_from: States | None = None
    diagnostics: Mapping[str, float] = field(default_factory=dict)

    def probabilities(self, states: States, possible: Bools | None = None) -> Floats:
        """(n, n_actions); only actions above the threshold are drawn, if there are any."""
        if self.learned_from is not None:
            states.require_like(self.learned_from)
        chances = self.model.probabilities(states)
        admitted = admit(chances, self.threshold if self.sampled else 0.0, possible)
        drawn = np.where(admitted, np.maximum(chances, 1e-12), 0.0)
        if not self.sampled:
            drawn = (np.arange(drawn.shape[1]) == drawn.argmax(axis=1)[:, None]).astype(np.float64)
        return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))
