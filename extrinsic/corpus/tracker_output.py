"""What a tracker believes at every turn of a corpus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints, row_of_each, take_rows
from extrinsic.corpus.acts import NONE, Vocabulary
from extrinsic.corpus.corpus import Corpus, ReadDialogs
from extrinsic.corpus.hypotheses import (
    Beliefs,
    Hypotheses,
    JointBeliefs,
    JointHypotheses,
    Ranking,
    joint_correctness,
    marginals_of_joint,
    no_hypotheses,
    no_joint_hypotheses,
)
from extrinsic.corpus.labels import GoalLabels
from extrinsic.errors import Problem, UsageError


@dataclass(frozen=True, eq=False)
class TrackerOutput(ReadDialogs):
    """The beliefs of one tracker over the dialogs of one corpus, made by `build_output`.

    sessions, offsets, slots, vocabulary: those of the corpus.
    given, given_joint, given_method: what the tracker wrote, in its order.
    beliefs: items are (turn, slot), turn-major.   joint, method: items are turns.
    requested: (n_turns, n_requestable) probability that the caller asks for it (DSTC2).
    problems: repairs and notes made while reading.   signature: a hash of its sources.
    """

    name: str
    sessions: tuple[str, ...]
    slots: tuple[str, ...]
    vocabulary: Vocabulary
    offsets: Ints
    given: Hypotheses
    given_joint: JointHypotheses
    given_method: Hypotheses
    beliefs: Beliefs
    joint: JointBeliefs
    method: Beliefs
    requested: Floats
    problems: tuple[Problem, ...] = ()
    wall_time: float | None = None
    signature: str = ""

    def __repr__(self) -> str:
        return f"<TrackerOutput {self.name!r}: {self.n_dialogs:,} dialogs, {self.n_turns:,} turns>"

    def require_about(self, corpus: Corpus) -> None:
        """Raise UsageError unless these are beliefs about the dialogs of the corpus, in its order."""
        if self.sessions != corpus.sessions or not np.array_equal(self.offsets, corpus.offsets):
            raise UsageError(f"the tracker {self.name!r} is not about the dialogs of {corpus.dataset!r}")
        if self.slots != corpus.slots:
            raise UsageError(
                f"the tracker {self.name!r} is about other slots than {corpus.dataset!r}",
                expected=", ".join(corpus.slots),
                found=", ".join(self.slots),
            )
        if self.vocabulary is not corpus.vocabulary:
            raise UsageError(
                f"the tracker {self.name!r} was read against another copy of {corpus.dataset!r}: "
                "keep the two together, or read it again"
            )

    def take(self, dialogs: Ints | list[int]) -> TrackerOutput:
        """The chosen dialogs, in the order given."""
        turns = take_rows(self.offsets, np.asarray(dialogs, dtype=np.int64))[1]
        n_slots = len(self.slots)
        items = (turns[:, None] * n_slots + np.arange(n_slots)).ravel()
        of_turns = ("given_joint", "given_method", "joint", "method", "requested")
        return self.taken(
            dialogs, ("sessions",), of_turns, given=self.given.take(items), beliefs=self.beliefs.take(items)
        )

    @property
    def turns_with_joint_only(self) -> Bools:
        """(n_turns,) turns where the tracker wrote a joint list but nothing about single slots."""
        n_slots = len(self.slots)
        marginal_counts = np.diff(self.given.offsets[::n_slots])
        return np.asarray((marginal_counts == 0) & (np.diff(self.given_joint.offsets) > 0))

    @property
    def joint_only(self) -> bool:
        """Whether most of its turns with any hypothesis have a joint list alone: scores of single slots say
        nothing of such a tracker, since by the challenges' rules its beliefs about them are None."""
        any_slot = np.diff(self.given.offsets[:: len(self.slots)]) > 0
        return bool(self.turns_with_joint_only.sum() > any_slot.sum())

    def marginals(self, corpus: Corpus) -> Beliefs:
        """Beliefs per (turn, slot) for features and rewards.

        Where a turn has only a joint list, the joint is summed out; the official component scores do not
        do that, so `beliefs` does not either.
        """
        alone = self.turns_with_joint_only
        if not alone.any():
            return self.beliefs
        hypotheses = marginals_of_joint(self.given_joint, alone, self.given)
        return _slot_beliefs(
            corpus, hypotheses, corpus.conventions.rank(hypotheses.offsets, hypotheses.score)
        )


@dataclass(frozen=True, eq=False)
class Rankings:
    """How the hypotheses of an output were ranked; readers report repairs from it."""

    slots: Ranking
    joint: Ranking
    method: Ranking


def build_output(
    corpus: Corpus,
    name: str,
    given: Hypotheses,
    joint: JointHypotheses | None = None,
    method: Hypotheses | None = None,
    requested: Floats | None = None,
    wall_time: float | None = None,
    signature: str = "",
) -> tuple[TrackerOutput, Rankings]:
    """Rank a tracker's hypotheses by the corpus's conventions and mark the correct ones.

    given: items are (turn, slot), turn-major.   joint, method, requested: empty where left out.
    """
    joint = no_joint_hypotheses(corpus.n_turns, len(corpus.slots)) if joint is None else joint
    method = no_hypotheses(corpus.n_turns) if method is None else method
    if requested is None:
        requested = np.zeros((corpus.n_turns, len(corpus.requestable)))
    rank = corpus.conventions.rank
    rankings = Rankings(
        rank(given.offsets, given.score), rank(joint.offsets, joint.score), rank(method.offsets, method.score)
    )
    output = TrackerOutput(
        name=name,
        sessions=corpus.sessions,
        slots=corpus.slots,
        vocabulary=corpus.vocabulary,
        offsets=corpus.offsets,
        given=given,
        given_joint=joint,
        given_method=method,
        beliefs=_slot_beliefs(corpus, given, rankings.slots),
        joint=_joint_beliefs(corpus, joint, rankings.joint),
        method=_method_beliefs(corpus, method, rankings.method),
        requested=requested,
        wall_time=wall_time,
        signature=signature,
    )
    return output, rankings


def _slot_beliefs(corpus: Corpus, hypotheses: Hypotheses, ranking: Ranking) -> Beliefs:
    value = _ranked_values(hypotheses, ranking)
    item = row_of_each(ranking.offsets)
    n_slots = len(corpus.slots)
    correct = corpus.truth.is_correct(item // n_slots, item % n_slots, value)
    return Beliefs(ranking.offsets, value, ranking.score, correct)


def _joint_beliefs(corpus: Corpus, hypotheses: JointHypotheses, ranking: Ranking) -> JointBeliefs:
    none = ranking.none
    assignment = np.zeros((len(none), len(corpus.slots)), dtype=np.int32)
    assignment[~none] = hypotheses.assignment[ranking.source[~none]]
    correct = joint_correctness(corpus.truth, ranking.offsets, assignment, none)
    return JointBeliefs(ranking.offsets, assignment, none, ranking.score, correct)


def _method_beliefs(corpus: Corpus, hypotheses: Hypotheses, ranking: Ranking) -> Beliefs:
    """None is not the method called "none"; without method labels nothing is correct."""
    value = _ranked_values(hypotheses, ranking)
    if isinstance(corpus.labels, GoalLabels):
        correct = value == corpus.labels.method[row_of_each(ranking.offsets)]
    else:
        correct = np.zeros(len(value), dtype=bool)
    return Beliefs(ranking.offsets, value, ranking.score, correct)


def _ranked_values(hypotheses: Hypotheses, ranking: Ranking) -> Ids:
    """(h + n,) the values in their ranked order, NONE for the None item."""
    value = np.full(len(ranking.source), NONE, dtype=np.int32)
    value[~ranking.none] = hypotheses.value[ranking.source[~ranking.none]]
    return value
