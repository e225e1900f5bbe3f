"""Granular change accuracy: every change of the state is judged once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.metrics.definition import Metric, check_choice
from extrinsic.metrics.items.state_items import StateItems

VALUE_TO_LABEL = 10 / 11
"""Values weigh ten times as much as labels."""

PLAIN = 0.9


@dataclass(frozen=True)
class GranularChangeAccuracy(Metric):
    """`weights`: `counts` weighs precisions by the predicted changes and recalls by the gold ones (the form
    that reproduces the tables); `plain` uses .9 / .1 alone, as in the 2024 text.
    `drops`: a slot that both sides drop in one turn counts as correct and as missed (`twice`, as published)
    or just as correct (`once`).
    """

    name: ClassVar[str] = "gca"
    formula: ClassVar[str] = (
        "(P + G) / (a P/VP + a G/VR + (1-a) P/LP + (1-a) G/LR), P = C+W+O, G = C+W+M, VP = C/P, VR = C/G, "
        "LP = (C+W)/P, LR = (C+W)/G, a = 10/11"
    )
    citation: ClassVar[str] = "Aksu & Chen 2024"
    kind: ClassVar[str] = "state"
    whole_dialogs: ClassVar[bool] = True

    weights: str = "counts"
    drops: str = "twice"

    def __post_init__(self) -> None:
        check_choice(self.name, "weighting", self.weights, ("counts", "plain"))
        check_choice(self.name, "way to count drops", self.drops, ("twice", "once"))

    def statistics(self, items: StateItems) -> Floats:
        """(n_dialogs, 4): correct, wrong, missed, overshot changes."""
        counts = items.changes.counts
        missed = counts[:, 2] + (counts[:, 4] if self.drops == "twice" else 0.0)
        kinds = np.stack([counts[:, 0], counts[:, 1], missed, counts[:, 3]], axis=1)
        return items.sum_by_dialog(np.where(items.scheduled[:, None], kinds, 0.0))

    def values(self, totals: Any) -> Floats:
        correct, wrong, missed, overshot = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
        predicted, gold = correct + wrong + overshot, correct + wrong + missed
        if self.weights == "counts":
            alpha, of_predicted, of_gold = VALUE_TO_LABEL, predicted, gold
        else:
            alpha, of_predicted, of_gold = PLAIN, np.ones_like(predicted), np.ones_like(gold)
        with np.errstate(divide="ignore", invalid="ignore"):
            value_part = alpha * (of_predicted * predicted + of_gold * gold) / correct
            label_part = (1 - alpha) * (of_predicted * predicted + of_gold * gold) / (correct + wrong)
            values = (of_predicted + of_gold) / (value_part + label_part)
        # Without a correct change one of the four rates is 0, and so is the mean; without any change
        # there is nothing to judge.
        values = np.where(correct > 0, values, 0.0)
        return np.where(correct + wrong + missed + overshot > 0, values, np.nan)
