"""How often a tracker has any hypothesis (DSTC1)."""

from typing import ClassVar

from extrinsic.metrics.definition import ItemMean


class NonEmpty(ItemMean):
    name: ClassVar[str] = "nonempty"
    formula: ClassVar[str] = "mean of [number of hypotheses > 0]"
    citation: ClassVar[str] = "Williams et al. 2013 (DSTC1)"
    higher_is_better: ClassVar[bool | None] = None
    field: ClassVar[str] = "nonempty"
