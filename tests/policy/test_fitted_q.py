"""Forests as arrays predict what scikit-learn's own objects do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from extrinsic.policy.fitted_q import Forest


@pytest.mark.parametrize("kind", [ExtraTreesRegressor, RandomForestRegressor])
@pytest.mark.parametrize("smallest_leaf", [1, 7, 500])
def test_a_forest_bit_for_bit(kind: Any, smallest_leaf: int) -> None:
    rng = np.random.default_rng(2)
    inputs = np.concatenate([rng.normal(size=(300, 3)), rng.integers(0, 2, (300, 2))], axis=1)
    forest = kind(12, min_samples_leaf=smallest_leaf, random_state=0).fit(inputs, rng.normal(size=300) * 50)
    elsewhere = np.concatenate([inputs, rng.normal(size=(500, 5)) * 3])
    assert Forest.of(forest).predict(elsewhere).tobytes() == forest.predict(elsewhere).tobytes()
    assert Forest.of(forest).predict(elsewhere[:0]).shape == (0,)
