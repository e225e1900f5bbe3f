"""A tracker whose beliefs arrive some turns late."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.candidates import Heard
from extrinsic.trackers.protocol import BuiltInTracker


class Delayed(BuiltInTracker):
    """q_t(v) = b_{t-k}(v), k = `turns`; nothing is believed in the first k turns.

    Memory: the tracker's, and its last k + 1 beliefs, latest first.
    """

    def __init__(self, tracker: BuiltInTracker, turns: int) -> None:
        self.tracker, self.turns = tracker, turns
        self.planes, self.kind = tracker.planes + turns + 1, tracker.kind
        self.rule, self.degenerate, self.parts = tracker.rule, tracker.degenerate, (tracker,)

    def update(self, memory: Floats, heard: Heard) -> Floats:
        own, beliefs = np.split(memory, [self.tracker.planes])
        after = self.tracker.update(own, heard)
        return np.concatenate([after, self.tracker.belief(after, heard)[None], beliefs[:-1]])

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        return np.asarray(memory[-1])
