"""What is kept of fitted models as arrays predicts what scikit-learn's own objects do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.svm import SVC

from extrinsic.policy import calibrated_svm
from extrinsic.policy.calibrated_svm import CalibratedSVM
from extrinsic.policy.forest import Forest
from extrinsic.policy.kernels import Gaussian, state_gram
from tests.policy.decisions import drawn_decisions


@pytest.mark.parametrize("kind", [ExtraTreesRegressor, RandomForestRegressor])
@pytest.mark.parametrize("smallest_leaf", [1, 7, 500])
def test_a_forest_bit_for_bit(kind: Any, smallest_leaf: int) -> None:
    rng = np.random.default_rng(2)
    inputs = np.concatenate([rng.normal(size=(300, 3)), rng.integers(0, 2, (300, 2))], axis=1)
    forest = kind(12, min_samples_leaf=smallest_leaf, random_state=0).fit(inputs, rng.normal(size=300) * 50)
    elsewhere = np.concatenate([inputs, rng.normal(size=(500, 5)) * 3])
    assert Forest.of(forest).predict(elsewhere).tobytes() == forest.predict(elsewhere).tobytes()
    assert Forest.of(forest).predict(elsewhere[:0]).shape == (0,)


@pytest.mark.parametrize("n_actions", [2, 3, 5])
def test_a_calibrated_machine(n_actions: int) -> None:
    """Its probabilities against predict_proba of the object that it was made of."""
    log, elsewhere = drawn_decisions(60, n_actions), drawn_decisions(20, n_actions, seed=9).states
    kernel = Gaussian(1.0, 0.7)
    folds = [
        (np.flatnonzero(log.dialog % 3 != part), np.flatnonzero(log.dialog % 3 == part)) for part in range(3)
    ]
    machine = CalibratedClassifierCV(SVC(kernel="precomputed"), ensemble=False, cv=folds)
    machine.fit(state_gram(kernel, log.states, log.states), log.action)
    expected = machine.predict_proba(state_gram(kernel, elsewhere, log.states))
    fitted = calibrated_svm._Fitted.of(kernel, log.states, machine)
    assert fitted.probabilities(elsewhere) == pytest.approx(expected, abs=1e-12)
    whole = CalibratedSVM().fit(log).probabilities(elsewhere)
    assert whole.sum(axis=1) == pytest.approx(np.ones(len(elsewhere)))
