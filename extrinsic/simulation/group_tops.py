"""The best value of every slot group, and what counts as filled: what the system assumes and may offer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Columns, Floats, Ids, Ints
from extrinsic.corpus.acts import NONE
from extrinsic.corpus.domain import Domain
from extrinsic.corpus.hypotheses import Beliefs, Fill, RankingRule
from extrinsic.trackers.tracking import BeliefRows, StepBelief


@dataclass(frozen=True, eq=False)
class GroupTops(Columns):
    """The best value of each group over all of its slots.

    slot (m, n_groups): the column.   value (m, n_groups): NONE where there is none.   score (m, n_groups).
    """

    slot: Ints
    value: Ids
    score: Floats


def group_tops(domain: Domain, slots: tuple[str, ...], belief: StepBelief) -> GroupTops:
    """(m, n_groups) the best hypothesis of each group of the domain; of equals the first."""
    return _best_slots(domain.group_columns(slots), *best_values(belief))


def best_values(belief: StepBelief) -> tuple[Ids, Floats]:
    """(m, n_slots) the value of the best hypothesis of each slot, NONE where there is none, and its score."""
    best = belief.score.argmax(axis=2)[..., None]
    score = np.take_along_axis(belief.score, best, axis=2)[..., 0]
    value = np.take_along_axis(belief.value, best, axis=2)[..., 0]
    return np.where(score > 0.0, value, NONE).astype(np.int32), score


def _best_slots(columns: Sequence[Sequence[int]], value: Ids, score: Floats) -> GroupTops:
    """Of the values (m, n_slots) of each group the one with the best score (m, n_slots)."""
    slot = np.stack([np.array(group)[score[:, group].argmax(axis=1)] for group in columns], axis=1)
    return GroupTops(slot, np.take_along_axis(value, slot, axis=1), np.take_along_axis(score, slot, axis=1))


@dataclass(frozen=True, eq=False)
class FilledValues(Columns):
    """What counts as filled by a rule: all that a system may offer.

    value (m, n_slots): NONE where empty.   groups: of each group the filled slot with the best value.
    """

    value: Ids
    groups: GroupTops


def filled_values(
    domain: Domain,
    slots: tuple[str, ...],
    belief: StepBelief,
    rank: RankingRule,
    fills: Sequence[Fill],
    rule: Ints,
) -> FilledValues:
    """The values that fill the slots and groups of m dialogs after a turn; rule (m,): by which of the rules.

    rank: of the conventions by which the dialogs are logged: a reward then judges the same values in the log,
    to the last bit.
    """
    shape = belief.score.shape[:2]
    rows = BeliefRows()
    rows.add(np.arange(shape[0]), belief)
    given = rows.hypotheses(*shape)
    ranking = rank(given.offsets, given.score)
    ranked = np.full(len(ranking.source), NONE, dtype=np.int32)
    ranked[~ranking.none] = given.value[ranking.source[~ranking.none]]
    beliefs = Beliefs(ranking.offsets, ranked, ranking.score, np.zeros(len(ranked), dtype=bool))
    value, score = np.empty(shape, dtype=np.int32), np.empty(shape)
    for fill in set(fills):
        own = np.array([other == fill for other in fills])[rule]
        of_items, score_of_items = fill.filled(beliefs)
        value[own], score[own] = of_items.reshape(shape)[own], score_of_items.reshape(shape)[own]
    return FilledValues(value, _best_slots(domain.group_columns(slots), value, score))
