"""Kernel LSPI with a behaviour model fitted to the same decisions, for tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.policy.behaviour import Behaviour, fit_behaviour
from extrinsic.policy.features import States
from extrinsic.policy.kernel_lspi import KernelLearner, KernelLSPI, KernelPolicy
from extrinsic.policy.learner import StatePolicy
from extrinsic.policy.transitions import Transitions
from extrinsic.registry import BEHAVIOURS


def behaviour_of(
    log: Transitions, behaviour: str = "logistic", threshold: float = 0.1, chances: Floats | None = None
) -> Behaviour:
    """The behaviour model of a name, fitted; chances: what it says of the log's own states, if given."""
    model = BEHAVIOURS.get(behaviour)()
    if chances is None:
        return fit_behaviour(model, log, threshold)
    return Behaviour(chances, model.fit(log), threshold)


def learn(
    log: Transitions,
    behaviour: str = "logistic",
    threshold: float = 0.1,
    chances: Floats | None = None,
    learner: type[KernelLearner] = KernelLSPI,
    **options: Any,
) -> KernelPolicy:
    return learner(**options).fit(log, behaviour_of(log, behaviour, threshold, chances))


def act(policy: StatePolicy, states: States) -> Ints:
    """(n,) the likeliest action of each state."""
    return np.asarray(policy.probabilities(states).argmax(axis=1))
