"""Trackers made of others: tuned, delayed, mixed, recalibrated; some of their parts may learn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.corpus import Corpus
from extrinsic.printed_forms import option
from extrinsic.trackers.protocol import AnyTracker, BuiltInTracker, LearnedTracker, capped, steps, total
from extrinsic.trackers.tracking import Heard


def _follow(tracker: BuiltInTracker, other: BuiltInTracker) -> None:
    """A tracker made of another has its properties."""
    tracker.planes, tracker.kind, tracker.rule = other.planes, other.kind, other.rule
    tracker.degenerate, tracker.parts = other.degenerate, (other,)


@dataclass(eq=False)
class Tuned(BuiltInTracker):
    """A rule that hears u'_t(v) = trust u_t(v), 0 where u_t(v) < threshold, and keeps `discount` of its
    memory from turn to turn.

    u_t(v): every score of a turn, for and against v.
    """

    tracker: BuiltInTracker
    trust: Annotated[float, option("share of scores that it believes", steps(0.7, 1.0, 0.02), gt=0.0)] = 1.0
    threshold: Annotated[float, option("scores below this are not heard", steps(0.0, 0.4, 0.05))] = 0.0
    discount: Annotated[float, option("share of its memory kept a turn", steps(0.9, 1.0, 0.01), gt=0.0)] = 1.0

    def __post_init__(self) -> None:
        _follow(self, self.tracker)

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


@dataclass(eq=False)
class Delayed(BuiltInTracker):
    """q_t(v) = b_{t-k}(v), k = `turns`; nothing is believed in the first k turns.

    Memory: the tracker's, and its last k + 1 beliefs, latest first.
    """

    tracker: BuiltInTracker
    turns: Annotated[int, option("how late", (1, 2, 3), ge=1, le=20)]

    def __post_init__(self) -> None:
        _follow(self, self.tracker)
        self.planes += self.turns + 1

    def update(self, memory: Floats, heard: Heard) -> Floats:
        own, beliefs = np.split(memory, [self.tracker.planes])
        after = self.tracker.update(own, heard)
        return np.concatenate([after, self.tracker.belief(after, heard)[None], beliefs[:-1]])

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        return np.asarray(memory[-1])


@dataclass(eq=False)
class Mixture(BuiltInTracker):
    """b(v) = w b_1(v) + (1 - w) b_2(v), with the weight w of the first; each keeps its own memory."""

    first: BuiltInTracker
    second: BuiltInTracker
    weight: Annotated[float, option("of the first", steps(0.1, 0.9, 0.05))]

    def __post_init__(self) -> None:
        self.planes, self.rule = self.first.planes + self.second.planes, self.first.rule
        self.parts = (self.first, self.second)
        self.degenerate = all(part.degenerate for part in self.parts)

    def update(self, memory: Floats, heard: Heard) -> Floats:
        own, other = np.split(memory, [self.first.planes])
        return np.concatenate([self.first.update(own, heard), self.second.update(other, heard)])

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        own, other = np.split(memory, [self.first.planes])
        first, second = self.first.belief(own, heard), self.second.belief(other, heard)
        return capped(self.weight * first + (1.0 - self.weight) * second)


@dataclass(eq=False)
class Recalibrated(BuiltInTracker):
    """q(v) ~ b(v)^(1 / temperature), None included: the order of a belief stays; below 1 is overconfident.

    name: of the tracker, where this one is not made by its printed form.
    """

    tracker: BuiltInTracker
    temperature: Annotated[float, option("b^(1/temperature) with None; below 1: too sure", ge=0.1, le=10.0)]
    name: str | None = None

    def __post_init__(self) -> None:
        _follow(self, self.tracker)
        self.recalibrated_from = self.name

    def update(self, memory: Floats, heard: Heard) -> Floats:
        return self.tracker.update(memory, heard)

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        before, power = self.tracker.belief(memory, heard), 1.0 / self.temperature
        of_none = np.maximum(0.0, 1.0 - total(before))
        after = before**power
        return capped(after / (total(after) + of_none**power))


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
