"""Gradient-boosted trees on features of each candidate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from extrinsic.arrays import Bools, Floats
from extrinsic.trackers.candidate_classifier import CandidateClassifier

RATE = 0.2


class BoostedModel:
    """p(x) = 1 / (1 + exp(-f(x))), f(x) = log-odds of the examples + RATE * sum of the trees at x."""

    def __init__(self, log_odds: float, trees: Sequence[Any]) -> None:
        self.log_odds, self.trees = log_odds, trees

    def probability(self, rows: Floats) -> Floats:
        narrow = rows.astype(np.float32)
        logit = np.full(len(rows), self.log_odds)
        for tree in self.trees:
            logit += RATE * tree.predict(narrow).reshape(-1)
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logit, -500.0, 500.0))))


class GradientBoosting(CandidateClassifier):
    """Forty trees of depth three, each on half of the examples; `leaf`: the fewest examples in a leaf."""

    def __init__(self, share: float = 1.0, features: str = "all", leaf: int = 1, seed: int = 0) -> None:
        super().__init__(share, features, seed)
        self.leaf = leaf

    def teach(self, rows: Floats, right: Bools) -> BoostedModel:
        from sklearn.ensemble import GradientBoostingClassifier

        boosted = GradientBoostingClassifier(
            n_estimators=40,
            max_depth=3,
            learning_rate=RATE,
            subsample=0.5,
            max_features=0.5,
            min_samples_leaf=self.leaf,
            random_state=self.seed,
        ).fit(rows, right)
        share = right.mean()
        trees = [stage.tree_ for stage in boosted.estimators_[:, 0]]
        return BoostedModel(float(np.log(share / (1.0 - share))), trees)


GRADIENT_BOOSTING = GradientBoosting()
