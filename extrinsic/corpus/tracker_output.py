"""What a tracker believes at every turn of a corpus."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints, row_of_each, take_rows
from extrinsic.corpus.hypotheses import Beliefs, Hypotheses, JointBeliefs, JointHypotheses
from extrinsic.corpus.joint import (
    choose_joint,
    joint_correctness,
    joint_of_marginals,
    marginals_of_joint,
)
from extrinsic.corpus.labels import GoalLabels, Truth
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.ranking import Ranking, Rule, rank_dstc1, rank_dstc2
from extrinsic.corpus.vocabulary import NONE
from extrinsic.errors import Problem

RULES: dict[str, Rule] = {"dstc1": rank_dstc1, "dstc2": rank_dstc2}


@dataclass(frozen=True, eq=False)
class TrackerOutput:
    """The beliefs of one tracker over one corpus.

    given, given_joint, given_method: what the tracker wrote, in its order.
    beliefs: items are (turn, slot), turn-major.   joint, method: items are turns.
    requested: (n_turns, n_requestable) probability that the caller asks for it (DSTC2).
    problems: repairs and notes made while reading.   signature: a hash of the bytes it was read from.
    """

    name: str
    slots: tuple[str, ...]
    turn_offsets: Ints
    given: Hypotheses
    given_joint: JointHypotheses
    beliefs: Beliefs
    joint: JointBeliefs
    given_method: Hypotheses | None = None
    method: Beliefs | None = None
    requested: Floats | None = None
    problems: tuple[Problem, ...] = ()
    wall_time: float | None = None
    signature: str = ""

    @property
    def n_turns(self) -> int:
        return int(self.turn_offsets[-1])

    def items(self, turns: Ints) -> Ints:
        """The (turn, slot) items of the turns, turn-major."""
        n_slots = len(self.slots)
        return (turns[:, None] * n_slots + np.arange(n_slots)).ravel()

    def take(self, dialogs: Ints | list[int]) -> TrackerOutput:
        """The chosen dialogs, in the order given."""
        offsets, turns = take_rows(self.turn_offsets, np.asarray(dialogs, dtype=np.int64))
        items = self.items(turns)
        return replace(
            self,
            turn_offsets=offsets,
            given=self.given.take(items),
            given_joint=self.given_joint.take(turns),
            beliefs=self.beliefs.take(items),
            joint=self.joint.take(turns),
            given_method=None if self.given_method is None else self.given_method.take(turns),
            method=None if self.method is None else self.method.take(turns),
            requested=None if self.requested is None else self.requested[turns],
        )

    @property
    def turns_with_joint_only(self) -> Bools:
        """(n_turns,) turns where the tracker wrote a joint list but nothing about single slots."""
        n_slots = len(self.slots)
        marginal_counts = np.diff(self.given.offsets[::n_slots])
        return np.asarray((marginal_counts == 0) & (np.diff(self.given_joint.offsets) > 0))

    def marginals(self, corpus: Corpus) -> Beliefs:
        """Beliefs per (turn, slot) for features and rewards.

        Where a turn has only a joint list, the joint is summed out; the official component scores do not
        do that, so `beliefs` does not either.
        """
        alone = self.turns_with_joint_only
        if not alone.any():
            return self.beliefs
        return rank_slots(corpus, marginals_of_joint(self.given_joint, alone, self.given))[0]

    def joint_beliefs(self, corpus: Corpus, most: int = 100) -> JointBeliefs:
        """Joint beliefs for features and rewards: the joint list where the tracker wrote one, else the
        product of its marginals (the `most` likely assignments)."""
        if self.given_joint.given.all():
            return self.joint
        product = joint_of_marginals(self.marginals(corpus), len(self.slots), most)
        return rank_joint(corpus, choose_joint(self.given_joint, product))[0]


def rank_slots(corpus: Corpus, given: Hypotheses) -> tuple[Beliefs, Ranking]:
    """Ranked beliefs of (turn, slot) items, with what is correct filled in from the corpus's labels."""
    ranking = RULES[corpus.format](given.offsets, given.score)
    value = ranked_values(ranking, given)
    correct = slot_correctness(corpus.truth, ranking.offsets, value, len(corpus.slots))
    return Beliefs(ranking.offsets, value, ranking.score, correct), ranking


def slot_correctness(truth: Truth, offsets: Ints, value: Ids, n_slots: int) -> Bools:
    """(h,) whether each value of turn-major (turn, slot) items is right."""
    item = row_of_each(offsets)
    return truth.is_correct(item // n_slots, item % n_slots, value)


def rank_joint(corpus: Corpus, given: JointHypotheses) -> tuple[JointBeliefs, Ranking]:
    """Ranked joint beliefs of turns, with what is correct filled in."""
    ranking = RULES[corpus.format](given.offsets, given.score)
    none = ranking.none
    assignment = np.zeros((len(none), len(corpus.slots)), dtype=np.int32)
    assignment[~none] = given.assignment[ranking.source[~none]]
    correct = joint_correctness(corpus.truth, ranking.offsets, assignment, none)
    return JointBeliefs(ranking.offsets, assignment, none, ranking.score, correct), ranking


def method_beliefs(corpus: Corpus, given: Hypotheses) -> tuple[Beliefs, Ranking]:
    """Ranked beliefs about the method of each turn; None is not the method called "none"."""
    assert isinstance(corpus.labels, GoalLabels)
    ranking = rank_dstc2(given.offsets, given.score)
    value = ranked_values(ranking, given)
    correct = value == corpus.labels.method[row_of_each(ranking.offsets)]
    return Beliefs(ranking.offsets, value, ranking.score, correct), ranking


def ranked_values(ranking: Ranking, given: Hypotheses) -> Ids:
    """(h + n,) the values in their ranked order, NONE where None stands."""
    value = np.full(len(ranking.source), NONE, dtype=np.int32)
    value[~ranking.none] = given.value[ranking.source[~ranking.none]]
    return value
