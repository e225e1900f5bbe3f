"""Two trackers' beliefs, averaged."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.candidates import Heard
from extrinsic.trackers.protocol import BuiltInTracker
from extrinsic.trackers.shares import capped


class Mixture(BuiltInTracker):
    """b(v) = w b_1(v) + (1 - w) b_2(v), with the weight w of the first; each keeps its own memory."""

    def __init__(self, first: BuiltInTracker, second: BuiltInTracker, weight: float) -> None:
        self.first, self.second, self.weight = first, second, weight
        self.planes, self.rule, self.parts = first.planes + second.planes, first.rule, (first, second)

    def update(self, memory: Floats, heard: Heard) -> Floats:
        own, other = np.split(memory, [self.first.planes])
        return np.concatenate([self.first.update(own, heard), self.second.update(other, heard)])

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        own, other = np.split(memory, [self.first.planes])
        first, second = self.first.belief(own, heard), self.second.belief(other, heard)
        return capped(self.weight * first + (1.0 - self.weight) * second)
