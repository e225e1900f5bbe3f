"""Least-squares policy iteration on fixed data, with kernels (Lagoudakis & Parr 2003; Lee 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.policy.basis import Basis, with_action
from extrinsic.policy.behaviour import ActionModel, Logged, find_learner
from extrinsic.policy.filter import admit
from extrinsic.policy.kernels import Gaussian
from extrinsic.policy.lstd import Solution, System
from extrinsic.policy.state_actions import StateActions, rows_after
from extrinsic.policy.states import States
from extrinsic.policy.transitions import END, Transitions

IMPROVEMENTS = ("lspi", "one_step")

SAME = 1e-6
"""Two policies are the same when no probability differs by more."""


@dataclass(frozen=True)
class Fit:
    """How learning went.

    kernels: size of the dictionary.   iterations: policies evaluated.   converged: the last one was the one
    before (of one step: always).   cycle: the length of the cycle it ended in, 0 for none.
    condition: of the Gram matrix with the ridge.
    largest_q: largest |Q| of the training states.   feasible: whether Q stays in the range of returns.
    zero_kernel: share of the training states' admitted actions that no kernel speaks of.
    largest_residual: how far the farthest point lies from the span of the dictionary, squared; below nu.
    """

    kernels: int
    iterations: int
    converged: bool
    cycle: int
    condition: float
    largest_q: float
    feasible: bool | None
    zero_kernel: float
    largest_residual: float


class KernelLSPI(BaseEstimator):  # type: ignore[misc]
    """A greedy policy on a Q function made of Gaussian x delta kernels.

    height, width: of the Gaussian.   nu: of the sparsification.   largest: kernels of one block at most.
    ridge, gamma: of LSTD.   prior: what Q is where no kernel speaks: `mean` return, or a number.
    threshold: of the filter.   behaviour: logistic | svm | logged, where its probabilities come from
    (behaviour_width: of their kernel, which has to tell more than Q has).
    improvement: `lspi` goes on until the policy stays, `one_step` improves the behaviour policy once.
    temperature: 0 is greedy; above, actions are drawn by exp(Q / temperature) among those admitted.
    """

    def __init__(
        self,
        height: float = 4.0,
        width: float = 2.0,
        nu: float = 1.0,
        ridge: float = 100.0,
        gamma: float = 1.0,
        prior: str | float = "mean",
        threshold: float = 0.1,
        behaviour: str = "logistic",
        behaviour_width: float = 0.7,
        improvement: str = "lspi",
        iterations: int = 30,
        temperature: float = 0.0,
        largest: int | None = None,
    ) -> None:
        self.height = height
        self.width = width
        self.nu = nu
        self.ridge = ridge
        self.gamma = gamma
        self.prior = prior
        self.threshold = threshold
        self.behaviour = behaviour
        self.behaviour_width = behaviour_width
        self.improvement = improvement
        self.iterations = iterations
        self.temperature = temperature
        self.largest = largest

    def fit(
        self, transitions: Transitions, chances: Floats | None = None, model: ActionModel | None = None
    ) -> KernelLSPI:
        """Learn from transitions. chances (n, n_actions): P(a | s) of their states, if known already; model:
        what gives them for other states, if it was learned before."""
        self._check(transitions)
        self._fit_behaviour(transitions, chances, model)
        states, action = transitions.states, transitions.action
        self.actions_ = transitions.actions
        self.states_ = states.take(np.zeros(0, dtype=np.int64))
        table = with_action(states, action)
        self.basis_ = Basis.fit(
            states.continuous, table, Gaussian(self.height, self.width), self.nu, self.largest
        )
        prior = float(transitions.returns().mean()) if self.prior == "mean" else float(self.prior)
        taken = self.basis_.rows(states.continuous, self.basis_.block_of(table))
        self.admitted_ = admit(self.chances_, self.threshold)
        pairs = StateActions.of(self.basis_, states, self.admitted_)
        self._iterate(transitions, taken, pairs, prior)
        return self

    def _iterate(self, transitions: Transitions, taken: Any, pairs: StateActions, prior: float) -> None:
        """Evaluate, improve, until the policy stays or comes back."""
        ends = transitions.next == END
        system = System(taken, self.basis_.offsets, self.ridge)
        following = rows_after(taken, transitions.next)
        seen: dict[bytes, int] = {}
        limit = 1 if self.improvement == "one_step" else self.iterations
        policy: Floats | None = None
        converged, cycle, number = False, 0, 0
        for number in range(1, limit + 1):
            solution = system.solve(following, transitions.reward, ends, self.gamma, prior)
            q = pairs.spread(prior + pairs.rows @ solution.weights)
            better = policy_of(q, self.chances_, self.admitted_, self.temperature)
            converged = policy is not None and bool(np.abs(better - policy).max() <= SAME)
            policy, key = better, better.tobytes()
            if converged or key in seen:
                cycle = 0 if converged else number - seen[key]
                break
            seen[key] = number
            following = rows_after(pairs.mixed(policy), transitions.next)
        self.solution_: Solution = solution
        self.fit_ = self._report(transitions, pairs, q, number, converged, cycle)

    def _report(
        self,
        transitions: Transitions,
        pairs: StateActions,
        q: Floats,
        number: int,
        converged: bool,
        cycle: int,
    ) -> Fit:
        values = q[np.isfinite(q)]
        feasible = None
        if transitions.feasible is not None:
            low, high = transitions.feasible
            feasible = bool(values.min() >= low and values.max() <= high)
        return Fit(
            kernels=len(self.basis_),
            iterations=number,
            converged=converged or self.improvement == "one_step",
            cycle=cycle,
            condition=self.solution_.condition,
            largest_q=float(np.abs(values).max()),
            feasible=feasible,
            zero_kernel=pairs.zero_share,
            largest_residual=float(self.basis_.dictionary.residual.max(initial=0.0)),
        )

    def q(self, states: States, actions: Ints) -> Floats:
        """(n,) the value of taking given actions in given states."""
        self._require(states)
        block = self.basis_.block_of(with_action(states, np.asarray(actions, dtype=np.int64)))
        return np.asarray(
            self.solution_.prior + self.basis_.rows(states.continuous, block) @ self.solution_.weights
        )

    def chances(self, states: States) -> Floats:
        """(n, n_actions) how likely the behaviour policy is to act so."""
        return self.behaviour_.probabilities(states)

    def probabilities(self, states: States, possible: Bools | None = None) -> Floats:
        """(n, n_actions) the policy; greedy (temperature 0): 1 for the best admitted action."""
        self._require(states)
        chances = self.chances(states)
        admitted = admit(chances, self.threshold, possible)
        pairs = StateActions.of(self.basis_, states, admitted)
        q = pairs.spread(self.solution_.prior + pairs.rows @ self.solution_.weights)
        return policy_of(q, chances, admitted, self.temperature)

    def act(self, states: States) -> Ints:
        """(n,) the best admitted action of each state."""
        return np.asarray(self.probabilities(states).argmax(axis=1))

    def zero_kernel_share(self, states: States) -> float:
        """Share of the admitted actions of states that no kernel speaks of."""
        self._require(states)
        return StateActions.of(self.basis_, states, admit(self.chances(states), self.threshold)).zero_share

    def _require(self, states: States) -> None:
        check_is_fitted(self, "basis_")
        states.require_like(self.states_)

    def _fit_behaviour(
        self, transitions: Transitions, chances: Floats | None, model: ActionModel | None
    ) -> None:
        if self.behaviour == "logged":
            self.behaviour_: ActionModel = Logged(transitions)
            self.chances_ = transitions.propensities
            return
        learner = find_learner(self.behaviour, width=self.behaviour_width)
        self.behaviour_ = learner.fit(transitions) if model is None else model
        if chances is None:
            self.chances_ = learner.cross_fitted(transitions)
            return
        expected = (len(transitions), len(transitions.actions))
        if chances.shape != expected:
            raise UsageError(
                "the probabilities of actions have the wrong shape",
                expected=str(expected),
                found=str(chances.shape),
            )
        self.chances_ = chances

    def _check(self, transitions: Transitions) -> None:
        if not 0.0 < self.gamma <= 1.0:
            raise UsageError("gamma must lie in (0, 1]", found=str(self.gamma))
        if not (np.isfinite(self.ridge) and self.ridge >= 0.0):
            raise UsageError("the ridge must be at least 0", found=str(self.ridge))
        if self.improvement not in IMPROVEMENTS:
            known = did_you_mean(self.improvement, IMPROVEMENTS)
            raise UsageError(f"there is no improvement {self.improvement!r}; {known}")
        if not (np.isfinite(self.temperature) and self.temperature >= 0.0):
            raise UsageError("the temperature must be at least 0", found=str(self.temperature))
        if self.iterations < 1:
            raise UsageError("at least one iteration is needed", found=str(self.iterations))
        if self.prior != "mean" and not (isinstance(self.prior, int | float) and np.isfinite(self.prior)):
            raise UsageError("the prior must be 'mean' or a finite number", found=repr(self.prior))
        if len(np.unique(transitions.action)) < 2:
            only = transitions.actions[transitions.action[0]] if len(transitions) else "nothing"
            raise UsageError(
                "there is nothing to choose: every decision of these transitions is the same",
                expected="at least two different actions",
                found=f"only {only!r}",
            )


def best_action(q: Floats, chances: Floats, admitted: Bools) -> Ints:
    """(n,) the admitted action with the highest Q; of equals (no kernel speaks of any) the likeliest."""
    top = q.max(axis=1, keepdims=True)
    near = admitted & (q >= top - 1e-9 * np.maximum(1.0, np.abs(top)))
    return np.asarray(np.where(near, chances, -1.0).argmax(axis=1))


def policy_of(q: Floats, chances: Floats, admitted: Bools, temperature: float) -> Floats:
    """(n, n_actions) all on the best admitted action; or, with a temperature, exp(Q / temperature)."""
    if temperature == 0.0:
        best = best_action(q, chances, admitted)
        return np.asarray(np.arange(q.shape[1]) == best[:, None], dtype=np.float64)
    weight = np.where(admitted, np.exp((q - q.max(axis=1, keepdims=True)) / temperature), 0.0)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))
