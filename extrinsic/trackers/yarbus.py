"""Rules for each hypothesis of the recogniser, after Yarbus."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.candidates import Heard
from extrinsic.trackers.protocol import BuiltInTracker
from extrinsic.trackers.shares import capped, total


class Yarbus(BuiltInTracker):
    """Each hypothesis maps the old belief to a new one; the new beliefs are averaged by the scores.

    One that informs (or affirms) v moves all belief to v; one that only rejects v moves v's belief to None;
    any other leaves the belief unchanged: b_t(v) = u_t(v) + (1 - sum u_t - r_t(v)) b_{t-1}(v).
    With `consent` c, a value confirmed implicitly and not contested gets a share c of that last part.
    Fix and Frezza-Buet 2015, YARBUS: Yet Another Rule Based belief Update System.
    """

    def __init__(self, consent: float = 0.0) -> None:
        self.consent = consent

    def update(self, memory: Floats, heard: Heard) -> Floats:
        informed, before = capped(heard.informed), memory[0]
        if self.consent:
            confirmed = capped(heard.implicit.astype(np.float64))
            before = before + self.consent * (confirmed - total(confirmed) * before)
        kept = np.maximum(0.0, 1.0 - total(informed) - np.maximum(heard.rejected, 0.0))
        return np.asarray((informed + kept * before)[None])


YARBUS = Yarbus()
YARBUS_IMPLICIT = Yarbus(consent=0.5)
