"""Outcomes as rewards: what a dialog came to, and a price for every decision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.domain import Domain
from extrinsic.errors import InputError, Problem, UsageError, did_you_mean
from extrinsic.policy.reward import is_decision


@dataclass(frozen=True)
class OutcomeReward:
    """`amount` times an outcome at the end of the dialog, and `turn` for each decision.

    outcome: of the corpus, from its labels (DSTC2's `success`), from `outcomes` of its logs, or from the
    world that is played; from 0 to 1.
    """

    outcome: str = "success"
    amount: float = 20.0
    turn: float = -1.0

    def __post_init__(self) -> None:
        if not np.isfinite([self.amount, self.turn]).all():
            raise UsageError("the amounts of a reward must be finite", found=str((self.amount, self.turn)))

    def __call__(self, corpus: Corpus, output: TrackerOutput) -> Floats:
        """(n_turns,) the reward of every turn."""
        if self.outcome not in corpus.outcomes:
            hint = did_you_mean(self.outcome, corpus.outcomes) if corpus.outcomes else "it has none"
            raise UsageError(f"the corpus {corpus.dataset!r} has no outcome {self.outcome!r}; {hint}")
        outcome = np.array(corpus.outcomes[self.outcome])
        missing = np.flatnonzero(~np.isfinite(outcome))
        if len(missing):
            sessions = [corpus.sessions[dialog] for dialog in missing]
            raise InputError(
                Problem(f"the outcome {self.outcome!r} is missing", session=session, expected="a number")
                for session in sessions
            )
        earned = np.where(is_decision(corpus), self.turn, 0.0)
        earned[corpus.offsets[1:] - 1] += self.amount * outcome
        return earned

    def feasible(self, domain: Domain, shortest: int, longest: int) -> tuple[float, float]:
        """The lowest and highest return of a call with that many decisions."""
        costs = (self.turn * shortest, self.turn * longest)
        return min(0.0, self.amount) + min(costs), max(0.0, self.amount) + max(costs)
