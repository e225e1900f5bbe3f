"""Levels over a study: random effects by hand, and the influence of dialogs against refitting."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.value.levelling import WorldValues, kept_shares, level
from extrinsic.value.world_value import LEVEL_ERROR, WORLD_SHARE, level_correction

OF_ONE = 3.841458820694124
"""The 95 % quantile of chi-square with one degree of freedom."""


def test_levels_within_their_noise_are_not_corrected() -> None:
    assert not level_correction(np.array([4.0, -6.0, 5.0]), np.full(3, 100.0)).value.any()


def test_levels_beyond_their_noise_keep_what_is_not_noise() -> None:
    """Random effects by hand: the mean is 0, and t2 the variance 800 less 3.84 times a noise of 1."""
    corrected = level_correction(np.array([20.0, -20.0]), np.ones(2))
    kept = 20.0 * (800.0 - OF_ONE) / (801.0 - OF_ONE)
    assert corrected.value == pytest.approx([kept, -kept])


def test_what_all_worlds_get_wrong_is_corrected_everywhere() -> None:
    """A mean of 20 with a noise of 200 / 4: 1 - 3.84 * 50 / 400 is kept; deviations are less than noise."""
    corrected = level_correction(np.array([10.0, 30.0, 20.0, 20.0]), np.full(4, 200.0))
    kept = 1.0 - OF_ONE / 8.0
    assert corrected.value == pytest.approx(np.full(4, 20.0 * kept))
    assert corrected.own == pytest.approx(np.full(4, kept / 4.0))


def test_the_noisier_dataset_keeps_less_of_its_deviation() -> None:
    """t2 = 800 - 3.84 * 100."""
    corrected = level_correction(np.array([20.0, -20.0]), np.array([10.0, 190.0]))
    between = 800.0 - 100.0 * OF_ONE
    assert corrected.value == pytest.approx(
        [20.0 * between / (between + noise) * sign for noise, sign in ((10.0, 1), (190.0, -1))]
    )


def test_errors_are_those_of_a_simulation() -> None:
    """Logs with a noise of 13, five to a study: in worlds that fit the correction does little harm, and in
    worlds that are 20 too low by 8 it errs less than none and than the whole level."""
    rng = np.random.default_rng(1)
    fits, wrong = np.zeros((4000, 5)), 20.0 + rng.normal(0.0, 8.0, (4000, 5))
    noise = rng.normal(0.0, 13.0, wrong.shape)

    def error(true: np.ndarray) -> float:
        made = [level_correction(levels, np.full(5, 169.0)).value for levels in true + noise]
        return float(np.sqrt(np.mean((np.array(made) - true) ** 2)))

    assert error(fits) < 0.2 * 13.0
    assert error(wrong) < 0.95 * min(np.sqrt(np.mean(wrong**2)), 13.0)
    # What is left is less than the error that every interval has.
    assert error(wrong) < LEVEL_ERROR


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
