"""Levels over a study: random effects by hand, and the influence of dialogs against refitting."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.value.levelling import WorldValues, kept_shares, level
from extrinsic.value.world_value import WORLD_SHARE, kept_levels


def test_levels_within_their_noise_are_not_corrected() -> None:
    assert not kept_levels(np.array([4.0, -6.0, 5.0]), np.full(3, 100.0)).any()


def test_levels_beyond_their_noise_keep_what_is_not_noise() -> None:
    """Random effects by hand: the mean of x^2 - v is (399 + 399) / 2, so that a level keeps 399 / 400."""
    assert kept_levels(np.array([20.0, -20.0]), np.ones(2)) == pytest.approx([399.0 / 400.0] * 2)


def test_the_noisier_dataset_keeps_less() -> None:
    """t2 = ((400 - 10) + (400 - 190)) / 2 = 300."""
    kept = kept_levels(np.array([20.0, 20.0]), np.array([10.0, 190.0]))
    assert kept == pytest.approx([300.0 / 310.0, 300.0 / 490.0])


def test_random_levels_are_shrunk_as_far_as_their_errors_are_least() -> None:
    """With true levels of variance 25 and noise 100, a fifth is kept; the errors are below those of either
    correcting wholly or not at all."""
    rng = np.random.default_rng(1)
    true = rng.normal(0.0, 5.0, 4000)
    seen = true + rng.normal(0.0, 10.0, 4000)
    kept = kept_levels(seen, np.full(4000, 100.0))
    assert kept == pytest.approx(np.full(4000, 0.2), abs=0.05)
    error = [np.mean((share * seen - true) ** 2) for share in (0.0, kept, 1.0)]
    assert error[1] < min(error[0], error[2])


def values(**changes: np.ndarray) -> WorldValues:
    """Two datasets, three trackers, four dialogs each."""
    rng = np.random.default_rng(5)
    tables = {
        "in_world": rng.normal(size=(2, 3)),
        "difference": rng.normal(size=(2, 3)),
        "trees": rng.normal(size=(2, 3)),
    }
    parts = [tuple(rng.normal(size=(3, 4)) for _ in range(2)) for _ in range(3)]
    return WorldValues(**(tables | changes), played=parts[0], correction=parts[1], of_trees=parts[2])


def test_of_own_differences_the_part_that_is_not_noise_is_kept() -> None:
    """Deviations of variance 9 with a noise of 4: 5 / 9 are kept, whatever one tracker does."""
    rng = np.random.default_rng(0)
    deviations = 3.0 * rng.normal(size=(50, 41))
    deviations[:, 0] = 1e6
    assert kept_shares(deviations, np.full((50, 41), 4.0)) == pytest.approx(5.0 / 9.0, abs=0.05)
    assert not kept_shares(deviations, np.full((50, 41), 1e9)).any()


def test_the_mixture_keeps_the_level_of_a_dataset() -> None:
    made = level(values())
    assert np.median(made.mixed, axis=1) != pytest.approx(made.world)
    given = values(trees=np.zeros((2, 3)))
    alike = level(given)
    middle = np.median(alike.world, axis=1, keepdims=True)
    assert alike.mixed == pytest.approx(middle + WORLD_SHARE * (alike.world - middle))


def test_a_degenerate_tracker_moves_nobody_else() -> None:
    given = values()
    spoilt = given.difference.copy()
    spoilt[:, spoilt[0].argmax()] += 1e6
    worst = int(given.difference[0].argmax())
    others = [tracker for tracker in range(3) if tracker != worst]
    if (given.difference.argmax(axis=1) == worst).all():
        changed = level(values(difference=spoilt))
        assert changed.world[:, others] == pytest.approx(level(given).world[:, others])
