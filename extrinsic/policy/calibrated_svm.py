"""Lee's P(a | s): a support vector machine on the same kernel without the action, calibrated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.bounds import Count, Positive
from extrinsic.errors import UsageError
from extrinsic.policy.behaviour import FOLDS, ActionModel, Classifier
from extrinsic.policy.kernels import Gaussian, state_gram
from extrinsic.policy.states import States

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
        return _Fitted(kernel, states, machine)

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
    kernel: Gaussian
    states: States
    machine: Any

    def probabilities(self, states: States) -> Floats:
        return np.asarray(self.machine.predict_proba(state_gram(self.kernel, states, self.states)))
