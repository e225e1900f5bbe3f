"""Policies at the table of live play, for tests."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.policy.features import Features, States
from extrinsic.policy.observations import observations_of_view
from extrinsic.simulation import Moment, Policy
from tests.simulation.worlds import PREDICATES


class Anything:
    """Anything that can be done, but for leaving, and beginning anew when asked to."""

    def probabilities(self, moment: Moment) -> Floats:
        can = moment.allowed.astype(float)
        can[:, PREDICATES.index("goodbye")] = 0.05
        can[moment.allowed[:, PREDICATES.index("restart")], PREDICATES.index("restart")] = 20.0
        return np.asarray(can / can.sum(axis=1, keepdims=True))


class Witness:
    """Writes down the states that a policy sees: dialogs (m,), turns so far (m,), states."""

    def __init__(self, policy: Policy, features: Features) -> None:
        self.policy, self.features = policy, features
        self.seen: list[tuple[Ints, Ints, States]] = []
        self.chances: list[Floats] = []

    def probabilities(self, moment: Moment) -> Floats:
        states = self.features(observations_of_view(moment))
        self.seen.append((moment.dialogs.copy(), moment.history.turn.copy(), states))
        self.chances.append(self.policy.probabilities(moment))
        assert not self.chances[-1][~moment.allowed].any()
        return self.chances[-1]
