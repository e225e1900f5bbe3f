"""Focus, as the second challenge ran it."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.candidates import Heard
from extrinsic.trackers.protocol import BuiltInTracker


class Focus(BuiltInTracker):
    """b_t(v) = u_t(v) + (1 - sum u_t) b_{t-1}(v), with u_t(v) what was informed at this turn.

    The challenge's own program iterates over the slots just heard and then over those already in the belief,
    so that a slot which is both gets the update twice; its published outputs confirm this. `twice` does the
    same, `twice=False` is the formula.
    """

    def __init__(self, twice: bool = True) -> None:
        self.twice = twice

    def update(self, memory: Floats, heard: Heard) -> Floats:
        informed, before = heard.informed, memory[0]
        rest = np.maximum(0.0, 1.0 - informed.sum(axis=-1, keepdims=True))
        after = informed + rest * before
        if self.twice:
            both = (before > 0).any(axis=-1, keepdims=True) & (informed > 0).any(axis=-1, keepdims=True)
            after = np.where(both, informed + rest * after, after)
        return np.asarray(after[None])


FOCUS = Focus()
FOCUS_ONCE = Focus(twice=False)
