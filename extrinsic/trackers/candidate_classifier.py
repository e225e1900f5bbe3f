"""Learned trackers: a binary classifier says of every candidate whether it is what the caller wants."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints
from extrinsic.corpus.candidates import Heard
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracking import Tracking, turns_in_step
from extrinsic.errors import UsageError
from extrinsic.trackers.candidate_features import FEATURES, PLANES, describe, remember
from extrinsic.trackers.protocol import BuiltInTracker, LearnedTracker
from extrinsic.trackers.shares import capped, total

MOST_ROWS = 20_000
"""Examples that teach a model, taken at even distances from all there are."""

SUREST = 0.999
"""A classifier is never believed to be surer than this, or its odds would be infinite."""


class Model(Protocol):
    """A classifier that was taught."""

    def probability(self, rows: Floats) -> Floats:
        """(r, n_features) -> (r,), each from its own row alone, to the last bit."""
        ...


class Constant:
    """What can be learned from examples that are all alike: their share, with one of each kind added."""

    def __init__(self, right: Bools) -> None:
        self.share = (right.sum() + 1.0) / (len(right) + 2.0)

    def probability(self, rows: Floats) -> Floats:
        return np.full(len(rows), self.share)


class Fitted(BuiltInTracker):
    """b(v) = o(v) / (1 + sum o) with the odds o(v) = p(v) / (1 - p(v)) that the model gives a candidate."""

    kind: ClassVar[str] = "learned"
    planes = len(PLANES)

    def __init__(self, model: Model) -> None:
        self.model = model

    def update(self, memory: Floats, heard: Heard) -> Floats:
        return remember(memory, heard)

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        odds = np.zeros(heard.value.shape)
        places, rows = describe(memory, heard)
        if len(rows):
            probability = np.clip(self.model.probability(rows), 1.0 - SUREST, SUREST)
            odds[places] = probability / (1.0 - probability)
        return capped(odds / (1.0 + total(odds)))


class CandidateClassifier(LearnedTracker):
    """Teaches a model with every candidate of every turn; it is right where the labels say so."""

    def fit(self, corpora: Sequence[Corpus]) -> Fitted:
        from threadpoolctl import threadpool_limits

        examples = [_examples(corpus) for corpus in corpora]
        rows = np.concatenate([rows for rows, _ in examples])
        right = np.concatenate([right for _, right in examples])
        if not len(rows):
            raise UsageError("there is nothing to learn from: no training dialog speaks of any value")
        if len(rows) > MOST_ROWS:
            chosen = np.linspace(0, len(rows) - 1, MOST_ROWS).astype(np.int64)
            rows, right = rows[chosen], right[chosen]
        if right.all() or not right.any():
            return Fitted(Constant(right))
        with threadpool_limits(limits=1):  # how sums are split among threads decides their last bits
            return Fitted(self.teach(rows, right))

    @abstractmethod
    def teach(self, rows: Floats, right: Bools) -> Model:
        """A model taught by (r, n_features) rows and (r,) what is right; both kinds occur."""


class _Recorder(BuiltInTracker):
    """Believes nothing and writes down what there is to see."""

    planes = len(PLANES)

    def __init__(self) -> None:
        self.seen: tuple[Any, Floats] = ((), np.zeros((0, len(FEATURES))))

    def update(self, memory: Floats, heard: Heard) -> Floats:
        return remember(memory, heard)

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        self.seen = describe(memory, heard)
        return np.zeros(heard.value.shape)


def _examples(corpus: Corpus) -> tuple[Floats, Bools]:
    """(r, n_features) the candidates of all turns, and (r,) which are right.

    Dialogs go in order of their ids: what is learned must not depend on where they stand in a list.
    """
    dialogs = np.array(sorted(range(corpus.n_dialogs), key=corpus.sessions.__getitem__))
    recorder = _Recorder()
    tracking = Tracking(recorder, corpus.n_dialogs, len(corpus.slots))
    rows: list[Floats] = []
    turn_of: list[Ints] = []
    slot_of: list[Ints] = []
    value_of: list[Ids] = []
    for active, turns in turns_in_step(corpus.offsets, dialogs):
        step = tracking.step(active, corpus.evidence.take(turns))
        places, seen = recorder.seen
        rows.append(seen)
        turn_of.append(turns[places[0]])
        slot_of.append(places[1])
        value_of.append(step.value[places])
    right = corpus.truth.is_correct(
        np.concatenate(turn_of), np.concatenate(slot_of), np.concatenate(value_of)
    )
    return np.concatenate(rows), right
