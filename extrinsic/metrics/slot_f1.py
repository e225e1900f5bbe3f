"""Slot F1: precision and recall of triples."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.metrics.definition import Metric, ratio
from extrinsic.metrics.items.state_items import StateItems


@dataclass(frozen=True)
class SlotF1(Metric):
    name: ClassVar[str] = "slot_f1"
    formula: ClassVar[str] = "2 sum |G_t & P_t| / (sum |G_t| + sum |P_t|)"
    citation: ClassVar[str] = "Kim et al. 2022"
    kind: ClassVar[str] = "state"

    def turn_scores(self, items: StateItems) -> Floats:
        """(n_turns,) F1 of single turns, 1 where both sets are empty (for comparing metrics turn by turn)."""
        either = items.n_gold + items.n_predicted
        return np.where(either > 0, 2 * items.n_right / np.maximum(either, 1), 1.0)

    def statistics(self, items: StateItems) -> Floats:
        """(n_dialogs, 2): twice the triples in both sets, and the sum of the sizes of both sets."""
        both = np.where(items.scheduled, 2 * items.n_right, 0)
        either = np.where(items.scheduled, items.n_gold + items.n_predicted, 0)
        return items.sum_by_dialog(np.stack([both, either], axis=1))

    def values(self, totals: Any) -> Floats:
        totals = np.asarray(totals)
        return ratio(totals[..., 0], totals[..., 1])
