"""The propensities of the log as a behaviour model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.errors import UsageError
from extrinsic.policy.behaviour import ActionModel
from extrinsic.policy.states import States
from extrinsic.policy.transitions import Transitions


@dataclass(frozen=True)
class LoggedPropensities:
    """P(a | s) as logged; known for the logged decisions only, so it cannot act in other states."""

    def fit(self, transitions: Transitions) -> ActionModel:
        return _Logged(transitions)

    def cross_fitted(self, transitions: Transitions) -> Floats:
        return _Logged(transitions).transitions.propensities


@dataclass(frozen=True, eq=False)
class _Logged:
    transitions: Transitions

    def __post_init__(self) -> None:
        missing = np.asarray(np.isnan(self.transitions.propensities).any(axis=1))
        if missing.any():
            row = int(np.flatnonzero(missing)[0])
            raise UsageError(
                f"{int(missing.sum()):,} of {len(missing):,} decisions have no logged propensities; "
                "choose behaviour 'logistic' or 'svm'",
                session=self.transitions.sessions[self.transitions.dialog[row]],
                turn=int(self.transitions.turn[row]),
            )

    def probabilities(self, states: States) -> Floats:
        if states is not self.transitions.states:
            raise UsageError(
                "logged propensities are known for the logged decisions only; "
                "to decide elsewhere, learn with behaviour 'logistic' or 'svm'"
            )
        return self.transitions.propensities
