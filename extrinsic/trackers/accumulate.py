"""Scores summed over all turns; with forgetting, older turns count for less."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.candidates import Heard
from extrinsic.trackers.protocol import BuiltInTracker
from extrinsic.trackers.shares import capped, share_out, total


class Accumulate(BuiltInTracker):
    """b_t(v) = h_t s_t(v) / sum s_t, with s_t(v) = kept s_{t-1}(v) + u_t(v) at turns that mention the slot.

    h_t = 1 - (1 - sum u_t) (1 - h_{t-1}): probability that the slot was ever mentioned; the rest is None's.
    Memory: s, and h (the same for all candidates of a slot).
    """

    planes = 2

    def __init__(self, kept: float = 1.0) -> None:
        self.kept = kept

    def update(self, memory: Floats, heard: Heard) -> Floats:
        summed, ever = memory
        informed = capped(heard.informed)
        spoken = total(informed)
        after = np.where(spoken > 0.0, self.kept * summed + informed, summed)
        # A position that was just added begins with 0, and belongs to the same slot.
        ever = 1.0 - (1.0 - spoken) * (1.0 - ever.max(axis=-1, keepdims=True))
        return np.stack([after, np.broadcast_to(ever, after.shape)])

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        return share_out(memory[0], memory[1])


ACCUMULATE = Accumulate()
DISCOUNT = Accumulate(kept=0.5)
