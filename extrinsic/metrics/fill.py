"""The bridge between beliefs and states: when does a belief count as a filled slot?

`argmax`: the best hypothesis, None among them. `threshold`: the best value, if its score is above a
threshold (.5). Which rule is taken can decide which metric predicts a policy best, so it is always named.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Ids
from extrinsic.corpus.hypotheses import Beliefs
from extrinsic.corpus.labels import GoalLabels, SpanTruth
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.corpus.vocabulary import NONE
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.metrics.definition import Metric
from extrinsic.metrics.label_schemes import goals

RULES = ("argmax", "threshold")


@dataclass(frozen=True)
class Fill:
    """A fill rule; prints as `argmax`, `threshold` or `threshold:0.7`."""

    rule: str
    threshold: float = 0.5

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise UsageError(f"there is no fill rule {self.rule!r}; {did_you_mean(self.rule, RULES)}")
        if not 0.0 <= self.threshold <= 1.0:
            raise UsageError("the threshold of a fill rule must lie in [0, 1]", found=str(self.threshold))

    def __str__(self) -> str:
        usual = self.rule == "argmax" or self.threshold == 0.5
        return self.rule if usual else f"{self.rule}:{self.threshold}"

    @staticmethod
    def parse(text: str) -> Fill:
        rule, colon, threshold = str(text).partition(":")
        if not colon:
            return Fill(rule)
        if rule == "argmax":
            raise UsageError("the fill rule argmax takes no threshold", found=str(text))
        try:
            return Fill(rule, float(threshold))
        except ValueError:
            raise UsageError("the threshold of a fill rule must be a number", found=repr(threshold)) from None

    def states(self, beliefs: Beliefs) -> Ids:
        """(n_items,) the value that fills each item, NONE where it stays empty."""
        top = beliefs.top
        if self.rule == "argmax":
            return beliefs.value[top]
        # Where None is the best, the best value stands behind it (if there is one at all).
        behind = np.minimum(top + 1, len(beliefs.value) - 1)
        none_first = beliefs.value[top] == NONE
        has_value = np.diff(beliefs.offsets) > 1
        best = np.where(none_first & has_value, behind, top)
        return np.where(beliefs.score[best] > self.threshold, beliefs.value[best], NONE).astype(np.int32)


@dataclass(frozen=True)
class Filled:
    """A state-set metric of a belief tracker, by a fill rule; prints as `fga(0.5, fill=argmax)`."""

    metric: Metric
    fill: Fill

    def __str__(self) -> str:
        name, _, parameters = str(self.metric).partition("(")
        inside = f"{parameters.removesuffix(')')}, " if parameters else ""
        return f"{name}({inside}fill={self.fill})"


def predicted_states(corpus: Corpus, tracker: TrackerOutput, fill: Fill) -> Ids:
    """(n_turns, n_slots) the states a tracker's beliefs amount to."""
    return fill.states(tracker.marginals(corpus)).reshape(corpus.n_turns, len(corpus.slots))


def gold_states(corpus: Corpus, predicted: Ids, scheme: str) -> Ids:
    """(n_turns, n_slots) what the states should be.

    Where several values are right at once (DSTC1), the predicted one is gold if it is among them, else the
    one that became right last.
    """
    if isinstance(corpus.labels, GoalLabels):
        return goals(corpus, corpus.labels, scheme)
    truth = corpus.truth
    assert isinstance(truth, SpanTruth)
    latest = _latest_values(truth, predicted.shape)
    turn, slot = np.indices(predicted.shape)
    right = truth.is_correct(turn.ravel(), slot.ravel(), predicted.ravel()).reshape(predicted.shape)
    return np.where(right, predicted, latest)


def _latest_values(truth: SpanTruth, shape: tuple[int, ...]) -> Ids:
    """(n_turns, n_slots) the right value that became right last, NONE where there is none."""
    latest = np.full(shape, NONE, dtype=np.int32)
    order = np.lexsort((truth.label, truth.start))
    lengths = (truth.end - truth.start)[order]
    begin = np.cumsum(lengths) - lengths
    turn = np.repeat(truth.start[order] - begin, lengths) + np.arange(lengths.sum())
    # Assignment by index keeps the last, and spans come in the order in which they were labelled.
    latest[turn, np.repeat(truth.slot[order], lengths)] = np.repeat(truth.value[order], lengths)
    return latest
