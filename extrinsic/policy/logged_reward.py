"""The rewards of the log itself."""

from __future__ import annotations

from dataclasses import dataclass

from extrinsic.arrays import Floats
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import UsageError


@dataclass(frozen=True)
class LoggedReward:
    """The number that the log has at each turn (`reward` of a log of JSON lines), whatever the tracker.

    scale: it is multiplied by this.
    """

    scale: float = 1.0

    def __call__(self, corpus: Corpus, output: TrackerOutput) -> Floats:
        if corpus.rewards is None:
            raise UsageError(
                f"the corpus {corpus.dataset!r} has no rewards of its own",
                expected='a log of JSON lines with "reward" on every line, or another [reward] kind',
            )
        return corpus.rewards * self.scale
