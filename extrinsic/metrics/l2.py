"""L2: the distance between the scores and the ideal scores."""

from typing import ClassVar

from extrinsic.metrics.definition import ItemMean


class L2(ItemMean):
    name: ClassVar[str] = "l2"
    formula: ClassVar[str] = (
        "DSTC1: mean of sqrt(2 (1 - c)^2), c the total score of correct items; "
        "DSTC2: mean of (1 - p)^2 + sum of the squared other scores"
    )
    citation: ClassVar[str] = "Williams et al. 2013 (DSTC1); Henderson et al. 2014 (DSTC2)"
    higher_is_better: ClassVar[bool | None] = False
    field: ClassVar[str] = "l2"
