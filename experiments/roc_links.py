"""Does ROC.V2 predict the return, or only as far as it goes with accuracy among the trackers at hand?

ROC.V2 (CA05) is the share of right hypotheses that are accepted where 5 % of the wrong ones are: how well
scores separate right from wrong, whatever the number of either.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from experiments.live_cells import Weights, with_interval
from experiments.selection import Selection
from extrinsic.arrays import Floats

ROC, ACCURACY = "roc.v2_ca05", "accuracy"


class RocCell(msgspec.Struct, frozen=True):
    """A tracker on a dataset of a study or world; value: the return of the policy learned on it."""

    study: str
    dataset: str
    tracker: str
    accuracy: float
    roc: float
    value: float


class RocLink(msgspec.Struct, frozen=True):
    """Pearson's r of ROC.V2 within datasets, with a 95 % interval over trackers and datasets.

    what: with the `return`, with `accuracy`, or with the return `given` accuracy (a partial correlation).
    """

    study: str
    what: str
    trackers: int
    r: float
    low: float
    high: float


def roc_links(cells: Sequence[RocCell]) -> list[RocLink]:
    """Of every study."""
    table = Selection(cells)
    return [link for study in table.distinct("study") for link in _links(study, table.where(study=study))]


def _links(study: str, cells: Selection[RocCell]) -> list[RocLink]:
    datasets, trackers = cells.distinct("dataset"), cells.distinct("tracker")
    by_place = {(cell.dataset, cell.tracker): cell for cell in cells.rows}

    def array(name: str) -> Floats:
        return np.array([[getattr(by_place[d, t], name) for t in trackers] for d in datasets])

    roc, accuracy, value = (array(name) for name in ("roc", "accuracy", "value"))
    weights = Weights.draw(trackers, len(datasets))
    with_return, with_accuracy = weights.r(roc, value), weights.r(roc, accuracy)
    both = weights.r(accuracy, value)
    given = (with_return - with_accuracy * both) / np.sqrt((1.0 - with_accuracy**2) * (1.0 - both**2))
    named = {"return": with_return, "accuracy": with_accuracy, "given": given}
    return [RocLink(study, what, len(trackers), *with_interval(drawn)) for what, drawn in named.items()]
