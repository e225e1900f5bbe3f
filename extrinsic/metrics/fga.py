"""Flexible goal accuracy: mistakes of earlier turns are gradually forgotten."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.errors import UsageError
from extrinsic.metrics.definition import TurnMean, check_choice
from extrinsic.metrics.items.state_items import StateItems


@dataclass(frozen=True)
class FlexibleGoalAccuracy(TurnMean):
    """`decay` is Dey's lambda: 0 is joint goal accuracy, infinity is turn match.

    `variant`: `published` (the authors' code) or `literal` (Algorithm 1 as printed, where a turn may be
    forgiven although no error came before it; it then counts from turn -1).
    """

    name: ClassVar[str] = "fga"
    formula: ClassVar[str] = (
        "mean over turns of 1 (match), 0 (the turn's own error) or 1 - exp(-lambda (t - t_err))"
    )
    citation: ClassVar[str] = "Dey et al. 2022, Algorithm 1"
    positional: ClassVar[str | None] = "decay"

    decay: float
    variant: str = "published"

    def __post_init__(self) -> None:
        if isinstance(self.decay, str) or not self.decay >= 0:
            raise UsageError("fga: lambda must be a number of at least 0", found=str(self.decay))
        object.__setattr__(self, "decay", float(self.decay))
        check_choice(self.name, "variant", self.variant, ("published", "literal"))

    def turn_scores(self, items: StateItems) -> Floats:
        errors = items.local_errors(literal=self.variant == "literal")
        turn = items.turn_in_dialog
        index = np.arange(len(turn))
        last_error = np.maximum.accumulate(np.where(errors, index, -1))
        since = np.where(last_error >= index - turn, index - last_error, turn + 1)
        # 0 * infinity: no decay forgets nothing, however long ago.
        forgiven = 1.0 - np.exp(-self.decay * since) if self.decay > 0 else np.zeros(len(turn))
        return np.where(items.match, 1.0, np.where(errors, 0.0, forgiven))


def decay_to_forget(turns: float, factor: float) -> float:
    """The lambda that forgets a mistake by `factor` after `turns` turns: -ln(1 - factor) / turns."""
    if not (turns > 0 and 0 <= factor < 1):
        raise UsageError(
            "fga: a mistake is forgotten over turns > 0 by a factor in [0, 1)", found=f"{turns}, {factor}"
        )
    return -math.log1p(-factor) / turns


def make_fga(
    decay: float | None = None,
    variant: str = "published",
    turns: float | None = None,
    factor: float | None = None,
) -> FlexibleGoalAccuracy:
    """`fga(0.5)`, or `fga(turns=6, factor=0.95)`; plain `fga` is the paper's lambda of 0.5."""
    if turns is not None or factor is not None:
        if decay is not None or turns is None or factor is None:
            raise UsageError("fga takes a lambda, or both turns and factor")
        decay = decay_to_forget(turns, factor)
    return FlexibleGoalAccuracy(0.5 if decay is None else decay, variant)
