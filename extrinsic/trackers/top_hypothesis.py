"""Focus on the best hypothesis alone: the belief of a system without N-best lists."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.candidates import Heard
from extrinsic.trackers.protocol import BuiltInTracker
from extrinsic.trackers.shares import capped, total


class TopHypothesis(BuiltInTracker):
    """b_t(v) = t_t(v) + (1 - sum t_t) b_{t-1}(v); t_t(v): the best hypothesis's score if it informs v."""

    def update(self, memory: Floats, heard: Heard) -> Floats:
        top = capped(heard.top)
        return np.asarray(top + (1.0 - total(top)) * memory)


TOP_HYPOTHESIS = TopHypothesis()
