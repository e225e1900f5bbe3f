"""The protocol of trackers, and how the scores of a slot are normalised."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.requests import Rule
from extrinsic.trackers.tracking import Heard


def total(scores: Floats) -> Floats:
    """(..., width) -> (..., 1) the sum over the candidates of each slot."""
    return np.asarray(scores.sum(axis=-1, keepdims=True))


def capped(scores: Floats) -> Floats:
    """Scores at least 0, divided by their sum where that is above 1."""
    positive = np.maximum(scores, 0.0)
    return np.asarray(positive / np.maximum(total(positive), 1.0))


def best_only(scores: Floats) -> Floats:
    """The highest score of each slot at its position, 0 elsewhere; of equals the first."""
    best = scores.argmax(axis=-1)[..., None]
    kept = np.zeros_like(scores)
    np.put_along_axis(kept, best, np.take_along_axis(scores, best, axis=-1), axis=-1)
    return kept


def share_out(scores: Floats, whole: Floats) -> Floats:
    """Scores scaled to sum to `whole` (at most 1, one number per slot); unchanged where all are 0."""
    summed = total(scores)
    return capped(whole * scores / np.where(summed > 0.0, summed, 1.0))


def steps(low: float, high: float, step: float) -> tuple[float, ...]:
    """low, low + step, ..., high, as they are printed: the values of an option that a population draws."""
    return tuple(round(low + number * step, 6) for number in range(round((high - low) / step) + 1))


class BuiltInTracker(ABC):
    """A tracker for any corpus with N-best lists; one file each, registered by its name.

    kind:       rule | bayes | learned.
    degenerate: deliberately bad; a single such tracker can cause a whole correlation.
    recalibrated_from: the tracker with the same beliefs in the same order, but other scores.
    rule:       which of the challenge's trackers it follows for joint, method and requests.
    planes:     how many numbers it keeps per candidate.
    parts:      the trackers that it is made of.
    """

    kind: str = "rule"
    rule: Rule = "focus"
    degenerate: bool = False
    recalibrated_from: str | None = None
    planes: int = 1
    parts: tuple[AnyTracker, ...] = ()

    @abstractmethod
    def update(self, memory: Floats, heard: Heard) -> Floats:
        """(planes, m, n_slots, width) the memory after a turn, from the memory before it."""

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        """(m, n_slots, width) the scores after the turn."""
        return capped(memory[0])


class LearnedTracker(ABC):
    """A tracker that is trained on labelled dialogs."""

    kind: str = "learned"
    rule: Rule = "focus"
    degenerate: bool = False
    recalibrated_from: str | None = None
    parts: tuple[AnyTracker, ...] = ()

    @abstractmethod
    def fit(self, corpora: Sequence[Corpus]) -> BuiltInTracker:
        """The tracker trained on these dialogs."""

    def fit_parts(self, corpus: Corpus, parts: Sequence[Ints]) -> list[BuiltInTracker]:
        """The tracker trained on some dialogs of a corpus, once for each of these parts."""
        return [self.fit([corpus.take(dialogs)]) for dialogs in parts]


AnyTracker = BuiltInTracker | LearnedTracker


def all_parts(tracker: AnyTracker) -> list[AnyTracker]:
    """A tracker and all that it is made of."""
    return [tracker, *(part for inner in tracker.parts for part in all_parts(inner))]


def flags_of(tracker: Any) -> dict[str, Any]:
    """The properties of a tracker that tables and studies report besides its name."""
    return {
        "kind": tracker.kind,
        "degenerate": tracker.degenerate,
        "recalibrated_from": tracker.recalibrated_from,
    }
