"""Regression forests as arrays: what is kept of the trees that a policy consists of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from extrinsic.arrays import Floats, Ints, offsets_from_lengths

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
            total += self.value[self._leaf(columns, root)]
        return np.asarray(total / len(self.roots))

    def _leaf(self, columns: npt.NDArray[np.float32], root: int) -> Ints:
        node = np.full(len(columns), root, dtype=np.int64)
        rows = np.arange(len(columns)) if self.column[root] != LEAF else np.zeros(0, dtype=np.int64)
        while len(rows):
            here = node[rows]
            goes_left = columns[rows, self.column[here]] <= self.threshold[here]
            node[rows] = np.where(goes_left, self.left[here], self.right[here])
            rows = rows[self.column[node[rows]] != LEAF]
        return node
