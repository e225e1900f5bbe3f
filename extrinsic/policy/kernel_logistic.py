"""Kernel logistic regression: P(a | s) from the kernels of a dictionary of states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.policy.basis import ROWS, Basis
from extrinsic.policy.behaviour import ActionModel, Classifier
from extrinsic.policy.features import States
from extrinsic.policy.kernels import Gaussian
from extrinsic.policy.sparsification import require_threshold
from extrinsic.records import require_shapes
from extrinsic.typed_files import Count, Positive


@dataclass(frozen=True)
class KernelLogistic(Classifier):
    """Multinomial logistic regression on phi(s) = k(s, s_j), s_j of a sparsified dictionary of states.

    height, width: of the kernel.   nu: of the sparsification, below height^2.
    penalty: the weight of the data against the squared weights (scikit-learn's C).   rarest: see Classifier.
    """

    height: Positive = 1.0
    width: Positive = 0.7
    nu: Positive = 0.25
    penalty: Positive = 3.0
    rarest: Count = 10

    def __post_init__(self) -> None:
        require_threshold(self.nu, self.height)

    def fit_classes(self, states: States, action: Ints, dialog: Ints) -> ActionModel:
        from sklearn.linear_model import LogisticRegression

        kernel = Gaussian(self.height, self.width)
        basis, _ = Basis.fit(states.continuous, states.discrete, kernel, self.nu)
        features = _features(basis, states)
        # The gradient is a mean over the data: with more data, a coarser tolerance suffices.
        tolerance = 1e-4 * np.clip(len(action) / 5_000, 1.0, 10.0)
        model = LogisticRegression(C=self.penalty, max_iter=1000, tol=tolerance)
        model.fit(features, action)
        coefficients, intercept = model.coef_, model.intercept_
        if len(intercept) == 1:  # scikit-learn keeps one row for two classes
            coefficients, intercept = (
                np.stack([0 * coefficients[0], coefficients[0]]),
                np.array([0.0, intercept[0]]),
            )
        return _Fitted(basis, np.ascontiguousarray(coefficients.T), intercept)


@dataclass(frozen=True, eq=False)
class _Fitted:
    basis: Basis
    coefficients: Floats
    intercept: Floats

    def __post_init__(self) -> None:
        require_shapes(self, coefficients="kernels actions", intercept="actions")

    def probabilities(self, states: States) -> Floats:
        probabilities = np.empty((len(states), len(self.intercept)))
        for begin in range(0, len(states), ROWS):
            rows = np.arange(begin, min(begin + ROWS, len(states)))
            scores = _features(self.basis, states.take(rows)) @ self.coefficients + self.intercept
            odds = np.exp(scores - scores.max(axis=1, keepdims=True))
            probabilities[rows] = odds / odds.sum(axis=1, keepdims=True)
        return probabilities


def _features(basis: Basis, states: States) -> Any:
    return basis.rows(states.continuous, basis.block_of(states.discrete))
