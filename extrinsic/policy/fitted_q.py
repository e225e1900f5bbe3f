"""Fitted Q iteration with extremely randomised trees (Ernst et al. 2005), and its forests as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from extrinsic.arrays import Bools, Floats, Ints, offsets_from_lengths
from extrinsic.errors import UsageError
from extrinsic.policy.behaviour import Behaviour
from extrinsic.policy.features import States
from extrinsic.policy.learner import policy_of, require_choice
from extrinsic.policy.transitions import END, Transitions
from extrinsic.records import require_shapes
from extrinsic.typed_files import Count, Discount, Whole

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
        return TreePolicy(Forest.of(forest), n_actions, behaviour, states.no_states, diagnostics)


@dataclass(frozen=True, eq=False)
class TreePolicy:
    """The greedy policy on a forest's Q; learned_from: an empty States with the columns used in training."""

    forest: Forest
    n_actions: int
    behaviour: Behaviour
    learned_from: States
    diagnostics: Mapping[str, float]

    def __post_init__(self) -> None:
        n_columns = len(self.learned_from.names) + self.n_actions
        if self.forest.column.max(initial=LEAF) >= n_columns:
            raise UsageError("the forest asks for more columns than there are", expected=f"{n_columns}")

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


LEAF = -1


@dataclass(frozen=True, eq=False)
class Forest:
    """The mean of regression trees, whose nodes lie one tree after the other.

    roots (n_trees,): the first node of each tree.   column (m,): what a node compares, LEAF for a leaf.
    threshold (m,): values up to it go to the left.   left, right (m,): nodes.   value (m,): of the leaves.
    """

    roots: Ints
    column: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats

    def __post_init__(self) -> None:
        nodes = dict.fromkeys(("column", "threshold", "left", "right", "value"), "nodes")
        require_shapes(self, roots="trees", **nodes)
        inner, n_nodes = np.flatnonzero(self.column != LEAF), len(self.column)
        children = np.stack([self.left[inner], self.right[inner]])
        # Children stand behind their node: whatever is asked, an answer is reached.
        if (children <= inner).any() or (children >= n_nodes).any() or (self.column < LEAF).any():
            raise UsageError("the nodes of a forest do not lead to its leaves")
        if not np.isin(self.roots, np.arange(n_nodes)).all():
            raise UsageError("a tree of a forest has no root", found=str(self.roots))

    @staticmethod
    def of(forest: Any) -> Forest:
        """The trees of a fitted forest of scikit-learn (a regressor that takes the mean of its trees)."""
        trees = [estimator.tree_ for estimator in forest.estimators_]
        offsets = offsets_from_lengths([tree.node_count for tree in trees])
        begin = np.repeat(offsets[:-1], np.diff(offsets))
        left, right, column = (
            np.concatenate([getattr(tree, name) for tree in trees]).astype(np.int64)
            for name in ("children_left", "children_right", "feature")
        )
        leaf = left < 0
        return Forest(
            roots=offsets[:-1].copy(),
            column=np.where(leaf, LEAF, column),
            threshold=np.concatenate([tree.threshold for tree in trees]),
            left=np.where(leaf, LEAF, left + begin),
            right=np.where(leaf, LEAF, right + begin),
            value=np.concatenate([tree.value[:, 0, 0] for tree in trees]),
        )

    def predict(self, inputs: npt.NDArray[np.floating]) -> Floats:
        """(n,) of inputs (n, d), bit for bit what scikit-learn predicts: it compares in single precision and
        adds the trees in order."""
        columns = inputs.astype(np.float32)
        total = np.zeros(len(inputs))
        for root in self.roots.tolist():
            node = np.full(len(columns), root, dtype=np.int64)
            rows = np.flatnonzero(self.column[node] != LEAF)
            while len(rows):
                here = node[rows]
                goes_left = columns[rows, self.column[here]] <= self.threshold[here]
                node[rows] = np.where(goes_left, self.left[here], self.right[here])
                rows = rows[self.column[node[rows]] != LEAF]
            total += self.value[node]
        return np.asarray(total / len(self.roots))
