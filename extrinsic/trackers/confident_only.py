"""A threshold on scores, as in deployed systems: doubtful values are ignored."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.candidates import Heard
from extrinsic.trackers.protocol import BuiltInTracker
from extrinsic.trackers.shares import capped

THRESHOLD = 0.5


class ConfidentOnly(BuiltInTracker):
    """One value per slot: the last that was informed with more than `accepts`, with that score.

    Denying it with more than that removes it.
    """

    def __init__(self, accepts: float = THRESHOLD) -> None:
        self.accepts = accepts

    def update(self, memory: Floats, heard: Heard) -> Floats:
        informed = capped(heard.informed)
        accepted = np.where(informed > self.accepts, informed, 0.0)
        kept = np.where(heard.denied > self.accepts, 0.0, memory[0])
        return np.asarray(np.where((accepted > 0.0).any(axis=-1, keepdims=True), accepted, kept)[None])


CONFIDENT_ONLY = ConfidentOnly()
