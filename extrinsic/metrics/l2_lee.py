"""L2 in Lee's words: the Euclidean distance between all scores and the vector of the correct hypothesis."""

from typing import ClassVar

from extrinsic.metrics.definition import ItemMean


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
