"""The best value of every slot group: what the system assumes the caller wants."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats, Ids, Ints
from extrinsic.corpus.tracking import StepBelief
from extrinsic.corpus.vocabulary import NONE
from extrinsic.domain import Domain


@dataclass(frozen=True, eq=False)
class GroupTops:
    """The best value of each group over all of its slots.

    slot (m, n_groups): the column.   value (m, n_groups): NONE where there is none.   score (m, n_groups).
    """

    slot: Ints
    value: Ids
    score: Floats


def group_tops(domain: Domain, slots: tuple[str, ...], belief: StepBelief) -> GroupTops:
    """(m, n_groups) the best hypothesis of each group of the domain; of equals the first."""
    best = belief.score.argmax(axis=2)[..., None]
    score = np.take_along_axis(belief.score, best, axis=2)[..., 0]
    value = np.take_along_axis(belief.value, best, axis=2)[..., 0]
    value = np.where(score > 0.0, value, NONE).astype(np.int32)
    columns = domain.group_columns(slots)
    slot = np.stack([np.array(group)[score[:, group].argmax(axis=1)] for group in columns], axis=1)
    return GroupTops(slot, np.take_along_axis(value, slot, axis=1), np.take_along_axis(score, slot, axis=1))
