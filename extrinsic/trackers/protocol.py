"""What a tracker is to the rest of the package: how it tracks, and what kind of thing it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from extrinsic.arrays import Floats
from extrinsic.corpus.candidates import Heard
from extrinsic.corpus.model import Corpus
from extrinsic.trackers.shares import capped

Rule = Literal["focus", "baseline"]
"""Which of the second challenge's own two trackers one follows in what is not about single slots."""


class BuiltInTracker(ABC):
    """A tracker for any corpus with N-best lists; one file each, registered by its name.

    kind:       rule | bayes | learned.
    degenerate: it forgets what it must not; a correlation can rest on such a tracker alone.
    recalibrated_from: the tracker whose beliefs these are with other scores, in the same order.
    rule:       which of the challenge's trackers it follows in what is not about single slots.
    planes:     how many numbers it keeps about a candidate.
    """

    kind: ClassVar[str] = "rule"
    rule: ClassVar[Rule] = "focus"
    degenerate: bool = False
    recalibrated_from: str | None = None
    planes: int = 1

    @abstractmethod
    def update(self, memory: Floats, heard: Heard) -> Floats:
        """(planes, m, n_slots, width) the memory after a turn, of the memory before it."""

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        """(m, n_slots, width) the scores after the turn."""
        return capped(memory[0])


class LearnedTracker(ABC):
    """A tracker that has to see labelled dialogs first."""

    kind: ClassVar[str] = "learned"
    rule: ClassVar[Rule] = "focus"
    degenerate: bool = False
    recalibrated_from: str | None = None

    @abstractmethod
    def fit(self, corpora: Sequence[Corpus]) -> BuiltInTracker:
        """The tracker that these dialogs teach."""


AnyTracker = BuiltInTracker | LearnedTracker


def flags_of(tracker: Any) -> dict[str, Any]:
    """What tables and studies say about a tracker beside its name."""
    return {
        "kind": tracker.kind,
        "degenerate": tracker.degenerate,
        "recalibrated_from": tracker.recalibrated_from,
    }
