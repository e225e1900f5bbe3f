"""Fitted Q: its discount by hand, and forests as arrays that predict what scikit-learn's own objects do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from extrinsic.policy.fitted_q import FittedQ, Forest
from tests.policy.decisions import behaviour_of, decisions, states_of


@pytest.mark.parametrize("kind", [ExtraTreesRegressor, RandomForestRegressor])
@pytest.mark.parametrize("smallest_leaf", [1, 7, 500])
def test_a_forest_bit_for_bit(kind: Any, smallest_leaf: int) -> None:
    rng = np.random.default_rng(2)
    inputs = np.concatenate([rng.normal(size=(300, 3)), rng.integers(0, 2, (300, 2))], axis=1)
    forest = kind(12, min_samples_leaf=smallest_leaf, random_state=0).fit(inputs, rng.normal(size=300) * 50)
    elsewhere = np.concatenate([inputs, rng.normal(size=(500, 5)) * 3])
    assert Forest.of(forest).predict(elsewhere).tobytes() == forest.predict(elsewhere).tobytes()
    assert Forest.of(forest).predict(elsewhere[:0]).shape == (0,)


def test_gamma_by_hand() -> None:
    """Two decisions, rewards 0 and 10, whatever is done: Q is 10 gamma, then 10."""
    number = np.arange(80)
    states = states_of(np.zeros((80, 1)), (number % 2)[:, None])
    log = decisions(states, number // 4 % 2, 10.0 * (number % 2), number // 2, 2)
    for gamma in (1.0, 0.5):
        found = FittedQ(smallest_leaf=1, gamma=gamma).fit(log, behaviour_of(log)).diagnostics
        assert (found["lowest_q"], found["highest_q"]) == pytest.approx((10.0 * gamma, 10.0))
