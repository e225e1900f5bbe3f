"""Update accuracy and precision: are updates right, and are needed updates made? (DSTC2)

With `previous` the top hypothesis one item earlier in the component's sequence within the dialog (None at
its start): a correct update had previous != truth, changed, and is now right; an insertion changed what
was right; a substitution changed one wrong for another; a deletion kept what was wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.metrics.definition import Metric, ratio
from extrinsic.metrics.items.item_tables import Items

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
