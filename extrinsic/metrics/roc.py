"""ROC points: how well the score of the top hypothesis tells right ones from wrong ones.

TA, FA, TR, FR: right and wrong top hypotheses accepted and rejected at a threshold.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.metrics.definition import Metric
from extrinsic.metrics.items.curves import Curve, Totals
from extrinsic.metrics.items.tables import Items


@dataclass(frozen=True)
class Roc(Metric):
    kind: ClassVar[str] = "belief"
    citation: ClassVar[str] = "Williams et al. 2013 (DSTC1); Henderson et al. 2014 (DSTC2)"

    def statistics(self, items: Items) -> Any:
        """The scores of the items, which sum and multiply as an (n_dialogs, n_items) array would."""
        return items.roc

    def values(self, totals: Totals) -> Floats:
        return np.array([self.read(curve) for curve in totals.curves]).reshape(totals.shape)

    @abstractmethod
    def read(self, curve: Curve | None) -> float:
        """The value on a curve; NaN where there is none."""


class EqualErrorRate(Roc):
    name: ClassVar[str] = "roc.v1_eer"
    formula: ClassVar[str] = "(FA + FR) / N at the first threshold with FR >= FA"
    higher_is_better: ClassVar[bool | None] = False

    def read(self, curve: Curve | None) -> float:
        if curve is None or curve.equal_error_point is None:
            return np.nan
        at = curve.equal_error_point
        return float((curve.false_accept[at] + curve.false_reject[at]) / curve.total)


class EqualErrorRateLee(Roc):
    name: ClassVar[str] = "roc.v1_eer_lee"
    formula: ClassVar[str] = "FA / N at the first threshold with FR >= FA"
    citation: ClassVar[str] = "Lee 2014"
    higher_is_better: ClassVar[bool | None] = False

    def read(self, curve: Curve | None) -> float:
        if curve is None or curve.equal_error_point is None:
            return np.nan
        return float(curve.false_accept[curve.equal_error_point] / curve.total)


@dataclass(frozen=True)
class AcceptsAt(Roc):
    """Correct accepts where false accepts fall to a level, as shares of all items (version 1)."""

    level: ClassVar[float]
    formula: ClassVar[str] = "TA / N at the first threshold with FA / N <= level"

    def read(self, curve: Curve | None) -> float:
        if curve is None:
            return np.nan
        low = curve.false_accept / curve.total <= self.level
        return float(curve.true_accept[np.argmax(low)] / curve.total) if low.any() else np.nan


@dataclass(frozen=True)
class RateAt(Roc):
    """The true-accept rate where the false-accept rate falls to a level (version 2)."""

    level: ClassVar[float]
    formula: ClassVar[str] = "TA / (TA + FR) at the first threshold with FA / (FA + TR) <= level"

    def read(self, curve: Curve | None) -> float:
        if curve is None or curve.right == 0 or curve.right == curve.total:
            return np.nan
        low = curve.false_accept / (curve.total - curve.right) <= self.level
        return float(curve.true_accept[np.argmax(low)] / curve.right) if low.any() else np.nan


def _at_level(base: type[Roc], version: int, percent: int) -> type[Roc]:
    name = f"roc.v{version}_ca{percent:02d}"
    return type(f"{base.__name__}{percent:02d}", (base,), {"name": name, "level": percent / 100})


V1_CA05, V1_CA10, V1_CA20 = (_at_level(AcceptsAt, 1, percent) for percent in (5, 10, 20))
V2_CA05, V2_CA10, V2_CA20 = (_at_level(RateAt, 2, percent) for percent in (5, 10, 20))
