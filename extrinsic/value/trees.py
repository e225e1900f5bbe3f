"""Fitted Q evaluation with trees: a different function class from the learner's.

A forest of extremely randomised trees is grown once, on the observed returns-to-go; its leaves group similar
states and actions. Q of a leaf is then the mean of r + V(next) over the decisions in it, iterated until it
converges. Values are clipped to the returns a dialog can have, so that a policy that loops gets the lowest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from extrinsic.arrays import Floats, Ints, offsets_from_lengths
from extrinsic.policy.features import States
from extrinsic.policy.fitted_q import tree_columns
from extrinsic.policy.transitions import Transitions
from extrinsic.typed_files import Count, Whole
from extrinsic.value.estimator import EvaluationProblem, Shared, StateEstimator
from extrinsic.value.value import Value, value_of

TOLERANCE = 1e-6
MOST_STEPS = 500


@dataclass(frozen=True)
class TreeSettings:
    trees: Count = 40
    smallest_leaf: Count = 5
    seed: Whole = 0


DEFAULT = TreeSettings()


@dataclass(frozen=True)
class Fqe(StateEstimator):
    """The mean of V over first states, by trees."""

    name: str = "fqe"
    settings: TreeSettings = DEFAULT

    def estimate(self, problem: EvaluationProblem) -> Value:
        states = self.states_of(problem)
        transitions = problem.transitions
        leaves_taken, leaves_of_policy = _leaves(problem, states, self.settings)
        size = np.asarray(leaves_taken.sum(axis=0)).ravel()
        average = sparse.csr_array(leaves_taken.T.multiply(1.0 / np.maximum(size, 1.0)[:, None]))
        following = leaves_of_policy[np.maximum(transitions.next, 0)].multiply(
            (~transitions.ends)[:, None].astype(np.float64)
        )
        following = sparse.csr_array(following)
        n_dialogs = transitions.n_dialogs

        # The range of returns of a dialog; for a custom reward, of the observed returns-to-go.
        to_go = transitions.returns_to_go()
        low, high = transitions.feasible or (float(to_go.min()), float(to_go.max()))

        def target(leaf: Floats) -> Floats:
            return np.asarray(np.clip(transitions.reward + following @ leaf, low, high))

        leaf, steps = _iterate(lambda m: average @ target(m), average @ transitions.reward)
        v = leaves_of_policy @ leaf
        value = float(v[problem.first].mean())
        # The sensitivity of the value to each leaf, and through its leaves to each decision.
        start = np.asarray(leaves_of_policy[problem.first].sum(axis=0)).ravel() / n_dialogs
        errors = target(leaf)
        free = ((errors > low) & (errors < high)).astype(np.float64)
        adjoint, back = _iterate(lambda m: start + following.T @ (free * (average.T @ m)), start)
        per_leaf = adjoint / np.maximum(size, 1.0)
        moved = errors * (leaves_taken @ per_leaf) - leaves_taken @ (per_leaf * leaf)
        influence = np.bincount(transitions.dialog, moved, n_dialogs) + (v[problem.first] - value) / n_dialogs
        diagnostics = {
            "lowest_q": float(v.min()),
            "highest_q": float(v.max()),
            "steps": float(max(steps, back)),
        }
        return value_of(self.name, value, influence - influence.mean(), diagnostics)


def _iterate(step, start: Floats) -> tuple[Floats, int]:  # type: ignore[no-untyped-def]
    """Apply a step until it converges, which it does because dialogs end."""
    now = start
    for number in range(1, MOST_STEPS + 1):
        after = step(now)
        if np.abs(after - now).max(initial=0.0) <= TOLERANCE:
            return after, number
        now = after
    return now, MOST_STEPS


def _leaves(
    problem: EvaluationProblem, states: States, settings: TreeSettings
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """(n, n_leaves) the leaves of each decision (1 each), and the pi(a | s)-weighted mean over trees of the
    leaves of its state's actions."""
    forest = _FORESTS.get(problem.transitions, states, settings)
    taken = _indicator(forest.leaves[np.arange(len(states)), problem.transitions.action], forest.n_leaves)
    state, action = np.nonzero(problem.target > 0.0)
    pairs = _indicator(forest.leaves[state, action], forest.n_leaves)
    mix = sparse.csr_array(
        (problem.target[state, action] / settings.trees, (state, np.arange(len(state)))),
        shape=(len(states), len(state)),
    )
    return taken, sparse.csr_array(mix @ pairs)


@dataclass(frozen=True, eq=False)
class _Forest:
    """leaves (n, n_actions, n_trees): the leaf of every action in every state, numbered through all trees."""

    leaves: Ints
    n_leaves: int


def _grow(transitions: Transitions, states: States, settings: TreeSettings) -> _Forest:
    """The forest of some decisions, which is the same for every policy."""
    from sklearn.ensemble import ExtraTreesRegressor

    forest = ExtraTreesRegressor(
        settings.trees, min_samples_leaf=settings.smallest_leaf, random_state=settings.seed, n_jobs=1
    )
    n_states, n_actions = len(states), len(transitions.actions)
    forest.fit(tree_columns(states, transitions.action, n_actions), transitions.returns_to_go())
    sizes = offsets_from_lengths([tree.tree_.node_count for tree in forest.estimators_])
    state, action = np.divmod(np.arange(n_states * n_actions), n_actions)
    rows = np.asarray(tree_columns(states.take(state), action, n_actions), dtype=np.float32)
    # The trees directly: scikit-learn's wrapper checks the rows again for each of them.
    leaves = np.stack([tree.tree_.apply(rows) for tree in forest.estimators_], axis=1) + sizes[:-1]
    return _Forest(leaves.reshape(n_states, n_actions, -1).astype(np.int64), int(sizes[-1]))


_FORESTS = Shared(_grow)


def _indicator(leaves: Ints, n_leaves: int) -> sparse.csr_array:
    offsets = np.arange(len(leaves) + 1) * leaves.shape[1]
    return sparse.csr_array((np.ones(leaves.size), leaves.ravel(), offsets), shape=(len(leaves), n_leaves))


FQE, FQE_AUGMENTED = Fqe(), Fqe("fqe_augmented", augmented=True)
