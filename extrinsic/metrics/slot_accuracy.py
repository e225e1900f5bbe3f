"""Slot accuracy: the share of the task's slots that are right, including those that never occur."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.errors import UsageError
from extrinsic.metrics.definition import TurnMean
from extrinsic.metrics.items.state_items import StateItems


@dataclass(frozen=True)
class SlotAccuracy(TurnMean):
    """`slots`: how many slots the task has; by default as in the corpus (30 for MultiWOZ)."""

    name: ClassVar[str] = "slot_accuracy"
    formula: ClassVar[str] = "mean over turns of (T - missed - wrong) / T, a wrong value counted once"
    citation: ClassVar[str] = "Wu et al. 2019; Dey et al. 2022, eq. 1"
    positional: ClassVar[str | None] = "slots"

    slots: int | None = None

    def __post_init__(self) -> None:
        if self.slots is not None and (not isinstance(self.slots, int) or self.slots < 1):
            raise UsageError("slot_accuracy: slots must be a whole number above 0", found=str(self.slots))

    def turn_scores(self, items: StateItems) -> Floats:
        slots = items.n_known_slots if self.slots is None else self.slots
        return np.asarray((slots - items.n_differing) / slots)
