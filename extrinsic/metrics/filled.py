"""A state-set metric of a belief tracker, whose beliefs become states by a fill rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from extrinsic.arrays import Floats
from extrinsic.corpus.fill import Fill
from extrinsic.metrics.definition import Metric
from extrinsic.metrics.items.state_items import StateItems


@dataclass(frozen=True)
class Filled(Metric):
    """Another metric, on filled beliefs; prints as `fga(0.5, fill=argmax)`."""

    metric: Metric
    fill: Fill

    def __post_init__(self) -> None:
        for name in ("name", "formula", "citation", "kind", "higher_is_better", "whole_dialogs"):
            object.__setattr__(self, name, getattr(self.metric, name))

    def __str__(self) -> str:
        name, _, parameters = str(self.metric).partition("(")
        prefix = f"{parameters.removesuffix(')')}, " if parameters else ""
        return f"{name}({prefix}fill={self.fill})"

    def statistics(self, items: StateItems) -> Any:
        return self.metric.statistics(items)

    def values(self, totals: Any) -> Floats:
        return self.metric.values(totals)

    def count(self, items: StateItems, totals: Any) -> int:
        return self.metric.count(items, totals)
