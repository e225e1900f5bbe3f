"""Turn match: the turn itself went right, whatever was wrong before it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.metrics.definition import TurnMean
from extrinsic.metrics.items.state_items import StateItems


@dataclass(frozen=True)
class TurnMatch(TurnMean):
    name: ClassVar[str] = "turn_match"
    formula: ClassVar[str] = "FGA without decay (lambda -> infinity)"
    citation: ClassVar[str] = "Dey et al. 2022"

    def turn_scores(self, items: StateItems) -> Floats:
        return np.asarray(~items.local_errors(literal=False), dtype=np.float64)
