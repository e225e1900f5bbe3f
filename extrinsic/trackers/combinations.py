"""Trackers made of others: tuned, delayed, mixed; some of their parts may learn."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracking import Heard
from extrinsic.trackers.protocol import AnyTracker, BuiltInTracker, LearnedTracker, capped


class Tuned(BuiltInTracker):
    """A rule that hears u'_t(v) = trust u_t(v), 0 where u_t(v) < threshold, and keeps `discount` of its
    memory from turn to turn.

    u_t(v): every score of a turn, for and against v.
    """

    def __init__(
        self, tracker: BuiltInTracker, trust: float = 1.0, threshold: float = 0.0, discount: float = 1.0
    ) -> None:
        self.tracker, self.trust, self.threshold, self.discount = tracker, trust, threshold, discount
        self.planes, self.kind, self.rule = tracker.planes, tracker.kind, tracker.rule
        self.degenerate, self.parts = tracker.degenerate, (tracker,)

    def update(self, memory: Floats, heard: Heard) -> Floats:
        return self.tracker.update(self.discount * memory, self._tuned(heard))

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        return self.tracker.belief(memory, self._tuned(heard))

    def _tuned(self, heard: Heard) -> Heard:
        evidence = heard.evidence
        loud, denied = evidence.informed >= self.threshold, evidence.denied >= self.threshold
        return replace(
            heard,
            evidence=replace(
                evidence,
                informed=self.trust * np.where(loud, evidence.informed, 0.0),
                affirmed=self.trust * np.where(loud, evidence.affirmed, 0.0),
                top=self.trust * np.where(loud, evidence.top, 0.0),
                rank=np.where(loud, evidence.rank, -1),
                denied=self.trust * np.where(denied, evidence.denied, 0.0),
                rejected=self.trust * np.where(denied, evidence.rejected, 0.0),
            ),
        )


class Delayed(BuiltInTracker):
    """q_t(v) = b_{t-k}(v), k = `turns`; nothing is believed in the first k turns.

    Memory: the tracker's, and its last k + 1 beliefs, latest first.
    """

    def __init__(self, tracker: BuiltInTracker, turns: int) -> None:
        self.tracker, self.turns = tracker, turns
        self.planes, self.kind = tracker.planes + turns + 1, tracker.kind
        self.rule, self.degenerate, self.parts = tracker.rule, tracker.degenerate, (tracker,)

    def update(self, memory: Floats, heard: Heard) -> Floats:
        own, beliefs = np.split(memory, [self.tracker.planes])
        after = self.tracker.update(own, heard)
        return np.concatenate([after, self.tracker.belief(after, heard)[None], beliefs[:-1]])

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        return np.asarray(memory[-1])


class Mixture(BuiltInTracker):
    """b(v) = w b_1(v) + (1 - w) b_2(v), with the weight w of the first; each keeps its own memory."""

    def __init__(self, first: BuiltInTracker, second: BuiltInTracker, weight: float) -> None:
        self.first, self.second, self.weight = first, second, weight
        self.planes, self.rule, self.parts = first.planes + second.planes, first.rule, (first, second)

    def update(self, memory: Floats, heard: Heard) -> Floats:
        own, other = np.split(memory, [self.first.planes])
        return np.concatenate([self.first.update(own, heard), self.second.update(other, heard)])

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        own, other = np.split(memory, [self.first.planes])
        first, second = self.first.belief(own, heard), self.second.belief(other, heard)
        return capped(self.weight * first + (1.0 - self.weight) * second)


Making = Callable[..., BuiltInTracker]
"""Makes a tracker of others that are ready to run."""


class Composed(LearnedTracker):
    """A tracker made of others once those that learn have learned."""

    def __init__(self, make: Making, parts: tuple[AnyTracker, ...]) -> None:
        self.make, self.parts = make, parts
        self.rule = parts[0].rule
        self.degenerate = all(part.degenerate for part in parts)

    def fit(self, corpora: Sequence[Corpus]) -> BuiltInTracker:
        ready = [part.fit(corpora) if isinstance(part, LearnedTracker) else part for part in self.parts]
        return self.make(*ready)


def composed(make: Making, *parts: AnyTracker) -> AnyTracker:
    learns = any(isinstance(part, LearnedTracker) for part in parts)
    return Composed(make, parts) if learns else make(*parts)
