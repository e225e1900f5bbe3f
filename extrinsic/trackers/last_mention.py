"""The value heard last, until another is heard."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.candidates import Heard
from extrinsic.trackers.protocol import BuiltInTracker
from extrinsic.trackers.shares import best_only, capped


class LastMention(BuiltInTracker):
    """One value per slot: the best of the last turn that informs any, with its score in that turn."""

    def update(self, memory: Floats, heard: Heard) -> Floats:
        new = best_only(capped(heard.informed))
        return np.asarray(np.where((new > 0.0).any(axis=-1, keepdims=True), new, memory))


LAST_MENTION = LastMention()
