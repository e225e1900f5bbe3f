"""Average goal accuracy: how much of the gold state was predicted."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.metrics.definition import TurnMean
from extrinsic.metrics.items.state_items import StateItems


@dataclass(frozen=True)
class AverageGoalAccuracy(TurnMean):
    name: ClassVar[str] = "average_goal_accuracy"
    formula: ClassVar[str] = "mean of |G_t & P_t| / |G_t| over turns with a nonempty G_t"
    citation: ClassVar[str] = "Rastogi et al. 2020"

    def turn_scores(self, items: StateItems) -> Floats:
        return np.where(items.n_gold > 0, items.n_right / np.maximum(items.n_gold, 1), np.nan)
