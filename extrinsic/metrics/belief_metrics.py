"""Means over the items of a belief tracker, and how right its updates are."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.metrics.belief_items import Items
from extrinsic.metrics.definition import ItemMean, Metric, ratio


class Accuracy(ItemMean):
    name: ClassVar[str] = "accuracy"
    formula: ClassVar[str] = "mean of [top hypothesis is correct]"
    citation: ClassVar[str] = "Williams et al. 2013 (DSTC1); the scorer of DSTC2 calls it acc"
    field: ClassVar[str] = "correct"


class AverageProbability(ItemMean):
    name: ClassVar[str] = "avgp"
    formula: ClassVar[str] = "mean of the score of the highest correct item, 0 if there is none"
    citation: ClassVar[str] = "Williams et al. 2013 (DSTC1); Henderson et al. 2014 (DSTC2)"
    field: ClassVar[str] = "probability"


class MeanReciprocalRank(ItemMean):
    name: ClassVar[str] = "mrr"
    formula: ClassVar[str] = "mean of 1 / rank of the first correct item, 0 if there is none"
    citation: ClassVar[str] = "Williams et al. 2013 (DSTC1); Henderson et al. 2014 (DSTC2)"
    field: ClassVar[str] = "reciprocal_rank"


class NegativeLogProbability(ItemMean):
    name: ClassVar[str] = "neglogp"
    formula: ClassVar[str] = "mean of -log(max(p, 0.0001))"
    citation: ClassVar[str] = "Henderson et al. 2014 (DSTC2)"
    higher_is_better: ClassVar[bool | None] = False
    field: ClassVar[str] = "neglogp"


class L2(ItemMean):
    name: ClassVar[str] = "l2"
    formula: ClassVar[str] = (
        "DSTC1: mean of sqrt(2 (1 - c)^2), c the total score of correct items; "
        "DSTC2: mean of (1 - p)^2 + sum of the squared other scores"
    )
    citation: ClassVar[str] = "Williams et al. 2013 (DSTC1); Henderson et al. 2014 (DSTC2)"
    higher_is_better: ClassVar[bool | None] = False
    field: ClassVar[str] = "l2"


class L2Lee(ItemMean):
    """DSTC1's own `l2` takes all wrong hypotheses together, sqrt 2 (1 - c), so it says what `avgp` says.

    Correct hypotheses stand at one position of the vector, with their total score c. Where none of those
    listed is correct, the correct one is not listed: it has score 0, and its 1 counts in full.
    """

    name: ClassVar[str] = "l2.lee"
    formula: ClassVar[str] = (
        "mean of sqrt((1 - c)^2 + sum of the squared scores of wrong hypotheses, None among them), "
        "c the total score of correct ones, 0 where the correct one is not listed"
    )
    citation: ClassVar[str] = "Lee 2014, section 2.2"
    higher_is_better: ClassVar[bool | None] = False
    field: ClassVar[str] = "l2_lee"


class L2Binary(ItemMean):
    name: ClassVar[str] = "l2.binary"
    formula: ClassVar[str] = "mean of (1 - p)^2 + (sum of the other scores)^2"
    citation: ClassVar[str] = "Henderson et al. 2014 (DSTC2)"
    higher_is_better: ClassVar[bool | None] = False
    field: ClassVar[str] = "l2_binary"


class Brier(ItemMean):
    name: ClassVar[str] = "brier"
    formula: ClassVar[str] = (
        "mean of (1 - c)^2 + sum of the squared scores of wrong hypotheses, None among them, "
        "c the total score of correct ones; in DSTC2 this is `l2`, but for a joint list with a value twice"
    )
    citation: ClassVar[str] = "Brier 1950"
    higher_is_better: ClassVar[bool | None] = False
    field: ClassVar[str] = "brier"


class HypothesisCount(ItemMean):
    name: ClassVar[str] = "hypothesis_count"
    formula: ClassVar[str] = "mean of the number of hypotheses"
    citation: ClassVar[str] = "Williams et al. 2013 (DSTC1)"
    higher_is_better: ClassVar[bool | None] = None
    field: ClassVar[str] = "hypothesis_count"


class NonEmpty(ItemMean):
    name: ClassVar[str] = "nonempty"
    formula: ClassVar[str] = "mean of [number of hypotheses > 0]"
    citation: ClassVar[str] = "Williams et al. 2013 (DSTC1)"
    higher_is_better: ClassVar[bool | None] = None
    field: ClassVar[str] = "nonempty"


CORRECT, INSERTION, SUBSTITUTION, DELETION = range(4)


@dataclass(frozen=True)
class Update(Metric):
    kind: ClassVar[str] = "belief"
    citation: ClassVar[str] = "Higashinaka et al. 2004; Henderson et al. 2014 (DSTC2)"
    other: ClassVar[int]
    """Which count the denominator has besides correct updates and substitutions."""

    def statistics(self, items: Items) -> Floats:
        """(n_dialogs, 4): correct updates, insertions, substitutions, deletions."""
        counts: Floats = items.update_counts
        return counts

    def values(self, totals: Any) -> Floats:
        totals = np.asarray(totals)
        return ratio(
            totals[..., CORRECT], totals[..., CORRECT] + totals[..., SUBSTITUTION] + totals[..., self.other]
        )


class UpdateAccuracy(Update):
    name: ClassVar[str] = "update.acc"
    formula: ClassVar[str] = "correct / (correct + substitutions + deletions)"
    other: ClassVar[int] = DELETION


class UpdatePrecision(Update):
    name: ClassVar[str] = "update.prec"
    formula: ClassVar[str] = "correct / (correct + substitutions + insertions)"
    other: ClassVar[int] = INSERTION
