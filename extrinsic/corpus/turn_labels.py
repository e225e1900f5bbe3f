"""What is right after a turn, for trackers that err on purpose: from labels, or from a caller's goal."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from extrinsic.arrays import Ids, Ints, row_of_each
from extrinsic.corpus.labels import LabelEvents
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.vocabulary import NONE
from extrinsic.errors import UsageError

KnownValues = Sequence[Ids]
"""Per slot the values that there are, as far as it is known."""


@dataclass(frozen=True, eq=False)
class TurnLabels:
    """One turn of each of m dialogs.

    slots: their names.   key (m,): a number that identifies each dialog.   turn (m,): the number of the turn.
    row, slot, value (k,): values that are labelled right at this turn; row: which of the m dialogs.
    lasting: a label holds until the next one for the slot; otherwise the labels of a turn are complete.
    known: per slot the values that there are.
    """

    slots: tuple[str, ...]
    key: npt.NDArray[np.uint64]
    turn: Ints
    row: Ints
    slot: Ints
    value: Ids
    lasting: bool
    known: KnownValues


class CorpusLabels:
    """The labels of a stored corpus, turn by turn."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        labels = corpus.labels
        self.lasting = isinstance(labels, LabelEvents)
        if isinstance(labels, LabelEvents):
            right = np.flatnonzero(labels.correct)
            right = right[np.argsort(labels.turn[right], kind="stable")]
            turn, slot, value = labels.turn[right], labels.slot[right], labels.value[right]
        else:
            turn, slot = np.nonzero(labels.goal != NONE)
            value = labels.goal[turn, slot]
        if not len(turn):
            raise UsageError(
                f"errors cannot be placed in {corpus.dataset!r}: it has no labels that say what is right"
            )
        self.slot, self.value = slot, value
        self.offsets = np.searchsorted(turn, np.arange(corpus.n_turns + 1))
        digests = (hashlib.sha256(session.encode()).digest() for session in corpus.sessions)
        self.keys = np.array([int.from_bytes(digest[:8], "little") for digest in digests], dtype=np.uint64)

    def take(self, dialogs: Ints, turns: Ints) -> TurnLabels:
        """The labels of a turn of each of some dialogs."""
        corpus = self.corpus
        lengths = np.diff(self.offsets)[turns]
        row = np.repeat(np.arange(len(turns)), lengths)
        rows = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        chosen = self.offsets[turns][row] + rows
        return TurnLabels(
            slots=corpus.slots,
            key=self.keys[dialogs],
            turn=turns - corpus.offsets[dialogs],
            row=row,
            slot=self.slot[chosen],
            value=self.value[chosen],
            lasting=self.lasting,
            known=self.known,
        )

    @cached_property
    def known(self) -> KnownValues:
        """The values that were heard or labelled anywhere in the corpus, in order of their text."""
        corpus, evidence = self.corpus, self.corpus.evidence
        slot = row_of_each(evidence.offsets) % evidence.n_slots
        slots, values = np.append(slot, self.slot), np.append(evidence.value, self.value)
        by_text = corpus.vocabulary.text
        return [
            np.array(sorted(np.unique(values[slots == column]).tolist(), key=by_text), dtype=np.int32)
            for column in range(evidence.n_slots)
        ]
