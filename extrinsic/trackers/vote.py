"""One vote for every turn whose best hypothesis contains the value."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.candidates import Heard
from extrinsic.trackers.protocol import BuiltInTracker
from extrinsic.trackers.shares import total

VOTES_FOR_NONE = 0.5
"""Less than one, so that a single vote beats None."""


class Vote(BuiltInTracker):
    """b_t(v) = n_t(v) / (`none` + sum n_t); n_t(v): turns whose best hypothesis informs v."""

    def __init__(self, none: float = VOTES_FOR_NONE) -> None:
        self.none = none

    def update(self, memory: Floats, heard: Heard) -> Floats:
        return memory + (heard.top > 0.0)

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        return np.asarray(memory[0] / (self.none + total(memory[0])))


VOTE = Vote()
