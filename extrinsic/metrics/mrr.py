"""MRR: how far down the list the right value is."""

from typing import ClassVar

from extrinsic.metrics.definition import ItemMean


class MeanReciprocalRank(ItemMean):
    name: ClassVar[str] = "mrr"
    formula: ClassVar[str] = "mean of 1 / rank of the first correct item, 0 if there is none"
    citation: ClassVar[str] = "Williams et al. 2013 (DSTC1); Henderson et al. 2014 (DSTC2)"
    field: ClassVar[str] = "reciprocal_rank"
