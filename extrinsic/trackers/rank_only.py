"""Focus on ranks in the N-best list: for recognisers with meaningless scores."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.candidates import Heard
from extrinsic.trackers.protocol import BuiltInTracker
from extrinsic.trackers.shares import total

WEIGHT_OF_NONE = 0.5
"""The weight of None, where the best hypothesis has weight 1."""


class RankOnly(BuiltInTracker):
    """b_t(v) = p_t(v) + (1 - sum p_t) b_{t-1}(v), with p_t(v) = r_t(v) / (`none` + sum r_t).

    r_t(v): 1 if the best hypothesis informs v, 1/2 if the second is the first that does, ...
    """

    def __init__(self, none: float = WEIGHT_OF_NONE) -> None:
        self.none = none

    def update(self, memory: Floats, heard: Heard) -> Floats:
        informed = heard.rank / (self.none + total(heard.rank))
        return np.asarray(informed + (1.0 - total(informed)) * memory)


RANK_ONLY = RankOnly()
