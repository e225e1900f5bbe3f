"""The protocols of learners and of the policies they return; such a policy in live play.

A learner is a frozen config that turns transitions and a behaviour model into a policy of states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from extrinsic.arrays import Bools, Floats
from extrinsic.errors import UsageError
from extrinsic.policy.behaviour import Behaviour
from extrinsic.policy.features import Features, States, find_features
from extrinsic.policy.observations import observations_of_view
from extrinsic.policy.transitions import Transitions
from extrinsic.simulation.world import Moment


class StatePolicy(Protocol):
    """A policy that decides based on states."""

    def probabilities(self, states: States, possible: Bools | None = None) -> Floats:
        """(n, n_actions), each row summing to 1; possible (n, n_actions): the actions that may be chosen."""
        ...


class LearnedPolicy(StatePolicy, Protocol):
    """A policy that reports diagnostics of its learning."""

    @property
    def diagnostics(self) -> Mapping[str, float]:
        """Numbers by name; 1 and 0 for yes and no. `lowest_q` and `highest_q` if there is a Q function."""
        ...


class Learner(Protocol):
    """A method to learn a policy: a frozen config, by its name in the registry LEARNERS.

    Its fields are the keys of the table `[policy.<name>]` of a study.
    """

    def fit(self, transitions: Transitions, behaviour: Behaviour) -> LearnedPolicy:
        """Learn from logged transitions; the policy may choose only what the behaviour's filter admits."""
        ...


def require_choice(transitions: Transitions) -> None:
    """Raise UsageError if all logged decisions are the same."""
    if len(np.unique(transitions.action)) < 2:
        only = transitions.actions[transitions.action[0]] if len(transitions) else "nothing"
        raise UsageError(
            "there is nothing to choose: every decision of these transitions is the same",
            expected="at least two different actions",
            found=f"only {only!r}",
        )


def policy_of(q: Floats, chances: Floats, admitted: Bools, temperature: float = 0.0) -> Floats:
    """(n, n_actions) 1 for the admitted action with the highest Q, among equals the likeliest; or, with a
    temperature, ~ exp(Q / temperature).

    q (n, n_actions): -inf where an action is not admitted.
    """
    top = q.max(axis=1, keepdims=True)
    if temperature == 0.0:
        near = admitted & (q >= top - 1e-9 * np.maximum(1.0, np.abs(top)))
        best = np.where(near, chances, -1.0).argmax(axis=1)
        return np.asarray(np.arange(q.shape[1]) == best[:, None], dtype=np.float64)
    weight = np.where(admitted, np.exp((q - top) / temperature), 0.0)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class LivePolicy:
    """Adapts a policy of states to live play: converts each moment to a state."""

    features: Features | str | Sequence[str]
    policy: StatePolicy

    def probabilities(self, moment: Moment) -> Floats:
        return self.policy.probabilities(self.states(moment), moment.allowed)

    def states(self, moment: Moment) -> States:
        return find_features(self.features)(observations_of_view(moment))
