"""Relative slot accuracy: slot accuracy over the slots that occur."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.metrics.definition import TurnMean
from extrinsic.metrics.items.state_items import StateItems


@dataclass(frozen=True)
class RelativeSlotAccuracy(TurnMean):
    name: ClassVar[str] = "relative_slot_accuracy"
    formula: ClassVar[str] = "mean over turns of (T* - missed - wrong) / T*, 0 where T* = 0"
    citation: ClassVar[str] = "Kim et al. 2022, eq. 3"

    def turn_scores(self, items: StateItems) -> Floats:
        return np.where(items.n_active > 0, items.n_right / np.maximum(items.n_active, 1), 0.0)
