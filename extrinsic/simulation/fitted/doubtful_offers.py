"""Offers that may suit or not: those that leave out what a caller wants, or narrow down what is of no matter.

A search without an area finds a place in some area, and one for cheap places may have missed a better one.
Callers show whether they mind: who does speaks of it again, by labels of what was truly said, or else by what
was heard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.fitted.coded_acts import VALUE, CodedActs
from extrinsic.simulation.fitted.system_turns import SystemTurns, search_keys
from extrinsic.simulation.utterance import NOTHING

SHRINKAGE = 5.0
"""Offers with the usual result that are added to those that are doubtful in a concept."""

CLEARLY = 0.25
"""Callers speak again of what suits them, too: who minds does so oftener, by this share of the offers."""


@dataclass(frozen=True, eq=False)
class MissProbabilities:
    """How often a caller minds, (n_concepts,) of each concept: left_out, that an offer is not for what is
    wanted of it; narrowed, that one is for some value of it that is of no matter; in_vain, that a search for
    such a value found nothing. 0 where they do not speak of it clearly oftener than otherwise."""

    left_out: Floats
    narrowed: Floats
    in_vain: Floats

    def drawn(self, offered: Ints, refuses: Bools, indifferent: Bools, chance: Chance) -> Bools:
        """(m, n_concepts) what callers would mind about an offer. The same search finds the same.

        offered (m, n_concepts): what was looked for.   refuses (m,): nothing was found.
        indifferent (m, n_concepts): what is of no matter.
        """
        n_concepts = offered.shape[1]
        position = search_keys(offered)[:, None] * np.int64(n_concepts) + np.arange(n_concepts)
        narrowed = np.where(refuses[:, None], self.in_vain, self.narrowed)
        probability = np.where(offered == NOTHING, self.left_out * ~indifferent, narrowed * indifferent)
        return np.asarray(chance.uniform_at("minds", 0, position) < probability)


def mentioned_by(answers: CodedActs, shape: tuple[int, ...]) -> Bools:
    """(n_turns, n_concepts) what callers truly speak of."""
    mentioned = np.zeros(shape, dtype=bool)
    rows = np.flatnonzero(answers.kind == VALUE)
    mentioned[answers.owner[rows], answers.about[rows]] = True
    return mentioned


@dataclass(frozen=True, eq=False)
class JudgedOffers:
    """Turns of a log that present a result, or say that there is none.

    right, wanted, indifferent, mentioned (n_turns, n_concepts): what is looked for and labelled as right,
    what the caller wants, what is of no matter, what the answer is about.
    """

    system: SystemTurns
    right: Bools
    wanted: Bools
    indifferent: Bools
    mentioned: Bools

    @staticmethod
    def joined(parts: Sequence[JudgedOffers]) -> JudgedOffers:
        return JudgedOffers(
            SystemTurns.joined([part.system for part in parts]),
            *(
                np.concatenate([getattr(part, name) for part in parts])
                for name in ("right", "wanted", "indifferent", "mentioned")
            ),
        )

    def minded(self, misses: MissProbabilities) -> Bools:
        """(n_turns, n_concepts) what callers mention that may be minded: of the rest they just speak."""
        named = self.system.offered != NOTHING
        narrowed = np.where(self.system.refuses[:, None], misses.in_vain > 0.0, misses.narrowed > 0.0)
        return np.asarray(self.mentioned & np.where(named, narrowed, misses.left_out > 0.0))


def miss_probabilities(judged: JudgedOffers) -> MissProbabilities:
    """How often callers mind what is doubtful about offers that are right in everything else."""
    system, indifferent = judged.system, judged.indifferent
    named = system.offered != NOTHING
    surely_wrong = (named & judged.wanted & ~indifferent & ~judged.right).any(axis=1)
    offers, refusals = (
        (turns & ~surely_wrong)[:, None] & judged.wanted for turns in (system.offers, system.refuses)
    )
    usual = _shares(offers & named & ~indifferent, judged.mentioned)

    def clearly(doubtful: Bools) -> Floats:
        share = _shares(doubtful, judged.mentioned)
        return np.where(share - usual > CLEARLY, share, 0.0)

    return MissProbabilities(
        left_out=clearly(offers & ~named & ~indifferent),
        narrowed=clearly(offers & named & indifferent),
        in_vain=clearly(refusals & named & indifferent),
    )


def _shares(turns: Bools, mentioned: Bools) -> Floats:
    """(n_concepts,) the share of the turns after which the concept is mentioned, shrunk to that of all."""
    n_turns, n_mentioned = turns.sum(axis=0), (turns & mentioned).sum(axis=0)
    usual = n_mentioned.sum() / max(n_turns.sum(), 1)
    return np.asarray((n_mentioned + SHRINKAGE * usual) / (n_turns + SHRINKAGE))
