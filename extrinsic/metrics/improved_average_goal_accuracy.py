"""Average goal accuracy that also penalises wrong predictions (Dey's remark)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.metrics.definition import TurnMean, check_choice
from extrinsic.metrics.items.state_items import StateItems


@dataclass(frozen=True)
class ImprovedAverageGoalAccuracy(TurnMean):
    """`over`: `union` averages over turns with a nonempty union; `published` divides the same sum by the
    number of turns with a nonempty gold state, as the published tables do."""

    name: ClassVar[str] = "improved_average_goal_accuracy"
    formula: ClassVar[str] = "mean of |G_t & P_t| / |G_t or P_t| over turns with a nonempty union"
    citation: ClassVar[str] = "Dey et al. 2022, section 2.3"
    positional: ClassVar[str | None] = "over"

    over: str = "union"

    def __post_init__(self) -> None:
        check_choice(self.name, "way to average", self.over, ("union", "published"))

    def turn_scores(self, items: StateItems) -> Floats:
        # |G or P| counts triples: a slot with two different values is two of them.
        union = items.n_gold + items.n_predicted - items.n_right
        return np.where(union > 0, items.n_right / np.maximum(union, 1), np.nan)

    def statistics(self, items: StateItems) -> Floats:
        statistics = super().statistics(items)
        if self.over == "published":
            statistics[:, 1] = items.sum_by_dialog(items.scheduled & (items.n_gold > 0))
        return statistics
