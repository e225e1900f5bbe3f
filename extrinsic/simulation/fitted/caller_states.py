"""What has happened to callers so far: what they told, whether they are content, how worn they are.

The same bookkeeping runs over logged dialogs, where labels judge what the system said, and over played ones,
where the goals do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.domain import Domain
from extrinsic.simulation.fitted.logged_values import LoggedValues
from extrinsic.simulation.fitted.system_turns import Claims, SystemTurns
from extrinsic.simulation.utterance import NOTHING

ANNOYANCES = ("wrong confirmation", "wrong implicit confirmation", "wrong offer", "repetition", "turn")
"""What callers who are not content count."""

NO_CLAIM, RIGHT_CLAIM, WRONG_CLAIM, VERY_WRONG_CLAIM, REFUSED, TURNS_AWAY = range(6)
"""Whether what the system said was right; very wrong: an offer with two or more wrong values. Refused: what
the caller truly wants does not exist; turns away: and the caller now looks for something else."""

REACTED_TO = ("right claim", "wrong claim", "refusal", "something presented", "fact told", "question")
"""What the system just did, as far as it makes callers hang up or stay."""

NOT_WANTED, WANTED, ANY_WILL_DO, WRONG_OFFER, WRONG_IF_MINDED, LEFT_OUT = range(1, 7)
"""Whether what was asked for is wanted. Of wrong offers: wrong in what is of no matter, wrong in what
matters, or right in all that they name."""

MOST_UNTOLD = 2
PATTERN_CONCEPTS = 6
"""How many concepts the pattern of wishes distinguishes."""

FEATURES = ("ends", "predicate", "claim", "about", "asked", "wants asked", "content", "untold", "pattern")
"""What a context consists of."""


@dataclass(frozen=True, eq=False)
class Contexts:
    """What m callers answer to; table (m, len(FEATURES)) whole numbers, `ends` still 0.

    about, asked (m,): the concept confirmed and the one asked for.   wrong (m, n_concepts): offered wrongly.
    now (m, len(REACTED_TO)): what the system just did.
    """

    table: Ints
    about: Ints
    asked: Ints
    wrong: Bools
    now: Bools


class CallerStates:
    """The state of n callers.

    wanted, told (n, n_concepts): what they want, and what they have been heard to say.
    indifferent (n, n_concepts): where any value will do. Who has no preference says so when asked.
    unasked (n_concepts,): what the system never asks for.
    wishes, informed (n, n_requestable): the facts they want to know, and those they were told.
    content, served (n,): the last offer was right; the caller has had all that was wanted.
    worn (n, len(ANNOYANCES)): what has annoyed them while they were not content.
    """

    def __init__(
        self,
        domain: Domain,
        values: LoggedValues,
        unasked: Bools,
        wanted: Bools,
        indifferent: Bools,
        wishes: Bools,
    ) -> None:
        self.domain, self.values, self.unasked = domain, values, unasked
        self.wanted, self.indifferent, self.wishes = wanted.copy(), indifferent.copy(), wishes
        n_callers = len(wanted)
        self.told: Bools = np.zeros_like(wanted)
        self.informed: Bools = np.zeros_like(wishes)
        self.content: Bools = np.zeros(n_callers, dtype=bool)
        self.offered: Bools = np.zeros(n_callers, dtype=bool)
        self.worn: Floats = np.zeros((n_callers, len(ANNOYANCES)))

    @property
    def served(self) -> Bools:
        """(n,) whether a right offer was made, and all that the caller wanted to know was told."""
        return np.asarray(self.offered & (self.informed | ~self.wishes).all(axis=1))

    def wishes_left(self, callers: Ints) -> Bools:
        """(m,) whether there is something that a caller still wants to know."""
        return np.asarray((self.wishes[callers] & ~self.informed[callers]).any(axis=1))

    def take_in(
        self, callers: Ints, said: SystemTurns, claims: Claims, repeated: Bools, changes: Bools
    ) -> Contexts:
        """The system says something to the chosen callers.

        repeated (m,): the very same as before.   changes (m,): the caller gives up a value for another one.
        """
        wrong_offer = said.offers & claims.offered.any(axis=1)
        right_offer = said.offers & ~wrong_offer
        shown = said.offers | said.refuses
        self.content[callers] = np.where(shown, right_offer, self.content[callers])
        self.offered[callers] |= right_offer
        self.informed[callers] |= said.tells & self.content[callers][:, None]
        events = [claims.explicit, claims.implicit, wrong_offer, repeated, np.ones_like(repeated)]
        content = self.content[callers]
        self.worn[callers] += np.stack(events, axis=1) * ~content[:, None]
        return self._contexts(callers, said, claims, changes)

    def change(self, callers: Ints, moves: Bools) -> None:
        """moves (m, n_concepts): of what the callers now want another value, which is not told yet."""
        self.wanted[callers] |= moves
        self.told[callers] &= ~moves

    def hear(self, callers: Ints, mentioned: Bools) -> None:
        """mentioned (m, n_concepts): what the best hypothesis of each list is about."""
        self.told[callers] |= mentioned

    def _contexts(self, callers: Ints, said: SystemTurns, claims: Claims, changes: Bools) -> Contexts:
        wanted, content = self.wanted[callers], self.content[callers]
        rows = np.arange(len(callers))
        n_wrong = claims.offered.sum(axis=1) + claims.explicit + claims.implicit
        confirmed = (said.explicit != NOTHING) | (said.implicit != NOTHING)
        claim = np.where(confirmed | said.offers | said.refuses, RIGHT_CLAIM, NO_CLAIM)
        claim = np.where(n_wrong > 0, np.where(n_wrong > 1, VERY_WRONG_CLAIM, WRONG_CLAIM), claim)
        refused = said.refuses & (claim == RIGHT_CLAIM)
        claim = np.where(refused, np.where(changes, TURNS_AWAY, REFUSED), claim)
        asks = said.asked != NOTHING
        plain = ~confirmed & ~asks
        indifferent = self.indifferent[callers]
        cares = wanted & ~indifferent
        still = cares & ~self.told[callers]
        untold = np.minimum(still.sum(axis=1), MOST_UNTOLD) * ~content
        # Somebody who wants what the system never asks for may say so at any turn.
        unasked = (still & self.unasked).any(axis=1)
        greets = np.isin(said.predicate, self._greeting)
        # Any value will do: heard in other words, and better or worse.
        kind = np.where(wanted, np.where(indifferent, ANY_WILL_DO, WANTED), NOT_WANTED)
        wants_asked = np.where(asks, kind[rows, np.maximum(said.asked, 0)], 0)
        for predicate, concepts in self._instead:
            # Who wants another time does not want the next bus.
            wants_instead = np.where(wanted[:, concepts].any(axis=1), WANTED, NOT_WANTED)
            wants_asked = np.where(~asks & (said.predicate == predicate), wants_instead, wants_asked)
        # Of a wrong offer, whether it is only wrong in what does not matter to the caller.
        any_wrong = ~asks & claims.offered.any(axis=1)
        matters = (claims.offered & ~indifferent).any(axis=1)
        kind_of_offer = np.where(matters, WRONG_IF_MINDED, WRONG_OFFER)
        named_wrong = (claims.offered & (said.offered != NOTHING)).any(axis=1)
        kind_of_offer = np.where(named_wrong, kind_of_offer, LEFT_OUT)
        wants_asked = np.where(any_wrong, kind_of_offer, wants_asked)
        state = np.where(content, 1 + self.wishes_left(callers), 0)
        about = self._about(said)
        table = np.stack(
            [
                np.zeros_like(claim),
                said.predicate + 1,
                claim,
                about + 1,
                said.asked + 1,
                wants_asked,
                np.where(plain, state, 0),
                np.where(plain, untold, unasked),
                np.where(greets, 1 + cares[:, :PATTERN_CONCEPTS] @ (1 << np.arange(self._n_bits)), 0),
            ],
            axis=1,
        )
        shown = said.offers | said.refuses
        now = [claim == RIGHT_CLAIM, n_wrong > 0, refused, shown, said.tells.any(axis=1) & ~shown, asks]
        return Contexts(table, about, said.asked, claims.offered, np.stack(now, axis=1))

    def _about(self, said: SystemTurns) -> Ints:
        number = np.where(said.explicit != NOTHING, said.explicit, said.implicit)
        return np.where(number == NOTHING, NOTHING, self.values.concept[number])

    @property
    def _n_bits(self) -> int:
        return min(int(self.wanted.shape[1]), PATTERN_CONCEPTS)

    @cached_property
    def _instead(self) -> list[tuple[int, list[int]]]:
        """Predicates that, if granted, make concepts needless; and these concepts."""
        pairs: dict[int, list[int]] = {}
        for concept, group in enumerate(self.domain.groups):
            if group in self.domain.required_unless:
                number = self.domain.predicate_names.index(self.domain.required_unless[group])
                pairs.setdefault(number, []).append(concept)
        return list(pairs.items())

    @property
    def _greeting(self) -> list[int]:
        return [self.domain.predicate_names.index(name) for name in self.domain.greeting]
