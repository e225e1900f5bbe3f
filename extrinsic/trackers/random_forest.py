"""A random forest on features of each candidate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from extrinsic.arrays import Bools, Floats
from extrinsic.trackers.candidate_classifier import CandidateClassifier


class ForestModel:
    """p(x): the mean over trees of the share of right examples in the leaf of x."""

    def __init__(self, trees: Sequence[Any]) -> None:
        self.trees = trees

    def probability(self, rows: Floats) -> Floats:
        # The trees directly: scikit-learn's wrapper costs more than a turn's few candidates.
        narrow = rows.astype(np.float32)
        share = np.zeros(len(rows))
        for tree in self.trees:
            counts = tree.predict(narrow)
            share += counts[:, 1] / (counts[:, 0] + counts[:, 1])
        return np.asarray(share / len(self.trees))


class RandomForest(CandidateClassifier):
    """Thirty trees of depth eight at most; `leaf`: the fewest examples in a leaf."""

    def __init__(self, share: float = 1.0, features: str = "all", leaf: int = 5, seed: int = 0) -> None:
        super().__init__(share, features, seed)
        self.leaf = leaf

    def teach(self, rows: Floats, right: Bools) -> ForestModel:
        from sklearn.ensemble import RandomForestClassifier

        forest = RandomForestClassifier(
            n_estimators=30, max_depth=8, min_samples_leaf=self.leaf, random_state=self.seed, n_jobs=1
        ).fit(rows, right)
        return ForestModel([tree.tree_ for tree in forest.estimators_])


RANDOM_FOREST = RandomForest()
