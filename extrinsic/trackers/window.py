"""Scores summed over the last few turns that mention a slot."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.candidates import Heard
from extrinsic.trackers.protocol import BuiltInTracker
from extrinsic.trackers.shares import capped, share_out, total

SIZE = 3


class Window(BuiltInTracker):
    """b_t(v) = h_t s_t(v) / sum s_t, where s_t sums u_i over the last `size` turns i that mention the slot.

    h_t = 1 - prod_i (1 - sum u_i) over the same turns: probability that the slot was mentioned at all.
    Memory: u of those turns, latest first.
    """

    def __init__(self, size: int = SIZE) -> None:
        self.planes = size

    def update(self, memory: Floats, heard: Heard) -> Floats:
        informed = capped(heard.informed)
        moved = np.concatenate([informed[None], memory[:-1]])
        return np.where(total(informed) > 0.0, moved, memory)

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        return share_out(memory.sum(axis=0), 1.0 - (1.0 - total(memory)).prod(axis=0))


WINDOW = Window()
