"""`own(judge)`: scores from a table of one's own, beside ours; only a study with [scores] has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from extrinsic.arrays import Floats
from extrinsic.errors import UsageError
from extrinsic.metrics.definition import Mean, check_choice


@dataclass(frozen=True)
class OwnScore(Mean):
    """The mean of a column over dialogs or turns; better: `higher` or `lower`."""

    name: ClassVar[str] = "own"
    formula: ClassVar[str] = "mean of a column of [scores] over its dialogs or turns"
    citation: ClassVar[str] = "the user's own, as judges are compared by Zheng et al. 2023"
    kind: ClassVar[str] = "state"
    positional: ClassVar[str | None] = "which"

    which: str
    better: str = "higher"

    def __post_init__(self) -> None:
        check_choice(self.name, "direction", self.better, ("higher", "lower"))
        object.__setattr__(self, "higher_is_better", self.better == "higher")

    def statistics(self, items: Any) -> Floats:
        raise UsageError(f"{self} comes from a table: name its file in [scores] of a study")
