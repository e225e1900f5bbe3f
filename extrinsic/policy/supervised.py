"""The supervised policy: imitate the system that made the corpus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats
from extrinsic.policy.behaviour import ActionModel
from extrinsic.policy.filter import admit
from extrinsic.policy.states import States


@dataclass(frozen=True)
class SupervisedPolicy:
    """P(a | s) as a policy: its likeliest action, or (`sampled`) a draw from it.

    The likeliest action tends to loop on confirmations; a draw does not. Two with one model are equal.
    """

    model: ActionModel
    sampled: bool = False
    threshold: float = 0.0

    def probabilities(self, states: States, possible: Bools | None = None) -> Floats:
        """(n, n_actions); only actions above the threshold are drawn, if there are any."""
        chances = self.model.probabilities(states)
        admitted = admit(chances, self.threshold if self.sampled else 0.0, possible)
        drawn = np.where(admitted, np.maximum(chances, 1e-12), 0.0)
        if not self.sampled:
            drawn = (np.arange(drawn.shape[1]) == drawn.argmax(axis=1)[:, None]).astype(np.float64)
        return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))
