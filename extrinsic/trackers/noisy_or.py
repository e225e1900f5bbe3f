"""Independent pieces of evidence: a value is right unless it was misheard every time."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.candidates import Heard
from extrinsic.trackers.protocol import BuiltInTracker
from extrinsic.trackers.shares import capped


class NoisyOr(BuiltInTracker):
    """b_t(v) = 1 - prod_i (1 - u_i(v)), divided by the sum over values where that is above 1.

    Memory: the score before the division, so that it is never divided twice.
    """

    def update(self, memory: Floats, heard: Heard) -> Floats:
        return np.asarray(1.0 - (1.0 - memory) * (1.0 - capped(heard.informed)))


NOISY_OR = NoisyOr()
