"""The most confident value so far, where only a confirmed value gets a high score."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.candidates import Heard
from extrinsic.trackers.protocol import BuiltInTracker
from extrinsic.trackers.shares import capped

UNCONFIRMED = 0.7
"""The highest score of an unconfirmed value."""


class ConfirmAware(BuiltInTracker):
    """w_t(v) = 1 - (1 - max(w_{t-1}(v), min(`unconfirmed`, i_t(v)))) (1 - a_t(v)), times 1 - d_t(v).

    i_t(v): score that informs v directly.   a_t(v): that affirms it.   d_t(v): that denies or negates it.
    The belief is w_t, divided by its sum where that is above 1.
    """

    def __init__(self, unconfirmed: float = UNCONFIRMED) -> None:
        self.unconfirmed = unconfirmed

    def update(self, memory: Floats, heard: Heard) -> Floats:
        affirmed = np.clip(heard.affirmed, 0.0, 1.0)
        best = np.maximum(memory, np.clip(heard.informed - affirmed, 0.0, self.unconfirmed))
        confirmed = 1.0 - (1.0 - best) * (1.0 - affirmed)
        return np.asarray(confirmed * (1.0 - np.clip(heard.denied, 0.0, 1.0)))

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        return capped(memory[0])


CONFIRM_AWARE = ConfirmAware()
