"""The challenge's baseline: the most confident value so far."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.candidates import Heard
from extrinsic.corpus.requests import Rule
from extrinsic.trackers.protocol import BuiltInTracker
from extrinsic.trackers.shares import best_only


class Baseline(BuiltInTracker):
    """One value per slot: the one informed with the highest score in any turn; a later equal replaces it."""

    rule: Rule = "baseline"

    def update(self, memory: Floats, heard: Heard) -> Floats:
        before = memory[0]
        new = best_only(np.minimum(heard.informed, 1.0))
        score = new.max(axis=-1, keepdims=True)
        replaces = (score > 0.0) & (score >= before.max(axis=-1, keepdims=True))
        return np.asarray(np.where(replaces, new, before)[None])


BASELINE = Baseline()
