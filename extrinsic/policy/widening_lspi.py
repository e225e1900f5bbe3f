"""Pessimistic policy iteration whose filter admits more as the log grows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from extrinsic.bounds import Count, NotNegative
from extrinsic.policy.behaviour import Behaviour
from extrinsic.policy.kernel_lspi import KernelPolicy
from extrinsic.policy.pessimistic_lspi import PessimisticLSPI
from extrinsic.policy.transitions import Transitions


@dataclass(frozen=True)
class WideningLSPI(PessimisticLSPI):
    """Pessimistic LSPI with the threshold of the filter times min(1, sqrt(decisions / n)), for n decisions.

    A fixed threshold leaves out the same actions however often the log has them. What a lower one admits is
    rarer, and its Q less certain: without pessimism the lower threshold costs more than it brings.
    decisions: the size of a log up to which the threshold is used as it is.
    """

    pessimism: NotNegative = 3.0
    decisions: Count = 2_500

    def fit(self, transitions: Transitions, behaviour: Behaviour) -> KernelPolicy:
        share = min(1.0, float(np.sqrt(self.decisions / max(len(transitions), 1))))
        return super().fit(transitions, replace(behaviour, threshold=share * behaviour.threshold))
