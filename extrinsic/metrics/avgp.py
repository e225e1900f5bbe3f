"""AvgP: the score of the right value."""

from typing import ClassVar

from extrinsic.metrics.definition import ItemMean


class AverageProbability(ItemMean):
    name: ClassVar[str] = "avgp"
    formula: ClassVar[str] = "mean of the score of the highest correct item, 0 if there is none"
    citation: ClassVar[str] = "Williams et al. 2013 (DSTC1); Henderson et al. 2014 (DSTC2)"
    field: ClassVar[str] = "probability"
