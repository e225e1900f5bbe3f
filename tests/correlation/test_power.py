"""How many trackers: by the textbook, by simulation, and by brute force over subsets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from extrinsic.correlation.power import (
    CORRELATION,
    LARGEST,
    MEAN,
    TrackersNeeded,
    error_scale,
    share_resolved,
    trackers_needed,
    trackers_needed_range,
)
from extrinsic.errors import UsageError


def test_by_the_textbook() -> None:
    """A mean 2.8 errors away from 0 is resolved with probability .8."""
    assert trackers_needed(2.8016, 1.0, 20, MEAN) == 20
    assert trackers_needed(2.8016 / 2.0, 1.0, 20, MEAN) == 80
    assert trackers_needed(-2.8016 / 3.0, 1.0, 20, CORRELATION) == 3 + 17 * 9
    n, effect = 32, 0.5
    draws = np.random.default_rng(3).normal(effect, 1.0, (20_000, n))
    resolved = np.abs(draws.mean(axis=1)) > 1.96 / np.sqrt(n)
    assert trackers_needed(effect, 1.0 / np.sqrt(n), n, MEAN) == n
    assert resolved.mean() == pytest.approx(0.8, abs=0.015)


@pytest.mark.parametrize(("level", "power"), [(0.95, 0.8), (0.99, 0.5), (0.9, 0.95)])
def test_other_levels(level: float, power: float) -> None:
    reach = stats.norm.ppf((1 + level) / 2) + stats.norm.ppf(power)
    needed = trackers_needed(0.3, 0.2, 12, CORRELATION, level, power)
    assert needed == np.ceil(3 + 9 * (reach * 0.2 / 0.3) ** 2)


def test_a_correlation_by_simulation() -> None:
    """r = .3 by Fisher's interval: at the number needed .8 of samples are resolved.

    Of few points a little more are, since atanh(r) is r / (2 (n - 1)) too high on average.
    """
    n = trackers_needed(float(np.arctanh(0.3)), 1.0, 4)
    rng = np.random.default_rng(1)
    x, noise = rng.normal(size=(2, 20_000, n))
    y = 0.3 * x + np.sqrt(1.0 - 0.3**2) * noise
    x, y = (values - values.mean(axis=1, keepdims=True) for values in (x, y))
    r = (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    resolved = np.arctanh(r) * np.sqrt(n - 3) > stats.norm.ppf(0.975)
    assert resolved.mean() == pytest.approx(0.8, abs=0.015)


def test_limits() -> None:
    assert trackers_needed(0.0, 1.0, 20) == trackers_needed(1e-9, 1.0, 20) == LARGEST
    assert trackers_needed(5.0, 1e-6, 20) == 4
    assert trackers_needed(5.0, 1e-6, 20, MEAN) == 1


def test_at_the_ends_of_the_interval() -> None:
    """As Lee's findings have it, to the last one."""
    for low, high in ((0.1, 0.5), (-0.5, -0.1), (-0.1, 0.5), (0.0, 0.5), (-0.6, 0.2)):
        value = (low + high) / 2 + 0.01
        needed = trackers_needed_range(value, (low, high), 0.12, 17)
        near, far = sorted((abs(low), abs(high)))
        most = None if low <= 0 <= high else trackers_needed(near, 0.12, 17)
        expected = TrackersNeeded(trackers_needed(value, 0.12, 17), trackers_needed(far, 0.12, 17), most)
        assert needed == expected
    assert trackers_needed_range(0.3, (0.1, 0.5), 0.1, 17, MEAN).most == trackers_needed(0.1, 0.1, 17, MEAN)


def test_errors_that_fall_as_they_should() -> None:
    assert error_scale([(n, 2.0 / np.sqrt(n - 3)) for n in (6, 8, 12)]) == pytest.approx(2.0)
    assert error_scale([(n, 2.0 / np.sqrt(n)) for n in (6, 8, 12)], MEAN) == pytest.approx(2.0)


def test_the_share_of_subsets_by_brute_force() -> None:
    """Subsets of a fixed population of numbers: how often does their interval leave out 0?"""
    rng = np.random.default_rng(4)
    population = rng.normal(size=40)
    population = (population - population.mean()) / population.std(ddof=1) + 0.45
    subsets = np.argsort(rng.random((4_000, 40)), axis=1)[:, :20]
    drawn = population[subsets]
    far = drawn.mean(axis=1) / (drawn.std(axis=1, ddof=1) / np.sqrt(20)) > 1.96
    assert share_resolved(0.45, 1.0 / np.sqrt(20), 0.5) == pytest.approx(far.mean(), abs=0.04)
    assert share_resolved(-0.45, 1.0 / np.sqrt(20), 0.5) == share_resolved(0.45, 1.0 / np.sqrt(20), 0.5)


def test_what_makes_no_sense() -> None:
    with pytest.raises(UsageError, match="enough trackers"):
        trackers_needed(0.5, 0.1, 3)
    for value, error in ((np.nan, 0.1), (0.5, np.nan)):
        with pytest.raises(UsageError, match="value and its error"):
            trackers_needed(value, error, 20)
