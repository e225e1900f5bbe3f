"""The Brier score: the squared form of `l2.lee`."""

from typing import ClassVar

from extrinsic.metrics.definition import ItemMean


class Brier(ItemMean):
    name: ClassVar[str] = "brier"
    formula: ClassVar[str] = (
        "mean of (1 - c)^2 + sum of the squared scores of wrong hypotheses, None among them, "
        "c the total score of correct ones; in DSTC2 this is `l2`, but for a joint list with a value twice"
    )
    citation: ClassVar[str] = "Brier 1950"
    higher_is_better: ClassVar[bool | None] = False
    field: ClassVar[str] = "brier"
