"""A tracker, and a policy on its beliefs, for one dialog at a time that somebody else conducts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from extrinsic.corpus.acts import Vocabulary
from extrinsic.corpus.domain import Domain, load_domain
from extrinsic.corpus.hypotheses import Fill
from extrinsic.corpus.mentions import predicate_of_turns
from extrinsic.errors import UsageError
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.play import decide
from extrinsic.simulation.single_world import JsonActs, JsonNBest, acts_of_json, nbest_of_json
from extrinsic.simulation.tracked_dialogs import BeliefState, TrackedDialogs, belief_states, mask_of_names
from extrinsic.simulation.world import Policy, View
from extrinsic.trackers.tracking import StepBelief, Tracker

ONLY = np.zeros(1, dtype=np.int64)
"""The one dialog of a session."""


class Session:
    """Tracks one dialog turn by turn, and decides, for a toolkit that owns the loop.

    >>> session = Session("restaurants", TRACKERS.get("focus"), policy)        # doctest: +SKIP
    >>> beliefs = session.hear(system_acts, nbest)                             # doctest: +SKIP
    >>> beliefs.best("food")                                                   # doctest: +SKIP
    ('thai', 0.7)
    >>> session.decide(["request", "confirm"])                                 # doctest: +SKIP
    'confirm'

    The beliefs are those of the same tracker over a stored corpus of the same turns.
    conditions: what is known of the calls in advance, for policies whose state contains it.
    fill: the rule of the reward that the policy was learned for: `filled` of the beliefs follows it.
    seed: for the draws of a policy that draws.
    """

    def __init__(
        self,
        domain: Domain | str,
        tracker: Tracker,
        policy: Policy | None = None,
        *,
        conditions: Mapping[str, str | None] | None = None,
        seed: int = 0,
        fill: Fill | None = None,
    ) -> None:
        self.domain = load_domain(domain) if isinstance(domain, str) else domain
        self.slots, self.requestable = self.domain.slot_names, self.domain.requestable
        self.vocabulary = Vocabulary()
        self.tracker, self.policy, self.seed, self.fill = tracker, policy, seed, fill
        self.conditions = {name: (value,) for name, value in (conditions or {}).items()}
        self._n_dialogs = -1
        self.reset()

    def reset(self) -> None:
        """Begin the next dialog."""
        self._n_dialogs += 1
        self._dialog = TrackedDialogs(self, (self.tracker,), 1, () if self.fill is None else (self.fill,))
        self._belief: StepBelief | None = None

    def hear(self, system_acts: JsonActs, nbest: JsonNBest, restart: bool = False) -> BeliefState:
        """Take in a turn: what the system said and what the recogniser heard, as DSTC's JSON.

        restart: the system forgot everything and began anew.
        """
        system = acts_of_json([system_acts], self.vocabulary)
        heard = nbest_of_json([nbest], self.vocabulary)
        predicate = predicate_of_turns(self.domain, system, self.vocabulary).astype(np.int64)
        self._belief, _ = self._dialog.hear(ONLY, system, heard, np.array([restart]), predicate)
        return belief_states(self._view())[0]

    def decide(self, possible: Iterable[str] | None = None) -> str:
        """The predicate that the policy chooses among the possible ones; None: all but a greeting."""
        if self.policy is None:
            raise UsageError("this session has no policy: Session(domain, tracker, policy)")
        view = self._view()
        chance = Chance.of(self._n_dialogs + 1, "session", self.seed).take(np.array([self._n_dialogs]))
        if possible is None:
            possible = [name for name in self.domain.predicate_names if name not in self.domain.greeting]
        allowed = mask_of_names([possible], self.domain, "the possible acts of this session")
        predicate, _ = decide(self.policy, view.moment(allowed), chance)
        return str(self.domain.predicate_names[int(predicate[0])])

    def _view(self) -> View:
        if self._belief is None:
            raise UsageError("nothing was heard of this dialog yet: hear(system_acts, nbest) comes first")
        return self._dialog.view(ONLY, int(self._dialog.history.turn[0]), self._belief, self.conditions)
