"""Evidence for and against each value separately, after the rule tracker of Heriot-Watt University."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.candidates import Heard
from extrinsic.trackers.protocol import BuiltInTracker
from extrinsic.trackers.shares import capped, total


class HeriotWatt(BuiltInTracker):
    """b_t(v) = (1 - (1 - b_{t-1}(v)) (1 - p_t(v))) (1 - n_t(v)), normalised when above 1 in sum.

    p_t(v): score that informs or affirms v.   n_t(v): that denies it, or negates its confirmation.
    With `contradicted`, informing another value counts against v as well, so that a change of goal is
    followed; without it only an explicit no does, as in the original mode.
    Wang and Lemon 2013, A Simple and Generic Belief Tracking Mechanism for the Dialog State Tracking
    Challenge.
    """

    def __init__(self, contradicted: bool = True) -> None:
        self.contradicted = contradicted

    def update(self, memory: Floats, heard: Heard) -> Floats:
        before, positive = memory[0], capped(heard.informed)
        against = 1.0 - np.minimum(heard.denied, 1.0)
        if self.contradicted:
            before = before * (1.0 - np.minimum(total(positive) - positive, 1.0))
        after = (1.0 - (1.0 - before) * (1.0 - positive)) * against
        return capped(after)[None]


HWU = HeriotWatt()
HWU_ORIGINAL = HeriotWatt(contradicted=False)
