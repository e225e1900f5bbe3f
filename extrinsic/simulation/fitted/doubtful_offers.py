"""Offers that may suit or not: those that leave out what a caller wants, or narrow down what is of no matter.

A search without an area finds a place in some area, and one for cheap places may have missed a better one.
Where labels hold what was truly said, callers show whether they mind: who does speaks of it again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.fitted.coded_acts import VALUE, CodedActs
from extrinsic.simulation.fitted.system_turns import SystemTurns
from extrinsic.simulation.utterance import NOTHING

SHRINKAGE = 5.0
"""Offers with the usual result that are added to those that are doubtful in a concept."""


@dataclass(frozen=True, eq=False)
class MissProbabilities:
    """How often a caller minds, (n_concepts,) of each concept: left_out, that an offer is not for what is
    wanted of it; narrowed, that one is for some value of it that is of no matter; in_vain, that a search for
    such a value found nothing."""

    left_out: Floats
    narrowed: Floats
    in_vain: Floats

    def drawn(self, offered: Ints, refuses: Bools, indifferent: Bools, chance: Chance) -> Bools:
        """(m, n_concepts) what callers would mind about an offer. The same search finds the same.

        offered (m, n_concepts): what was looked for.   refuses (m,): nothing was found.
        indifferent (m, n_concepts): what is of no matter.
        """
        key = np.zeros(len(offered), dtype=np.int64)
        for column in offered.T:
            key = key * np.int64(1_000_003) + column + 2
        position = key[:, None] * np.int64(offered.shape[1]) + np.arange(offered.shape[1])
        narrowed = np.where(refuses[:, None], self.in_vain, self.narrowed)
        probability = np.where(offered == NOTHING, self.left_out * ~indifferent, narrowed * indifferent)
        return np.asarray(chance.uniform_at("minds", 0, position) < probability)


def mentioned_again(answers: CodedActs | None, shape: tuple[int, ...]) -> Bools:
    """(n_turns, n_concepts) what callers truly speak of; nothing where labels (None) do not hold it."""
    mentioned = np.zeros(shape, dtype=bool)
    if answers is not None:
        rows = np.flatnonzero(answers.kind == VALUE)
        mentioned[answers.owner[rows], answers.about[rows]] = True
    return mentioned


def miss_probabilities(
    system: SystemTurns, wrong: Bools, wanted: Bools, indifferent: Bools, mentioned: Bools
) -> MissProbabilities:
    """How often callers mind what is doubtful about offers that are right in everything else.

    wrong, wanted, indifferent, mentioned (n_turns, n_concepts): in what the offer was wrong, what the caller
    wants, what is of no matter, what the answer is about.
    """
    named = system.offered != NOTHING
    surely_wrong = (wrong & named & ~indifferent).any(axis=1)
    offers, refusals = (
        (turns & ~surely_wrong)[:, None] & wanted for turns in (system.offers, system.refuses)
    )
    return MissProbabilities(
        left_out=_shares(offers & ~named & ~indifferent, mentioned),
        narrowed=_shares(offers & named & indifferent, mentioned),
        in_vain=_shares(refusals & named & indifferent, mentioned),
    )


def _shares(doubtful: Bools, mentioned: Bools) -> Floats:
    """(n_concepts,) the share of doubtful offers after which the concept is mentioned, shrunk."""
    n_offers, n_minded = doubtful.sum(axis=0), (doubtful & mentioned).sum(axis=0)
    usual = n_minded.sum() / max(n_offers.sum(), 1)
    return np.asarray((n_minded + SHRINKAGE * usual) / (n_offers + SHRINKAGE))
