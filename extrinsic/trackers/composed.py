"""Trackers made of others, of which some may learn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from extrinsic.corpus.model import Corpus
from extrinsic.trackers.protocol import AnyTracker, BuiltInTracker, LearnedTracker

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
