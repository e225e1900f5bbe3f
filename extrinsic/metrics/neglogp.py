"""Negative log probability of the right value (DSTC2)."""

from typing import ClassVar

from extrinsic.metrics.definition import ItemMean


class NegativeLogProbability(ItemMean):
    name: ClassVar[str] = "neglogp"
    formula: ClassVar[str] = "mean of -log(max(p, 0.0001))"
    citation: ClassVar[str] = "Henderson et al. 2014 (DSTC2)"
    higher_is_better: ClassVar[bool | None] = False
    field: ClassVar[str] = "neglogp"
