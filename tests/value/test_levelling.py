"""Levels over a study: random effects by hand, and the influence of dialogs against refitting."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.value.levelling import WorldValues, kept_shares, level, shrunk_levels


def test_levels_that_agree_are_pooled() -> None:
    levels, own = shrunk_levels(np.array([4.0, 6.0, 5.0]), np.full(3, 100.0))
    assert levels == pytest.approx([5.0, 5.0, 5.0])
    assert own == pytest.approx([1 / 3] * 3)


def test_levels_that_disagree_stay_apart() -> None:
    """DerSimonian and Laird by hand: Q = 200, so that t2 = (200 - 1) / 1 and a level keeps t2 / (t2 + 1)."""
    levels, own = shrunk_levels(np.array([0.0, 20.0]), np.ones(2))
    kept = 199.0 / 200.0
    assert levels == pytest.approx([10.0 - 10.0 * kept, 10.0 + 10.0 * kept])
    assert own == pytest.approx([kept + (1.0 - kept) / 2.0] * 2)


def test_one_dataset_has_its_own_level() -> None:
    levels, own = shrunk_levels(np.array([7.0]), np.array([50.0]))
    assert (levels.tolist(), own.tolist()) == ([7.0], [1.0])


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
    assert alike.mixed == pytest.approx(middle + 0.75 * (alike.world - middle))


def test_a_degenerate_tracker_moves_nobody_else() -> None:
    given = values()
    spoilt = given.difference.copy()
    spoilt[:, spoilt[0].argmax()] += 1e6
    worst = int(given.difference[0].argmax())
    others = [tracker for tracker in range(3) if tracker != worst]
    if (given.difference.argmax(axis=1) == worst).all():
        changed = level(values(difference=spoilt))
        assert changed.world[:, others] == pytest.approx(level(given).world[:, others])
