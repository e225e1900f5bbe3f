"""No memory at all: a degenerate tracker, for comparison."""

from __future__ import annotations

from extrinsic.arrays import Floats
from extrinsic.corpus.candidates import Heard
from extrinsic.trackers.protocol import BuiltInTracker
from extrinsic.trackers.shares import capped


class LastTurn(BuiltInTracker):
    """b_t(v) = u_t(v): what this turn informs."""

    degenerate = True

    def update(self, memory: Floats, heard: Heard) -> Floats:
        return capped(heard.informed)[None]


LAST_TURN = LastTurn()
