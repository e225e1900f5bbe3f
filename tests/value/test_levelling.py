"""Levels over a study: random effects by hand, and the influence of dialogs against refitting."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.value.levelling import WorldValues, kept_shares, level
from extrinsic.value.world_value import WORLD_SHARE, level_correction


def test_levels_within_their_noise_are_not_corrected() -> None:
    assert not level_correction(np.array([4.0, -6.0, 5.0]), np.full(3, 100.0)).value.any()


def test_levels_beyond_their_noise_keep_what_is_not_noise() -> None:
    """Random effects by hand: the mean is 0, and the variance 800 less a noise of 1: 799 / 800 is kept."""
    corrected = level_correction(np.array([20.0, -20.0]), np.ones(2))
    assert corrected.value == pytest.approx([20.0 * 799.0 / 800.0, -20.0 * 799.0 / 800.0])


def test_what_all_worlds_get_wrong_is_corrected_everywhere() -> None:
    """A mean of 20 with a noise of 200 / 4: 1 - 50 / 400 is kept; the deviations are less than noise."""
    corrected = level_correction(np.array([10.0, 30.0, 20.0, 20.0]), np.full(4, 200.0))
    assert corrected.value == pytest.approx(np.full(4, 20.0 * 7.0 / 8.0))
    assert corrected.own == pytest.approx(np.full(4, 7.0 / 32.0))


def test_the_noisier_dataset_keeps_less_of_its_deviation() -> None:
    """t2 = 800 - 100 = 700."""
    corrected = level_correction(np.array([20.0, -20.0]), np.array([10.0, 190.0]))
    assert corrected.value == pytest.approx([20.0 * 700.0 / 710.0, -20.0 * 700.0 / 890.0])


def test_errors_and_their_variance_are_those_of_a_simulation() -> None:
    """Worlds that are 12 too low by 8 and logs with a noise of 13, five to a study: the correction errs less
    than none and than the whole level, and by as much as it says."""
    rng = np.random.default_rng(1)
    true = 12.0 + rng.normal(0.0, 8.0, (4000, 5))
    seen = true + rng.normal(0.0, 13.0, true.shape)
    made = [level_correction(levels, np.full(5, 169.0)) for levels in seen]
    error = np.array([each.value for each in made]) - true
    rms = np.sqrt(np.mean(error**2))
    assert rms < 0.95 * min(np.sqrt(np.mean(true**2)), 13.0)
    said = np.sqrt(np.mean([np.mean(each.own**2 * 169.0 + each.left_out) for each in made]))
    # What worlds differ by in truth is in LEVEL_ERROR.
    assert 0.55 * rms < said < 1.1 * rms


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
