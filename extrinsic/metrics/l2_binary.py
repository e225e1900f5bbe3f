"""L2 of the two-way distribution right / wrong (DSTC2)."""

from typing import ClassVar

from extrinsic.metrics.definition import ItemMean


class L2Binary(ItemMean):
    name: ClassVar[str] = "l2.binary"
    formula: ClassVar[str] = "mean of (1 - p)^2 + (sum of the other scores)^2"
    citation: ClassVar[str] = "Henderson et al. 2014 (DSTC2)"
    higher_is_better: ClassVar[bool | None] = False
    field: ClassVar[str] = "l2_binary"
