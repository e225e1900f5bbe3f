"""Fitted Q iteration with extremely randomised trees (Ernst, Geurts & Wehenkel 2005)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.bounds import Count, Discount, Whole
from extrinsic.policy.behaviour import Behaviour
from extrinsic.policy.learner import policy_of, require_choice
from extrinsic.policy.states import States
from extrinsic.policy.transitions import END, Transitions

SAME = 1e-6
"""Two Q functions are the same when no value differs by a larger share of the largest."""


@dataclass(frozen=True)
class FittedQ:
    """A greedy policy on Q_k(s, a), trees fitted to r + gamma max_a' Q_{k-1}(s', a') with Q_0 = 0.

    The maximum is over the actions that the filter admits in s'; targets are clipped to the returns a dialog
    can have, so that a policy that loops gets the lowest of them.
    trees, smallest_leaf: of the forest.   iterations: the maximum; fewer once Q settles. (A constant
    policy is not enough: with each iteration, a reward at the end of a dialog reaches one turn further.)
    """

    trees: Count = 30
    smallest_leaf: Count = 5
    gamma: Discount = 1.0
    iterations: Count = 20
    seed: Whole = 0

    def fit(self, transitions: Transitions, behaviour: Behaviour) -> TreePolicy:
        from sklearn.ensemble import ExtraTreesRegressor

        require_choice(transitions)
        behaviour.require_about(transitions)
        states, n_actions = transitions.states, len(transitions.actions)
        inputs = tree_columns(states, transitions.action, n_actions)
        state, action = np.nonzero(behaviour.admitted)
        open_pairs = tree_columns(states.take(state), action, n_actions)
        low, high = transitions.feasible or (-np.inf, np.inf)
        goes_on = transitions.next != END
        q = np.where(behaviour.admitted, 0.0, -np.inf)
        converged, iterations = False, 0
        while not converged and iterations < self.iterations:
            iterations += 1
            after = np.where(goes_on, q.max(axis=1)[np.maximum(transitions.next, 0)], 0.0)
            forest = ExtraTreesRegressor(
                self.trees, min_samples_leaf=self.smallest_leaf, random_state=self.seed, n_jobs=1
            )
            forest.fit(inputs, np.clip(transitions.reward + self.gamma * after, low, high))
            before, values = q[state, action], forest.predict(open_pairs)
            q[state, action] = values
            converged = bool(np.abs(values - before).max() <= SAME * max(1.0, np.abs(values).max()))
        diagnostics = {
            "iterations": float(iterations),
            "converged": float(converged),
            "leaves": float(sum(tree.get_n_leaves() for tree in forest.estimators_)),
            "lowest_q": float(values.min()),
            "highest_q": float(values.max()),
        }
        no_states = states.take(np.zeros(0, dtype=np.int64))
        return TreePolicy(forest, n_actions, behaviour, no_states, diagnostics)


@dataclass(frozen=True, eq=False)
class TreePolicy:
    """The greedy policy on a forest's Q; learned_from: an empty States with the columns used in training."""

    forest: Any
    n_actions: int
    behaviour: Behaviour
    learned_from: States
    diagnostics: Mapping[str, float]

    def probabilities(self, states: States, possible: Bools | None = None) -> Floats:
        states.require_like(self.learned_from)
        chances, admitted = self.behaviour.choices(states, possible)
        state, action = np.nonzero(admitted)
        q = np.full(admitted.shape, -np.inf)
        q[state, action] = self.forest.predict(tree_columns(states.take(state), action, self.n_actions))
        return policy_of(q, chances, admitted)


def tree_columns(states: States, action: Ints, n_actions: int) -> Floats:
    """The inputs of trees: continuous columns, discrete columns as numbers, and one column per action."""
    return np.concatenate([states.continuous, states.discrete, np.eye(n_actions)[action]], axis=1)
