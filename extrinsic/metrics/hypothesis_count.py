"""How many hypotheses a tracker keeps (DSTC1)."""

from typing import ClassVar

from extrinsic.metrics.definition import ItemMean


class HypothesisCount(ItemMean):
    name: ClassVar[str] = "hypothesis_count"
    formula: ClassVar[str] = "mean of the number of hypotheses"
    citation: ClassVar[str] = "Williams et al. 2013 (DSTC1)"
    higher_is_better: ClassVar[bool | None] = None
    field: ClassVar[str] = "hypothesis_count"
