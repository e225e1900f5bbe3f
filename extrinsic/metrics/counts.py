"""The counts behind GCA and FGA, as metrics of their own: `changes(missed)`, `turn_errors(own)`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.metrics.definition import Metric, check_choice
from extrinsic.metrics.gca import GranularChangeAccuracy
from extrinsic.metrics.items.state_items import StateItems

CHANGES = ("correct", "wrong", "missed", "overshot")
ERRORS = ("own", "carried")


@dataclass(frozen=True)
class Count(Metric):
    """A count; the value is the sum over dialogs."""

    kind: ClassVar[str] = "state"
    positional: ClassVar[str | None] = "which"

    which: str

    def values(self, totals: Any) -> Floats:
        return np.asarray(totals, dtype=np.float64)[..., 0]


@dataclass(frozen=True)
class ChangeCount(Count):
    name: ClassVar[str] = "changes"
    formula: ClassVar[str] = "number of changes that granular change accuracy judges so"
    citation: ClassVar[str] = "Aksu & Chen 2024, Algorithm 1"
    whole_dialogs: ClassVar[bool] = True

    drops: str = "twice"

    def __post_init__(self) -> None:
        check_choice(self.name, "kind", self.which, CHANGES)
        check_choice(self.name, "way to count drops", self.drops, ("twice", "once"))
        object.__setattr__(self, "higher_is_better", self.which == "correct")

    def statistics(self, items: StateItems) -> Floats:
        """(n_dialogs, 1)"""
        column = CHANGES.index(self.which)
        return GranularChangeAccuracy(drops=self.drops).statistics(items)[:, column : column + 1]


@dataclass(frozen=True)
class TurnErrorCount(Count):
    """`own`: turns that went wrong by themselves (type 1); `carried`: through an earlier turn (type 2)."""

    name: ClassVar[str] = "turn_errors"
    formula: ClassVar[str] = "number of turns with that type of error"
    citation: ClassVar[str] = "Dey et al. 2022, Algorithm 1"
    higher_is_better: ClassVar[bool | None] = False

    def __post_init__(self) -> None:
        check_choice(self.name, "type", self.which, ERRORS)

    def statistics(self, items: StateItems) -> Floats:
        """(n_dialogs, 1)"""
        own = items.local_errors(literal=False)
        wrong = own if self.which == "own" else ~items.match & ~own
        return np.asarray(items.sum_by_dialog(wrong & items.scheduled))[:, None]
