"""Policies that know nothing, for tests."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.simulation import Moment
from tests.simulation.worlds import PREDICATES


class Always:
    """Does the first of some acts that can be done."""

    def __init__(self, *names: str) -> None:
        self.order = [PREDICATES.index(name) for name in names]

    def probabilities(self, moment: Moment) -> Floats:
        can = moment.allowed[:, self.order]
        chosen = np.array(self.order)[can.argmax(axis=1)]
        return np.asarray(np.eye(len(PREDICATES))[chosen])


class Uniform:
    """Anything that can be done, but for leaving."""

    def probabilities(self, moment: Moment) -> Floats:
        can = moment.allowed.astype(float)
        can[:, PREDICATES.index("goodbye")] = 0.05
        return np.asarray(can / can.sum(axis=1, keepdims=True))
