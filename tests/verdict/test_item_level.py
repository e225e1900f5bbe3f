"""Trackers x generators x dialogs: against loops over all cells."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.arrays import Floats
from extrinsic.verdict.intervals import jackknife_influence, jackknife_interval
from extrinsic.verdict.item_level import crossed_interval, error_costs

TRACKERS, GENERATORS, DIALOGS = 5, 3, 12


def sample(seed: int) -> tuple[Floats, Floats]:
    """Two predictors (2, trackers, dialogs) and outcomes of 0 and 1 (generators, trackers, dialogs)."""
    rng = np.random.default_rng(seed)
    predictors = rng.normal(size=(2, TRACKERS, DIALOGS))
    chance = predictors[0] + rng.normal(size=(GENERATORS, TRACKERS, DIALOGS))
    return predictors, (chance > 0).astype(float)


def cost_by_loops(predictor: Floats, outcomes: Floats) -> float:
    x: list[float] = []
    y: list[float] = []
    for generator, dialog in np.ndindex(len(outcomes), outcomes.shape[2]):
        mine, reached = predictor[:, dialog], outcomes[generator, :, dialog]
        x += (mine - mine.mean()).tolist()
        y += (reached - reached.mean()).tolist()
    return -float(np.dot(x, y) / np.dot(x, x))


@pytest.mark.parametrize("seed", range(3))
def test_within_generator_and_dialog(seed: int) -> None:
    """Of all cells, and without each tracker, generator and dialog."""
    predictors, outcomes = sample(seed)
    cost, (trackers, generators, dialogs) = error_costs(predictors, outcomes)
    for k, predictor in enumerate(predictors):
        assert cost[k] == pytest.approx(cost_by_loops(predictor, outcomes))
        for left in range(TRACKERS):
            few = np.delete(predictor, left, 0), np.delete(outcomes, left, 1)
            assert trackers[left, k] == pytest.approx(cost_by_loops(*few))
        for left in range(GENERATORS):
            few = predictor, np.delete(outcomes, left, 0)
            assert generators[left, k] == pytest.approx(cost_by_loops(*few))
        for left in range(DIALOGS):
            few = np.delete(predictor, left, 1), np.delete(outcomes, left, 2)
            assert dialogs[left, k] == pytest.approx(cost_by_loops(*few))


def test_what_does_not_vary_is_undefined() -> None:
    _, outcomes = sample(0)
    hard = np.broadcast_to(np.linspace(1.0, 1e3, DIALOGS) / 3, (1, TRACKERS, DIALOGS))
    cost, without = error_costs(hard, outcomes)
    assert np.isnan(cost).all() and all(np.isnan(units).all() for units in without)


def test_the_errors_of_crossed_samples_add_up() -> None:
    """With one sample it is the jackknife's with heavy tails; a sample that changes nothing adds nothing."""
    cost = np.array([0.5, 0.7])
    rng = np.random.default_rng(3)
    trackers, generators = cost + 0.05 * rng.normal(size=(9, 2)), cost + 0.02 * rng.normal(size=(4, 2))
    alone = crossed_interval(cost, [trackers], 0.95)
    assert np.allclose(alone, jackknife_interval(cost, trackers, is_correlation=False, heavy_tails=True))
    for more in (np.tile(cost, (4, 1)), cost[None]):
        assert np.allclose(crossed_interval(cost, [trackers, more], 0.95), alone)
    errors = [jackknife_influence(cost, part, False).error for part in (trackers, generators)]
    low, high = crossed_interval(cost, [trackers, generators], 0.95)
    half = (high - low) / 2
    # Between the normal quantile and Student's with the fewest degrees of freedom.
    both = np.hypot(*errors)
    assert (1.96 * both < half).all() and (half < 3.19 * both).all()
    assert np.isnan(crossed_interval(cost, [np.full((9, 2), np.nan), generators], 0.95)).all()
