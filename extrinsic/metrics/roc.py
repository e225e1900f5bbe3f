"""ROC metrics: how well the score of the top hypothesis separates right ones from wrong ones.

TA, FA, TR, FR: right and wrong top hypotheses accepted and rejected at a threshold. A metric consists of a
condition and the value at the first threshold that meets it.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.metrics.belief_items import Items
from extrinsic.metrics.definition import Metric
from extrinsic.metrics.roc_curves import ACCEPTED, WRONG, Condition, Points, Totals


def largest_share(level: float, total: Any) -> Floats:
    """(...) the largest whole numbers whose shares of totals, as rounded, are at most a level; -1 of 0."""
    near = np.floor(level * total)
    largest = near + ((near + 1.0) / total <= level) - (near / total > level)
    return np.asarray(np.where(total > 0, largest, -1.0))


EQUAL_ERRORS = Condition(ACCEPTED, lambda right, total: right)
"""FR >= FA, and so TA + FA <= TA + FR. By DSTC2's rule no point meets it when every item is wrong."""


def few_false_accepts(level: float) -> Condition:
    """FA / N <= level."""
    return Condition(WRONG, lambda right, total: largest_share(level, total))


def low_false_accept_rate(level: float) -> Condition:
    """FA / (FA + TR) <= level; not met when no item is wrong (0 / 0)."""
    return Condition(WRONG, lambda right, total: largest_share(level, total - right))


@dataclass(frozen=True)
class Roc(Metric):
    kind: ClassVar[str] = "belief"
    citation: ClassVar[str] = "Williams et al. 2013 (DSTC1); Henderson et al. 2014 (DSTC2)"
    condition: ClassVar[Condition]

    def statistics(self, items: Items) -> Any:
        """The scores of the items, which sum and multiply as an (n_dialogs, n_items) array would."""
        return items.roc

    def values(self, totals: Totals) -> Floats:
        # 0 / 0 is NaN (undefined), both in conditions and in values.
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.read(totals.first(self.condition)))

    @abstractmethod
    def read(self, points: Points) -> Any:
        """The value at each point; NaN where it is undefined."""


class EqualErrorRate(Roc):
    name: ClassVar[str] = "roc.v1_eer"
    formula: ClassVar[str] = "(FA + FR) / N at the first threshold with FR >= FA"
    higher_is_better: ClassVar[bool | None] = False
    condition: ClassVar[Condition] = EQUAL_ERRORS

    def read(self, points: Points) -> Any:
        return (points.false_accept + points.false_reject) / points.total


class EqualErrorRateLee(Roc):
    name: ClassVar[str] = "roc.v1_eer_lee"
    formula: ClassVar[str] = "FA / N at the first threshold with FR >= FA"
    citation: ClassVar[str] = "Lee 2014"
    higher_is_better: ClassVar[bool | None] = False
    condition: ClassVar[Condition] = EQUAL_ERRORS

    def read(self, points: Points) -> Any:
        return points.false_accept / points.total


@dataclass(frozen=True)
class AcceptsAt(Roc):
    """Correct accepts where false accepts fall to a level, as shares of all items (version 1)."""

    formula: ClassVar[str] = "TA / N at the first threshold with FA / N <= level"

    def read(self, points: Points) -> Any:
        return points.true_accept / points.total


@dataclass(frozen=True)
class RateAt(Roc):
    """The true-accept rate where the false-accept rate falls to a level (version 2).

    Undefined when no item is right (0 / 0) or none is wrong (no point meets the condition).
    """

    formula: ClassVar[str] = "TA / (TA + FR) at the first threshold with FA / (FA + TR) <= level"

    def read(self, points: Points) -> Any:
        return points.true_accept / points.right


def _at_level(
    base: type[Roc], condition: Callable[[float], Condition], version: int, percent: int
) -> type[Roc]:
    name = f"roc.v{version}_ca{percent:02d}"
    contents = {"name": name, "condition": condition(percent / 100)}
    return type(f"{base.__name__}{percent:02d}", (base,), contents)


LEVELS = (5, 10, 20)
V1_CA05, V1_CA10, V1_CA20 = (_at_level(AcceptsAt, few_false_accepts, 1, percent) for percent in LEVELS)
V2_CA05, V2_CA10, V2_CA20 = (_at_level(RateAt, low_false_accept_rate, 2, percent) for percent in LEVELS)
