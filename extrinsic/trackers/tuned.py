"""A rule with another opinion of the recogniser, and of its own memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.candidates import Heard
from extrinsic.trackers.protocol import BuiltInTracker


class Tuned(BuiltInTracker):
    """A rule that hears u'_t(v) = trust u_t(v), 0 where u_t(v) < threshold, and keeps `discount` of its
    memory from turn to turn.

    u_t(v): every score of a turn, for and against v.
    """

    def __init__(
        self, tracker: BuiltInTracker, trust: float = 1.0, threshold: float = 0.0, discount: float = 1.0
    ) -> None:
        self.tracker, self.trust, self.threshold, self.discount = tracker, trust, threshold, discount
        self.planes, self.kind, self.rule = tracker.planes, tracker.kind, tracker.rule
        self.degenerate, self.parts = tracker.degenerate, (tracker,)

    def update(self, memory: Floats, heard: Heard) -> Floats:
        return self.tracker.update(self.discount * memory, self._tuned(heard))

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        return self.tracker.belief(memory, self._tuned(heard))

    def _tuned(self, heard: Heard) -> Heard:
        evidence = heard.evidence
        loud, denied = evidence.informed >= self.threshold, evidence.denied >= self.threshold
        return replace(
            heard,
            evidence=replace(
                evidence,
                informed=self.trust * np.where(loud, evidence.informed, 0.0),
                affirmed=self.trust * np.where(loud, evidence.affirmed, 0.0),
                top=self.trust * np.where(loud, evidence.top, 0.0),
                rank=np.where(loud, evidence.rank, -1),
                denied=self.trust * np.where(denied, evidence.denied, 0.0),
                rejected=self.trust * np.where(denied, evidence.rejected, 0.0),
            ),
        )
