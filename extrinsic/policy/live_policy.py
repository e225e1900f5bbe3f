"""Policies learned from a corpus, in live play."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from extrinsic.arrays import Floats
from extrinsic.policy.features import Features, find_features
from extrinsic.policy.learner import StatePolicy
from extrinsic.policy.observations import observations_of_view
from extrinsic.policy.states import States
from extrinsic.simulation.world import Moment


@dataclass(frozen=True)
class LivePolicy:
    """Adapts a policy of states to live play: converts each moment to a state."""

    features: Features | str | Sequence[str]
    policy: StatePolicy

    def probabilities(self, moment: Moment) -> Floats:
        return self.policy.probabilities(self.states(moment), moment.allowed)

    def states(self, moment: Moment) -> States:
        return find_features(self.features)(observations_of_view(moment))
