"""Logistic regression on features of each candidate."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Bools, Floats
from extrinsic.trackers.candidate_classifier import CandidateClassifier


class LogisticModel:
    """p(x) = 1 / (1 + exp(-(w . x + c))); the features are standardised inside w and c."""

    def __init__(self, weights: Floats, constant: float) -> None:
        self.weights, self.constant = weights, constant

    def probability(self, rows: Floats) -> Floats:
        # A sum along each row: a matrix product may add in another order when there are more rows.
        logit = (rows * self.weights).sum(axis=1) + self.constant
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logit, -500.0, 500.0))))


class Logistic(CandidateClassifier):
    """Ridge-penalised, on standardised features."""

    def __init__(
        self, share: float = 1.0, features: str = "all", penalty: float = 1.0, seed: int = 0
    ) -> None:
        super().__init__(share, features, seed)
        self.penalty = penalty

    def teach(self, rows: Floats, right: Bools) -> LogisticModel:
        from sklearn.linear_model import LogisticRegression

        mean, spread = rows.mean(axis=0), rows.std(axis=0)
        spread = np.where(spread > 1e-9, spread, 1.0)
        model = LogisticRegression(C=1.0 / self.penalty, max_iter=500).fit((rows - mean) / spread, right)
        weights = model.coef_[0] / spread
        return LogisticModel(weights, float(model.intercept_[0] - (weights * mean).sum()))


LOGISTIC = Logistic()
