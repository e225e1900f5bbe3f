"""Acts and N-best lists from plain Python lists, for worlds that process one dialog at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from extrinsic.arrays import offsets_from_lengths
from extrinsic.corpus.acts import Acts
from extrinsic.corpus.formats.logs import WrittenAct, columns_of_acts
from extrinsic.corpus.nbest import NBest
from extrinsic.corpus.vocabulary import Vocabulary

PlainAct = tuple[str, Sequence[tuple[str, str]]]
"""An act's name and its (slot, value) pairs, e.g. ("inform", [("size", "large")])."""

PlainHypothesis = tuple[float, Sequence[PlainAct]]
"""A score and the acts of a hypothesis."""


def acts_from_lists(owners: Sequence[Sequence[PlainAct]], vocabulary: Vocabulary) -> Acts:
    """The acts of every turn, or of every hypothesis."""
    written = [[WrittenAct(name, list(pairs)) for name, pairs in acts] for acts in owners]
    return columns_of_acts(written, vocabulary)


def nbest_from_lists(lists: Sequence[Sequence[PlainHypothesis]], vocabulary: Vocabulary) -> NBest:
    """The list of every turn, best hypothesis first."""
    hypotheses = [hypothesis for nbest in lists for hypothesis in nbest]
    return NBest(
        offsets_from_lengths([len(nbest) for nbest in lists]),
        np.array([score for score, _ in hypotheses], dtype=np.float64),
        np.zeros(len(hypotheses), dtype=bool),
        acts_from_lists([acts for _, acts in hypotheses], vocabulary),
    )
