"""Evaluation problems: a policy to evaluate, and the logged decisions to evaluate it on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.errors import InputError, Problem, UsageError
from extrinsic.policy.states import States
from extrinsic.policy.transitions import END, Transitions
from extrinsic.value.fitted_play import FittedPlay
from extrinsic.value.live import LivePlay


@dataclass(frozen=True, eq=False)
class EvaluationProblem:
    """The input of estimators.

    transitions: logged decisions that the policy did not learn from.
    target (n, n_actions): the policy's action probabilities at each of them.
    augmented: states with more information than the policy has (beliefs of proxy trackers), for estimators
    that use them; the policy still acts on its own states.
    stage: where it can be played live, if anywhere.   fitted: a world fitted to the logs to play it in.
    """

    transitions: Transitions
    target: Floats
    augmented: States | None = None
    stage: LivePlay | None = None
    fitted: FittedPlay | None = None

    def __post_init__(self) -> None:
        shape = (len(self.transitions), len(self.transitions.actions))
        if self.target.shape != shape:
            raise UsageError(
                "the policy's probabilities have the wrong shape",
                expected=str(shape),
                found=str(self.target.shape),
            )
        if not np.allclose(self.target.sum(axis=1), 1.0) or (self.target < 0).any():
            raise UsageError("the policy's probabilities must be at least 0 and sum to 1")
        if self.augmented is not None and len(self.augmented) != shape[0]:
            raise UsageError(
                "the augmented states are of other decisions",
                expected=str(shape[0]),
                found=str(len(self.augmented)),
            )
        if self.transitions.n_dialogs < 2:
            raise UsageError(
                "a value with an interval needs at least two dialogs", found=str(self.transitions.n_dialogs)
            )

    @property
    def ends(self) -> Bools:
        return np.asarray(self.transitions.next == END)

    @cached_property
    def first(self) -> Ints:
        """(n_dialogs,) the first decision of each dialog."""
        return np.flatnonzero(self.transitions.first)

    def behaviour(self, logged: bool = False) -> EvaluationProblem:
        """The same decisions with the logged policy as the target: probability 1 for the logged actions.

        logged: use its logged probabilities, where there are any.
        """
        probabilities = np.zeros_like(self.target)
        probabilities[np.arange(len(probabilities)), self.transitions.action] = 1.0
        chances = self.transitions.propensities
        if logged and not np.isnan(chances).any():
            probabilities = chances
        return EvaluationProblem(self.transitions, probabilities, self.augmented)

    @cached_property
    def ratios(self) -> Floats:
        """(n,) the probability ratio of the logged action: the policy's over the system's."""
        logged = self.transitions.logged
        bad = ~((logged > 0.0) & (logged <= 1.0))
        if bad.any():
            raise InputError(_propensity_problems(self.transitions, logged, bad))
        return np.asarray(self.target[np.arange(len(logged)), self.transitions.action] / logged)


WITHOUT_PROPENSITIES = (
    "observed, lstd, lstd_behaviour, fqe, lstd_augmented, fqe_augmented, mean_augmented, world, world_mixed "
    "and live need none"
)


def _propensity_problems(transitions: Transitions, logged: Floats, bad: Bools) -> list[Problem]:
    rows = np.flatnonzero(bad)
    problems = [
        Problem(
            "the propensity of the logged act cannot be used",
            session=transitions.sessions[transitions.dialog[row]],
            turn=int(transitions.turn[row]),
            expected="a number above 0, at most 1",
            found="nothing" if np.isnan(logged[row]) else str(logged[row]),
        )
        for row in rows[:20].tolist()
    ]
    summary = f"{len(rows):,} of {len(logged):,} decisions have no usable propensity; {WITHOUT_PROPENSITIES}"
    return [Problem(summary), *problems]
