"""Lee's P(a | s): a support vector machine on the same kernel without the action, calibrated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from extrinsic.arrays import Floats, Ints
from extrinsic.errors import UsageError
from extrinsic.policy.behaviour import FOLDS, ActionModel, Classifier
from extrinsic.policy.features import States
from extrinsic.policy.kernels import Gaussian, state_gram
from extrinsic.records import require_shapes
from extrinsic.typed_files import Count, Positive

MOST = 20_000
"""The maximum number of states: the kernel matrix is dense (3 GB)."""


@dataclass(frozen=True)
class CalibratedSVM(Classifier):
    """One-versus-rest sigmoids fitted to the margins of held-out dialogs (Platt).

    The margins come from a cross-validation by dialog, the final machine from all data.
    height, width: of the kernel; only height^2 * penalty matters.   penalty: scikit-learn's C.
    rarest: see Classifier.
    """

    height: Positive = 1.0
    width: Positive = 0.7
    penalty: Positive = 1.0
    folds: Count = FOLDS
    rarest: Count = 25

    def fit_classes(self, states: States, action: Ints, dialog: Ints) -> ActionModel:
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.svm import SVC

        if len(states) > MOST:
            raise UsageError(
                "an SVM on a precomputed kernel takes no more states than fit into memory; "
                "choose behaviour 'logistic'",
                expected=f"at most {MOST:,}",
                found=f"{len(states):,}",
            )
        kernel = Gaussian(self.height, self.width)
        machine = CalibratedClassifierCV(
            SVC(kernel="precomputed", C=self.penalty), ensemble=False, cv=self._splits(action, dialog)
        )
        machine.fit(state_gram(kernel, states, states), action)
        return _Fitted.of(kernel, states, machine)

    def _splits(self, action: Ints, dialog: Ints) -> list[tuple[Ints, Ints]]:
        """Folds of whole dialogs such that every training part contains every action."""
        numbers = np.unique(dialog)
        for folds in range(min(self.folds, len(numbers)), 1, -1):
            fold = np.searchsorted(numbers, dialog) % folds
            splits = [(np.flatnonzero(fold != held), np.flatnonzero(fold == held)) for held in range(folds)]
            if all(len(np.unique(action[train])) == len(np.unique(action)) for train, _ in splits):
                return splits
        raise UsageError("an action occurs in one dialog only, so the SVM cannot be calibrated by dialog")


@dataclass(frozen=True, eq=False)
class _Fitted:
    """A machine for every pair of classes, and a sigmoid for every class (of two, for the second).

    support: the states that are support vectors.   coefficients (n_pairs, n_support), intercept (n_pairs,).
    slope, shift (n_sigmoids,).
    """

    kernel: Gaussian
    support: States
    coefficients: Floats
    intercept: Floats
    slope: Floats
    shift: Floats

    def __post_init__(self) -> None:
        require_shapes(
            self, coefficients="pairs support", intercept="pairs", slope="classes", shift="classes"
        )

    @staticmethod
    def of(kernel: Gaussian, states: States, machine: Any) -> _Fitted:
        """The arrays of a fitted CalibratedClassifierCV: a policy is kept as such."""
        (calibrated,) = machine.calibrated_classifiers_
        svc, sigmoids = calibrated.estimator, calibrated.calibrators
        n_classes = len(svc.classes_)
        dual, owner = svc.dual_coef_, np.repeat(np.arange(n_classes), svc.n_support_)
        if n_classes > 2:
            # Row r of dual_coef_ has a vector's weight against class r, or r + 1 from its own class on.
            dual = np.stack(
                [
                    dual[j - 1] * (owner == i) + dual[i] * (owner == j)
                    for i in range(n_classes)
                    for j in range(i + 1, n_classes)
                ]
            )
        return _Fitted(
            kernel,
            states.take(svc.support_.astype(np.int64)),
            np.ascontiguousarray(dual),
            svc.intercept_,
            np.array([sigmoid.a_ for sigmoid in sigmoids]),
            np.array([sigmoid.b_ for sigmoid in sigmoids]),
        )

    def probabilities(self, states: States) -> Floats:
        margin = state_gram(self.kernel, states, self.support) @ self.coefficients.T + self.intercept
        scores = margin if len(self.slope) == 1 else _votes(margin, len(self.slope))
        chances = expit(-(self.slope * scores + self.shift))
        if len(self.slope) == 1:
            return np.concatenate([1.0 - chances, chances], axis=1)
        total = chances.sum(axis=1, keepdims=True)
        uniform = np.full_like(chances, 1 / len(self.slope))
        return np.asarray(np.divide(chances, total, out=uniform, where=total != 0))


def _votes(margin: Floats, n_classes: int) -> Floats:
    """(n, n_classes) how many of its pairs (n, n_pairs) a class wins; margins break ties."""
    first, second = np.triu_indices(n_classes, 1)
    wins, confidence = np.zeros((2, len(margin), n_classes))
    for pair, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        wins[:, i] += margin[:, pair] >= 0
        wins[:, j] += margin[:, pair] < 0
        confidence[:, i] += margin[:, pair]
        confidence[:, j] -= margin[:, pair]
    return np.asarray(wins + confidence / (3 * (np.abs(confidence) + 1)))
