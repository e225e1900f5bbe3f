"""Least-squares policy iteration on fixed data, with kernels (Lagoudakis & Parr 2003; Lee 2014).

And its form of one step: one improvement of the logged policy, on its own Q (Brandfonbrener et al. 2021).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from scipy import sparse

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.errors import UsageError
from extrinsic.policy.basis import Basis, StateActions, rows_after, with_action
from extrinsic.policy.behaviour import Behaviour
from extrinsic.policy.features import States
from extrinsic.policy.learner import policy_of, require_choice
from extrinsic.policy.lstd import KernelSettings, KernelsOfLog, Solution
from extrinsic.policy.transitions import Transitions
from extrinsic.storage import content_hash
from extrinsic.typed_files import Count, NotNegative

SAME = 1e-6
"""Two policies are equal when no probability differs by more."""


class Improvement(NamedTuple):
    """The Q function whose greedy policy is learned, and how it was found: see `Fit`."""

    solution: Solution
    iterations: int
    converged: bool
    cycle: int = 0


@dataclass(frozen=True)
class KernelLearner(KernelSettings, ABC):
    """A learner whose Q function is made of Gaussian x delta kernels.

    prior: Q where there is no kernel: the `mean` return, or a number.
    temperature: 0 is greedy; above, admitted actions are drawn with probability ~ exp(Q / temperature).
    largest: the maximum kernels of one block.
    """

    prior: Literal["mean"] | float = "mean"
    temperature: NotNegative = 0.0
    largest: Count | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sparsification == "removal" and self.largest is not None:
            raise UsageError("largest goes with sparsification 'growing' only")
        if not (np.isfinite(self.temperature) and self.temperature >= 0.0):
            raise UsageError("the temperature must be at least 0", found=str(self.temperature))
        if self.prior != "mean" and not (isinstance(self.prior, int | float) and np.isfinite(self.prior)):
            raise UsageError("the prior must be 'mean' or a finite number", found=repr(self.prior))

    def fit(self, transitions: Transitions, behaviour: Behaviour) -> KernelPolicy:
        """Learn from transitions; the behaviour's filter determines the admitted actions."""
        require_choice(transitions)
        behaviour.require_about(transitions)
        log = self._kernels_of(transitions, behaviour)
        solution, iterations, converged, cycle = self.improve(log)
        values = solution.of(log.pairs.rows)
        fit = Fit(
            kernels=len(log.kernels.basis),
            iterations=iterations,
            converged=converged,
            cycle=cycle,
            condition=solution.condition,
            lowest_q=float(values.min()),
            highest_q=float(values.max()),
            zero_kernel=log.pairs.zero_share,
            largest_residual=float(log.kernels.dictionary.residual.max(initial=0.0)),
        )
        learned_from = transitions.states.no_states
        return KernelPolicy(log.kernels.basis, solution, behaviour, self.temperature, learned_from, fit)

    def _kernels_of(self, transitions: Transitions, behaviour: Behaviour) -> LoggedKernels:
        prior = float(transitions.returns().mean()) if self.prior == "mean" else float(self.prior)
        for last in _LAST:
            if last.is_for(self, transitions, behaviour):
                return replace(last, transitions=transitions, behaviour=behaviour, prior=prior)
        states = transitions.states
        kernels = self.kernels_of(states, transitions.action, self.largest)
        pairs = StateActions.of(kernels.basis, states, self.admitted(transitions, behaviour))
        log = LoggedKernels(self, transitions, behaviour, kernels, pairs, prior)
        _LAST[:] = [log] if len(transitions) <= LONGEST_KEPT else []
        return log

    def admitted(self, transitions: Transitions, behaviour: Behaviour) -> Bools:
        """(n, n_actions) the actions among which the logged states' best is looked for."""
        return behaviour.admitted

    @abstractmethod
    def improve(self, log: LoggedKernels) -> Improvement:
        """The Q function whose greedy policy is the learned one."""


@dataclass(frozen=True, eq=False)
class LoggedKernels:
    """A log in terms of kernels: of what was done, and (`pairs`) of all that the filter admits."""

    learner: KernelLearner
    transitions: Transitions
    behaviour: Behaviour
    kernels: KernelsOfLog
    pairs: StateActions
    prior: float

    def is_for(self, learner: KernelLearner, transitions: Transitions, behaviour: Behaviour) -> bool:
        """Whether these differ at most in the reward."""
        own, other = self.transitions, transitions
        return (
            learner == self.learner
            and behaviour.model is self.behaviour.model
            and behaviour.threshold == self.behaviour.threshold
            and np.array_equal(own.states.continuous, other.states.continuous)
            and np.array_equal(own.states.discrete, other.states.discrete)
            and np.array_equal(own.action, other.action)
            and (own.possible is None) == (other.possible is None)
            and (own.possible is None or np.array_equal(own.possible, np.asarray(other.possible)))
        )

    @property
    def as_logged(self) -> sparse.csr_array:
        """(n, m) phi of the decisions that follow in the log."""
        return rows_after(self.kernels.system.phi, self.transitions.next)

    def value(self, following: sparse.csr_array) -> Solution:
        """Q by LSTD, with phi (n, m) of what follows each decision."""
        reward, ends = self.transitions.reward, self.transitions.ends
        return self.kernels.system.solve(following, reward, ends, self.learner.gamma, self.prior)

    def greedy(self, solution: Solution) -> Floats:
        """(n, n_actions) the policy of the logged states that is better by Q."""
        q = self.pairs.spread(solution.of(self.pairs.rows))
        return policy_of(q, self.behaviour.chances, self.behaviour.admitted, self.learner.temperature)


LONGEST_KEPT = 50_000
_LAST: list[LoggedKernels] = []
"""Of the last log: rewards of one tracker are learned one after the other. Those of long logs take memory."""


@dataclass(frozen=True)
class KernelLSPI(KernelLearner):
    """Least-squares policy iteration: the greedy policy is evaluated and improved until it converges.

    iterations: the maximum.
    """

    iterations: Count = 30

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.iterations < 1:
            raise UsageError("at least one iteration is needed", found=str(self.iterations))

    def improve(self, log: LoggedKernels) -> Improvement:
        """Evaluate and improve until the policy converges or cycles."""
        seen: dict[str, int] = {}
        policy: Floats | None = None
        following = log.as_logged
        for number in range(1, self.iterations + 1):
            solution = log.value(following)
            better = log.greedy(solution)
            converged = policy is not None and bool(np.abs(better - policy).max() <= SAME)
            policy, key = better, content_hash(better.tobytes())
            if converged or key in seen:
                return Improvement(solution, number, converged, 0 if converged else number - seen[key])
            seen[key] = number
            following = log.pairs.mixed(policy, log.transitions.next)
        return Improvement(solution, number, converged=False)


@dataclass(frozen=True)
class OneStep(KernelLearner):
    """The greedy policy on Q of the logged policy; what the log did not do is never evaluated.

    evaluation: of that policy: `lstd`; `returns`, ridge regression of what dialogs earned from a decision on
    (undiscounted); or the `mean` of both. LSTD trusts the states to hold all that matters of the past, which
    biases it; returns need not, but are noisy. In live play the mean is as good as LSTD on small logs, and
    better than either on large ones (experiments/learners).
    """

    evaluation: Literal["mean", "lstd", "returns"] = "mean"

    def admitted(self, transitions: Transitions, behaviour: Behaviour) -> Bools:
        """By the model of all the log, as when it is played: no action of the log's states is chosen here,
        so that nothing needs a model which did not see their dialogs."""
        return behaviour.choices(transitions.states, transitions.possible)[1]

    def improve(self, log: LoggedKernels) -> Improvement:
        solutions = []
        if self.evaluation != "returns":
            solutions.append(log.value(log.as_logged))
        if self.evaluation != "lstd":
            solutions.append(log.kernels.system.regress(log.transitions.returns_to_go(), log.prior))
        weights = np.mean([solution.weights for solution in solutions], axis=0)
        return Improvement(replace(solutions[0], weights=weights), 1, converged=True)


@dataclass(frozen=True)
class Fit:
    """Diagnostics of learning.

    kernels: size of the dictionary.   iterations: policies evaluated.   converged: the last policy equals the
    one before (one step: always True).   cycle: the length of the cycle it ended in, 0 for none.
    condition: of the Gram matrix with the ridge.   lowest_q, highest_q: over the training states.
    zero_kernel: share of the training states' admitted actions for which there is no kernel.
    largest_residual: the largest squared distance of a point to the span of the dictionary; at most
    nu, unless points were removed or a block is full.
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
    """The greedy (or, with a temperature, soft) policy on the Q function of a solution.

    learned_from: an empty States with the columns used in training.
    """

    basis: Basis
    solution: Solution
    behaviour: Behaviour
    temperature: float
    learned_from: States
    fit: Fit

    def __post_init__(self) -> None:
        if self.solution.weights.shape != (len(self.basis),):
            raise UsageError(
                "there is not one weight for each kernel", found=str(self.solution.weights.shape)
            )

    @property
    def diagnostics(self) -> Mapping[str, float]:
        return {name: float(value) for name, value in vars(self.fit).items()}

    def probabilities(self, states: States, possible: Bools | None = None) -> Floats:
        """(n, n_actions) the policy; greedy (temperature 0): 1 for the best admitted action."""
        states.require_like(self.learned_from)
        chances, admitted = self.behaviour.choices(states, possible)
        pairs = StateActions.of(self.basis, states, admitted)
        q = pairs.spread(self.solution.of(pairs.rows))
        return policy_of(q, chances, admitted, self.temperature)

    def q(self, states: States, actions: Ints) -> Floats:
        """(n,) the value of taking given actions in given states."""
        states.require_like(self.learned_from)
        block = self.basis.block_of(with_action(states, np.asarray(actions, dtype=np.int64)))
        return self.solution.of(self.basis.rows(states.continuous, block))

    def zero_kernel_share(self, states: States) -> float:
        """Share of the admitted actions of states for which there is no kernel."""
        states.require_like(self.learned_from)
        _, admitted = self.behaviour.choices(states)
        return StateActions.of(self.basis, states, admitted).zero_share
