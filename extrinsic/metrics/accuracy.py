"""Accuracy: how often the best hypothesis is right."""

from typing import ClassVar

from extrinsic.metrics.definition import ItemMean


class Accuracy(ItemMean):
    name: ClassVar[str] = "accuracy"
    formula: ClassVar[str] = "mean of [top hypothesis is correct]"
    citation: ClassVar[str] = "Williams et al. 2013 (DSTC1); the scorer of DSTC2 calls it acc"
    field: ClassVar[str] = "correct"
