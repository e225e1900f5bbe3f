"""Sentinels: metrics that know nothing of a tracker. What they reach is the floor of a study.

The length of a dialog and the number of its gold slots are the same for all systems: they correlate with
outcomes
where dialogs are pooled, because long dialogs fail more often. A constant with noise differs by chance alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.metrics.definition import Mean, check_choice
from extrinsic.metrics.items.state_items import StateItems
from extrinsic.storage import content_hash

SENTINELS = ("length", "slots", "noise")


@dataclass(frozen=True)
class Sentinel(Mean):
    """`length`: turns of a dialog; `slots`: gold slots at its end; `noise`: 1 + N(0, .01)."""

    name: ClassVar[str] = "sentinel"
    formula: ClassVar[str] = "mean over dialogs of what says nothing about the tracker"
    citation: ClassVar[str] = "Mathur et al. 2020 (metrics that should lose)"
    kind: ClassVar[str] = "state"
    positional: ClassVar[str | None] = "which"
    whole_dialogs: ClassVar[bool] = True

    which: str

    def __post_init__(self) -> None:
        check_choice(self.name, "kind", self.which, SENTINELS)
        object.__setattr__(self, "higher_is_better", self.which == "noise")

    def statistics(self, items: StateItems) -> Floats:
        """(n_dialogs, 2): the value of each dialog, and 1."""
        n_dialogs = len(items.offsets) - 1
        if self.which == "length":
            values = np.diff(items.offsets).astype(np.float64)
        elif self.which == "slots":
            values = items.n_gold[items.offsets[1:] - 1].astype(np.float64)
        else:
            # Drawn by what was predicted: the same for the same states, another for any others.
            key = int(
                content_hash("sentinel", np.ascontiguousarray(items.given_predicted).tobytes())[:16], 16
            )
            rng = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(key,)))
            values = 1.0 + 0.01 * rng.standard_normal(n_dialogs)
        return np.stack([values, np.ones(n_dialogs)], axis=1)
