"""Least-squares policy iteration on fixed data, with kernels (Lagoudakis & Parr 2003; Lee 2014)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.bounds import Count, Discount, NotNegative, Positive
from extrinsic.errors import UsageError
from extrinsic.policy.basis import Basis, with_action
from extrinsic.policy.behaviour import Behaviour
from extrinsic.policy.kernels import Gaussian
from extrinsic.policy.learner import policy_of, require_choice
from extrinsic.policy.lstd import Solution, System
from extrinsic.policy.sparsification import Sparsification, require_threshold
from extrinsic.policy.state_actions import StateActions, rows_after
from extrinsic.policy.states import States
from extrinsic.policy.transitions import END, Transitions
from extrinsic.storage import content_hash

SAME = 1e-6
"""Two policies are equal when no probability differs by more."""


@dataclass(frozen=True, eq=False)
class LoggedKernels:
    """A log in terms of kernels: phi of what was done, and of all that the filter admits.

    system: of the logged decisions.   pairs: their states with every admitted action.
    """

    transitions: Transitions
    behaviour: Behaviour
    basis: Basis
    system: System
    pairs: StateActions
    prior: float
    gamma: float
    temperature: float

    @property
    def as_logged(self) -> sparse.csr_array:
        """(n, m) phi of the decisions that follow in the log."""
        return rows_after(self.system.phi, self.transitions.next)

    def value(self, following: sparse.csr_array) -> Solution:
        """Q by LSTD, with phi (n, m) of what follows each decision."""
        reward, ends = self.transitions.reward, self.transitions.next == END
        return self.system.solve(following, reward, ends, self.gamma, self.prior)

    def value_of_returns(self) -> Solution:
        """Q of the logged policy by regression on what dialogs earned from each decision on."""
        return self.system.regress(self.transitions.returns_to_go(), self.prior)

    def differences(self, solution: Solution, following: sparse.csr_array) -> Floats:
        """(n,) the temporal differences r + gamma q' - q of a solution without doubt."""
        here = self.prior + self.system.phi @ solution.weights
        after = np.where(self.transitions.next == END, 0.0, self.prior + following @ solution.weights)
        return np.asarray(self.transitions.reward + self.gamma * after - here)

    def q(self, solution: Solution) -> Floats:
        """(n, n_actions) of the logged states; -inf where an action is not admitted."""
        return self.pairs.spread(solution.of(self.pairs.rows))

    def greedy(self, q: Floats) -> Floats:
        """(n, n_actions) the policy that is better by q."""
        return policy_of(q, self.behaviour.chances, self.behaviour.admitted, self.temperature)


@dataclass(frozen=True)
class KernelLearner(ABC):
    """A learner whose Q function is made of Gaussian x delta kernels.

    height, width: of the Gaussian.   nu: of the sparsification.   largest: the maximum kernels of one block.
    sparsification: `growing` (Engel's) or `removal` (as Lee words it: against all the rest).
    ridge, gamma: of LSTD.   prior: Q where there is no kernel: the `mean` return, or a number.
    temperature: 0 is greedy; above, admitted actions are drawn with probability ~ exp(Q / temperature).
    """

    height: Positive = 4.0
    width: Positive = 2.0
    nu: Positive = 1.0
    ridge: NotNegative = 100.0
    gamma: Discount = 1.0
    prior: Literal["mean"] | float = "mean"
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
        if not (np.isfinite(self.temperature) and self.temperature >= 0.0):
            raise UsageError("the temperature must be at least 0", found=str(self.temperature))
        if self.prior != "mean" and not (isinstance(self.prior, int | float) and np.isfinite(self.prior)):
            raise UsageError("the prior must be 'mean' or a finite number", found=repr(self.prior))

    def fit(self, transitions: Transitions, behaviour: Behaviour) -> KernelPolicy:
        """Learn from transitions; the behaviour's filter determines the admitted actions."""
        require_choice(transitions)
        behaviour.require_about(transitions)
        log = self.logged_kernels(transitions, behaviour, self.kernel(transitions))
        solution, progress = self.improve(log)
        values = solution.of(log.pairs.rows)
        fit = Fit(
            kernels=len(log.basis),
            iterations=progress.iterations,
            converged=progress.converged,
            cycle=progress.cycle,
            condition=solution.condition,
            lowest_q=float(values.min()),
            highest_q=float(values.max()),
            zero_kernel=log.pairs.zero_share,
            largest_residual=float(log.basis.dictionary.residual.max(initial=0.0)),
        )
        no_states = transitions.states.take(np.zeros(0, dtype=np.int64))
        return KernelPolicy(log.basis, solution, behaviour, self.temperature, no_states, fit)

    def kernel(self, transitions: Transitions) -> Gaussian:
        """The Gaussian; a learner may choose it by the data."""
        return Gaussian(self.height, self.width)

    def logged_kernels(
        self, transitions: Transitions, behaviour: Behaviour, kernel: Gaussian
    ) -> LoggedKernels:
        made = next((last for last in _LAST if last.is_for(self, transitions, behaviour, kernel)), None)
        if made is None:
            made = self._made_kernels(transitions, behaviour, kernel)
            _LAST[:] = [made] if len(transitions) <= LONGEST_KEPT else []
        prior = float(transitions.returns().mean()) if self.prior == "mean" else float(self.prior)
        return LoggedKernels(
            transitions, behaviour, made.basis, made.system, made.pairs, prior, self.gamma, self.temperature
        )

    def _made_kernels(
        self, transitions: Transitions, behaviour: Behaviour, kernel: Gaussian
    ) -> _KernelsOfLog:
        states = transitions.states
        table = with_action(states, transitions.action)
        basis = Basis.fit(states.continuous, table, kernel, self.nu, self.largest, self.sparsification)
        system = System(basis.rows(states.continuous, basis.block_of(table)), basis.offsets, self.ridge)
        pairs = StateActions.of(basis, states, self.admitted(transitions, behaviour))
        return _KernelsOfLog(self, transitions, behaviour, kernel, basis, system, pairs)

    def admitted(self, transitions: Transitions, behaviour: Behaviour) -> Bools:
        """(n, n_actions) the actions among which the logged states' best is looked for."""
        return behaviour.admitted

    @abstractmethod
    def improve(self, log: LoggedKernels) -> tuple[Solution, Progress]:
        """The Q function whose greedy policy is the learned one."""


@dataclass(frozen=True, eq=False)
class _KernelsOfLog:
    """What a learner makes of a log without looking at rewards."""

    learner: KernelLearner
    transitions: Transitions
    behaviour: Behaviour
    kernel: Gaussian
    basis: Basis
    system: System
    pairs: StateActions

    def is_for(
        self, learner: KernelLearner, transitions: Transitions, behaviour: Behaviour, kernel: Gaussian
    ) -> bool:
        """Whether these differ at most in the reward."""
        same = learner == self.learner and kernel == self.kernel
        same = same and behaviour.model is self.behaviour.model
        same = same and behaviour.threshold == self.behaviour.threshold
        own, other = self.transitions, transitions
        return (
            same
            and np.array_equal(own.states.continuous, other.states.continuous)
            and np.array_equal(own.states.discrete, other.states.discrete)
            and np.array_equal(own.action, other.action)
            and (own.possible is None) == (other.possible is None)
            and (own.possible is None or np.array_equal(own.possible, np.asarray(other.possible)))
        )


LONGEST_KEPT = 50_000
_LAST: list[_KernelsOfLog] = []
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

    def improve(self, log: LoggedKernels) -> tuple[Solution, Progress]:
        """Evaluate and improve until the policy converges or cycles."""
        seen: dict[str, int] = {}
        policy: Floats | None = None
        following = log.as_logged
        for number in range(1, self.iterations + 1):
            solution = self.evaluate(log, following)
            better = log.greedy(log.q(solution))
            converged = policy is not None and bool(np.abs(better - policy).max() <= SAME)
            policy, key = better, content_hash(better.tobytes())
            if converged or key in seen:
                return solution, Progress(number, converged, 0 if converged else number - seen[key])
            seen[key] = number
            following = log.pairs.mixed(policy, log.transitions.next)
        return solution, Progress(number, converged=False)

    def evaluate(self, log: LoggedKernels, following: sparse.csr_array) -> Solution:
        """Q of the policy that leads to `following`."""
        return log.value(following)


@dataclass(frozen=True)
class Progress:
    """How an improvement went; the meaning of its numbers is that of `Fit`."""

    iterations: int
    converged: bool
    cycle: int = 0


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
    """The greedy (or, with a temperature, soft) policy on the Q function of a solution.

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
