"""Q of a policy by LSTD on the decisions of a problem, with the influence needed for resampling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from extrinsic.arrays import Floats, Ints
from extrinsic.bounds import Discount, NotNegative, Positive
from extrinsic.errors import UsageError
from extrinsic.policy.basis import Basis, with_action
from extrinsic.policy.kernels import Gaussian
from extrinsic.policy.lstd import Solution, System
from extrinsic.policy.sparsification import Sparsification, require_threshold
from extrinsic.policy.state_actions import StateActions, rows_after
from extrinsic.policy.states import States
from extrinsic.policy.transitions import Transitions
from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.shared_parts import Shared


@dataclass(frozen=True)
class KernelSettings:
    """Settings of the Q function that a policy is evaluated with; as the learner's own, undiscounted."""

    height: Positive = 4.0
    width: Positive = 2.0
    nu: Positive = 1.0
    ridge: NotNegative = 100.0
    gamma: Discount = 1.0
    sparsification: Sparsification = "growing"

    def __post_init__(self) -> None:
        require_threshold(self.nu, self.height)


DEFAULT = KernelSettings()


@dataclass(frozen=True, eq=False)
class FittedQ:
    """Q of the decisions taken (n,), V of their states (n,), and the value of the first states.

    influence (n_dialogs,): the derivative of the value by the weight of each dialog.
    """

    q: Floats
    v: Floats
    value: float
    influence: Floats
    diagnostics: dict[str, float]


@dataclass(frozen=True, eq=False)
class Model:
    """Q(s, a) = prior + phi(s, a) w, and the system that w solves."""

    basis: Basis
    system: System
    solution: Solution
    here: sparse.csr_array
    following: sparse.csr_array

    def of_pairs(self, states: States, action: Ints) -> Floats:
        rows = self.basis.rows(states.continuous, self.basis.block_of(with_action(states, action)))
        return np.asarray(self.solution.prior + rows @ self.solution.weights)

    def of_states(self, states: States, target: Floats) -> Floats:
        """V(s) = sum_a pi(a | s) Q(s, a)"""
        rows = StateActions.of(self.basis, states, target > 0.0).mixed(target)
        return np.asarray(self.solution.prior + rows @ self.solution.weights)


def _model(problem: EvaluationProblem, states: States, settings: KernelSettings) -> Model:
    """Q(s, a) = E[r + gamma sum_a' pi(a' | s') Q(s', a')], linear in kernels of `states`."""
    transitions = problem.transitions
    basis, system = _SYSTEMS.get(transitions, states, settings, _system)
    expected_phi = StateActions.of(basis, states, problem.target > 0.0).mixed(problem.target)
    following = rows_after(expected_phi, transitions.next)
    prior = float(transitions.returns().mean())
    solution = system.solve(following, transitions.reward, problem.ends, settings.gamma, prior)
    return Model(basis, system, solution, expected_phi, following)


def _system(transitions: Transitions, states: States, settings: KernelSettings) -> tuple[Basis, System]:
    """The kernels of some decisions and their Gram matrix, which are the same for every policy."""
    table = with_action(states, transitions.action)
    kernel = Gaussian(settings.height, settings.width)
    basis = Basis.fit(states.continuous, table, kernel, settings.nu, sparsification=settings.sparsification)
    return basis, System(basis.rows(states.continuous, basis.block_of(table)), basis.offsets, settings.ridge)


_SYSTEMS: Shared[KernelSettings, tuple[Basis, System]] = Shared()


def fit_q(problem: EvaluationProblem, states: States, settings: KernelSettings) -> FittedQ:
    """Q by LSTD in the given states (those of the transitions, or augmented ones)."""
    transitions, model = problem.transitions, _model(problem, states, settings)
    phi, solution = model.system.phi, model.solution
    q = solution.prior + phi @ solution.weights
    v = solution.prior + model.here @ solution.weights
    after = np.where(problem.ends, 0.0, v[np.maximum(transitions.next, 0)])
    errors = transitions.reward + settings.gamma * after - q
    # The value is the mean of phi(s0) w; with weights on dialogs, A w = b moves by phi_i errors_i each.
    n_dialogs = transitions.n_dialogs
    start = np.asarray(model.here[problem.first].sum(axis=0)).ravel() / n_dialogs
    adjoint = model.system.solve_transposed(model.following, start, settings.gamma)
    value = float(v[problem.first].mean())
    pull = phi @ adjoint
    influence = np.bincount(transitions.dialog, pull * errors, n_dialogs)
    # The prior is the mean return, and moves with the weights as well.
    slope = 1.0 + float((pull * (settings.gamma * ~problem.ends - 1.0)).sum())
    returns = transitions.returns()
    influence = influence + (v[problem.first] - value + slope * (returns - returns.mean())) / n_dialogs
    spoken = np.asarray(model.here.sum(axis=1)).ravel() > 0
    diagnostics = {
        "kernels": float(len(model.basis)),
        "condition": solution.condition,
        "lowest_q": float(min(q.min(), v.min())),
        "highest_q": float(max(q.max(), v.max())),
        "zero_kernel": float(1.0 - spoken.mean()),
    }
    return FittedQ(q, v, value, influence - influence.mean(), diagnostics)


def fit_q_of_others(
    problem: EvaluationProblem, fold: Ints, settings: KernelSettings
) -> tuple[Floats, Floats]:
    """(n,) Q of the decisions taken and V of their states, each learned from the dialogs of other folds."""
    transitions = problem.transitions
    fewest = int(np.bincount(fold).min())
    if transitions.n_dialogs - fewest < 2 or fewest < 2:
        raise UsageError(
            "too few dialogs to learn from some of them for the others", found=str(transitions.n_dialogs)
        )
    q, v = np.empty(len(transitions)), np.empty(len(transitions))
    for held in np.unique(fold):
        rows = fold[transitions.dialog] != held
        others = EvaluationProblem(
            transitions.take_dialogs(np.flatnonzero(fold != held)), problem.target[rows]
        )
        model = _model(others, others.transitions.states, settings)
        held_out = np.flatnonzero(~rows)
        states = transitions.states.take(held_out)
        q[held_out] = model.of_pairs(states, transitions.action[held_out])
        v[held_out] = model.of_states(states, problem.target[held_out])
    return q, v
