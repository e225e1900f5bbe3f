"""Joint goal accuracy: the whole state is right."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.metrics.definition import TurnMean
from extrinsic.metrics.items.state_items import StateItems


@dataclass(frozen=True)
class JointGoalAccuracy(TurnMean):
    name: ClassVar[str] = "jga"
    formula: ClassVar[str] = "mean over turns of [G_t = P_t]"
    citation: ClassVar[str] = "Henderson et al. 2014"

    def turn_scores(self, items: StateItems) -> Floats:
        return np.asarray(items.match, dtype=np.float64)
