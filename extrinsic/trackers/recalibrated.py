"""Another tracker's beliefs with other scores in the same order: as accurate, but over- or underconfident."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.candidates import Heard
from extrinsic.trackers.focus import FOCUS
from extrinsic.trackers.protocol import BuiltInTracker
from extrinsic.trackers.shares import capped, total


class Recalibrated(BuiltInTracker):
    """q(v) ~ b(v)^gamma, None included; gamma above 1 is overconfident, below 1 underconfident."""

    def __init__(self, tracker: BuiltInTracker, name: str, gamma: float) -> None:
        self.tracker, self.gamma = tracker, gamma
        self.recalibrated_from = name
        self.planes = tracker.planes

    def update(self, memory: Floats, heard: Heard) -> Floats:
        return self.tracker.update(memory, heard)

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        before = self.tracker.belief(memory, heard)
        of_none = np.maximum(0.0, 1.0 - total(before))
        after = before**self.gamma
        return capped(after / (total(after) + of_none**self.gamma))


FOCUS_OVERCONFIDENT = Recalibrated(FOCUS, "focus", gamma=2.0)
FOCUS_UNDERCONFIDENT = Recalibrated(FOCUS, "focus", gamma=0.5)
