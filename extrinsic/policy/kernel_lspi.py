"""Least-squares policy iteration on fixed data, with kernels (Lagoudakis & Parr 2003; Lee 2014)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.bounds import Count, Discount, NotNegative, Positive
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.policy.basis import Basis, with_action
from extrinsic.policy.behaviour import Behaviour
from extrinsic.policy.kernels import Gaussian
from extrinsic.policy.learner import policy_of, require_choice
from extrinsic.policy.lstd import Solution, System
from extrinsic.policy.sparsification import Sparsification, require_threshold
from extrinsic.policy.state_actions import StateActions, rows_after
from extrinsic.policy.states import States
from extrinsic.policy.transitions import END, Transitions

IMPROVEMENTS = ("lspi", "one_step")

SAME = 1e-6
"""Two policies are equal when no probability differs by more."""


@dataclass(frozen=True)
class KernelLSPI:
    """A greedy policy on a Q function made of Gaussian x delta kernels.

    height, width: of the Gaussian.   nu: of the sparsification.   largest: the maximum kernels of one block.
    sparsification: `growing` (Engel's) or `removal` (as Lee words it: against all the rest).
    ridge, gamma: of LSTD.   prior: Q where there is no kernel: the `mean` return, or a number.
    improvement: `lspi` iterates until the policy converges, `one_step` improves the behaviour policy once.
    temperature: 0 is greedy; above, admitted actions are drawn with probability ~ exp(Q / temperature).
    """

    height: Positive = 4.0
    width: Positive = 2.0
    nu: Positive = 1.0
    ridge: NotNegative = 100.0
    gamma: Discount = 1.0
    prior: Literal["mean"] | float = "mean"
    improvement: str = "lspi"
    iterations: Count = 30
    temperature: NotNegative = 0.0
    largest: Count | None = None
    sparsification: Sparsification = "growing"

    def __post_init__(self) -> None:
        require_threshold(self.nu, self.height)
        if self.sparsification == "removal" and self.largest is not None:
            raise UsageError("largest goes with sparsification 'growing' only")
        if not 0.0 < self.gamma <= 1.0:
            raise UsageError("gamma must lie in (0, 1]", found=str(self.gamma))
        if not (np.isfinite(self.ridge) and self.ridge >= 0.0):
            raise UsageError("the ridge must be at least 0", found=str(self.ridge))
        if self.improvement not in IMPROVEMENTS:
            options = did_you_mean(self.improvement, IMPROVEMENTS)
            raise UsageError(f"there is no improvement {self.improvement!r}; {options}")
        if not (np.isfinite(self.temperature) and self.temperature >= 0.0):
            raise UsageError("the temperature must be at least 0", found=str(self.temperature))
        if self.iterations < 1:
            raise UsageError("at least one iteration is needed", found=str(self.iterations))
        if self.prior != "mean" and not (isinstance(self.prior, int | float) and np.isfinite(self.prior)):
            raise UsageError("the prior must be 'mean' or a finite number", found=repr(self.prior))

    def fit(self, transitions: Transitions, behaviour: Behaviour) -> KernelPolicy:
        """Learn from transitions; the behaviour's filter determines the admitted actions."""
        require_choice(transitions)
        behaviour.require_about(transitions)
        states = transitions.states
        table = with_action(states, transitions.action)
        kernel = Gaussian(self.height, self.width)
        basis = Basis.fit(states.continuous, table, kernel, self.nu, self.largest, self.sparsification)
        prior = float(transitions.returns().mean()) if self.prior == "mean" else float(self.prior)
        phi = basis.rows(states.continuous, basis.block_of(table))
        open_pairs = StateActions.of(basis, states, behaviour.admitted)
        solution, fit = self._iterate(transitions, behaviour, basis, phi, open_pairs, prior)
        no_states = states.take(np.zeros(0, dtype=np.int64))
        return KernelPolicy(basis, solution, behaviour, self.temperature, no_states, fit)

    def _iterate(
        self,
        transitions: Transitions,
        behaviour: Behaviour,
        basis: Basis,
        phi: sparse.csr_array,
        open_pairs: StateActions,
        prior: float,
    ) -> tuple[Solution, Fit]:
        """Evaluate and improve until the policy converges or cycles."""
        ends = transitions.next == END
        system = System(phi, basis.offsets, self.ridge)
        following = rows_after(phi, transitions.next)
        seen: dict[bytes, int] = {}
        limit = 1 if self.improvement == "one_step" else self.iterations
        policy: Floats | None = None
        converged, cycle, number = False, 0, 0
        for number in range(1, limit + 1):
            solution = system.solve(following, transitions.reward, ends, self.gamma, prior)
            q = open_pairs.spread(prior + open_pairs.rows @ solution.weights)
            better = policy_of(q, behaviour.chances, behaviour.admitted, self.temperature)
            converged = policy is not None and bool(np.abs(better - policy).max() <= SAME)
            policy, key = better, better.tobytes()
            if converged or key in seen:
                cycle = 0 if converged else number - seen[key]
                break
            seen[key] = number
            following = rows_after(open_pairs.mixed(policy), transitions.next)
        values = q[np.isfinite(q)]
        fit = Fit(
            kernels=len(basis),
            iterations=number,
            converged=converged or self.improvement == "one_step",
            cycle=cycle,
            condition=solution.condition,
            lowest_q=float(values.min()),
            highest_q=float(values.max()),
            zero_kernel=open_pairs.zero_share,
            largest_residual=float(basis.dictionary.residual.max(initial=0.0)),
        )
        return solution, fit


@dataclass(frozen=True)
class Fit:
    """Diagnostics of learning.

    kernels: size of the dictionary.   iterations: policies evaluated.   converged: the last policy equals the
    one before (one step: always True).   cycle: the length of the cycle it ended in, 0 for none.
    condition: of the Gram matrix with the ridge.   lowest_q, highest_q: over the training states.
    zero_kernel: share of the training states' admitted actions for which there is no kernel.
    largest_residual: the largest squared distance of a point to the span of the dictionary; below nu.
    """

    kernels: int
    iterations: int
    converged: bool
    cycle: int
    condition: float
    lowest_q: float
    highest_q: float
    zero_kernel: float
    largest_residual: float


@dataclass(frozen=True, eq=False)
class KernelPolicy:
    """The greedy (or, with a temperature, soft) policy on Q(s, a) = prior + phi(s, a) w.

    learned_from: an empty States with the columns used in training.
    """

    basis: Basis
    solution: Solution
    behaviour: Behaviour
    temperature: float
    learned_from: States
    fit: Fit

    @property
    def diagnostics(self) -> Mapping[str, float]:
        return {name: float(value) for name, value in vars(self.fit).items()}

    def probabilities(self, states: States, possible: Bools | None = None) -> Floats:
        """(n, n_actions) the policy; greedy (temperature 0): 1 for the best admitted action."""
        states.require_like(self.learned_from)
        chances, admitted = self.behaviour.choices(states, possible)
        pairs = StateActions.of(self.basis, states, admitted)
        q = pairs.spread(self.solution.prior + pairs.rows @ self.solution.weights)
        return policy_of(q, chances, admitted, self.temperature)

    def q(self, states: States, actions: Ints) -> Floats:
        """(n,) the value of taking given actions in given states."""
        states.require_like(self.learned_from)
        block = self.basis.block_of(with_action(states, np.asarray(actions, dtype=np.int64)))
        return np.asarray(
            self.solution.prior + self.basis.rows(states.continuous, block) @ self.solution.weights
        )

    def zero_kernel_share(self, states: States) -> float:
        """Share of the admitted actions of states for which there is no kernel."""
        states.require_like(self.learned_from)
        _, admitted = self.behaviour.choices(states)
        return StateActions.of(self.basis, states, admitted).zero_share
