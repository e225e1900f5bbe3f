"""Bayes' rule for a goal that may change, with a recogniser that confuses values."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.candidates import Heard
from extrinsic.trackers.protocol import BuiltInTracker
from extrinsic.trackers.shares import capped, total

N_VALUES = 50.0
"""The assumed number of values of a slot; those not mentioned yet share None's belief."""

CHANGE = 0.05
"""Probability that the goal changes between two turns that mention the slot."""


class Bayes(BuiltInTracker):
    """b_t(v) ~ L_t(v) b'(v), with b' = (1 - c) b_{t-1} + c / N_VALUES, c: `change`.

    L_t(v) = ((1 - k) u_t(v) + (k sum u_t + 1 - sum u_t) / N_VALUES) (1 - (1 - k) d_t(v)): what was said is v
    with probability 1 - `confusion`, else anything; what was not heard may have been anything, too. For
    None u_t = 0. A value mentioned for the first time has an equal share of None's belief. Where all
    likelihoods are 0 (a contradiction without confusion) the turn is believed.
    Memory: the belief, and whether the value was mentioned before.
    """

    kind = "bayes"
    planes = 2

    def __init__(self, confusion: float, change: float = CHANGE) -> None:
        self.confusion, self.change = confusion, change

    def update(self, memory: Floats, heard: Heard) -> Floats:
        before, seen = memory
        informed, sure = capped(heard.informed), 1.0 - self.confusion
        is_candidate = heard.is_candidate.astype(np.float64)
        unseen = np.maximum(0.0, 1.0 - total(before)) / np.maximum(1.0, N_VALUES - total(seen))
        spoken = np.where(seen > 0.0, before, unseen) * is_candidate
        prior = (1.0 - self.change) * spoken + self.change / N_VALUES * is_candidate
        of_none = np.maximum(0.0, 1.0 - total(prior))
        anything = np.maximum(0.0, 1.0 - sure * total(informed)) / N_VALUES
        possible = prior * (sure * informed + anything) * (1.0 - sure * np.minimum(heard.denied, 1.0))
        whole = total(possible) + of_none * anything
        after = np.where(whole > 0.0, possible / np.where(whole > 0.0, whole, 1.0), informed)
        touched = (informed > 0.0).any(axis=-1, keepdims=True) | (heard.denied > 0.0).any(-1, keepdims=True)
        return np.stack([np.where(touched, after, spoken), is_candidate])


BAYES_NONE = Bayes(confusion=0.0)
BAYES_LOW = Bayes(confusion=0.1)
BAYES_HIGH = Bayes(confusion=0.4)
