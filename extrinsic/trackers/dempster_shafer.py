"""Dempster's rule: agreeing evidence is reinforced, conflicting evidence is discarded."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.candidates import Heard
from extrinsic.trackers.protocol import BuiltInTracker
from extrinsic.trackers.shares import capped, total


class DempsterShafer(BuiltInTracker):
    """b_t(v) ~ b_{t-1}(v) u_t(v) + b_{t-1}(v) n_u + n_b u_t(v), and None ~ n_b n_u, together 1.

    n_b, n_u: what b_{t-1} and u_t leave to None. A denied value first loses its belief to None. Where old
    and new belief contradict each other completely, the new one is kept.
    """

    def update(self, memory: Floats, heard: Heard) -> Floats:
        informed = capped(heard.informed)
        before = memory[0] * (1.0 - np.clip(heard.denied, 0.0, 1.0))
        open_now, open_before = (np.maximum(0.0, 1.0 - total(part)) for part in (informed, before))
        agreed = before * informed + before * open_now + open_before * informed
        whole = total(agreed) + open_before * open_now
        possible = whole > 0.0
        return np.asarray(np.where(possible, agreed / np.where(possible, whole, 1.0), informed)[None])


DEMPSTER_SHAFER = DempsterShafer()
