"""Partial correlations against the residuals of regressions, and their two forms against each other."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.arrays import Floats
from extrinsic.correlation.estimate import Estimate
from extrinsic.correlation.partial import (
    partial_correlation,
    partial_estimate,
    partial_scatter,
    scatter_correlations,
)
from tests.verdict.drawing import draw


def points(seed: int = 1, n: int = 30, k: int = 5) -> Floats:
    """(k, n) things that have something in common."""
    return draw(seed, k, n) + draw(seed + 1, n)


def residuals(values: Floats, given: Floats) -> Floats:
    columns = np.column_stack([np.ones(given.shape[-1]), given.T])
    return np.asarray((values.T - columns @ np.linalg.lstsq(columns, values.T, rcond=None)[0]).T)


def test_given_one_by_regressions() -> None:
    x, y, z = points(k=3)
    expected = np.corrcoef(residuals(np.stack([x, y]), z[None]))[0, 1]
    r = np.corrcoef([x, y, z])
    assert partial_correlation(r[0, 1], r[0, 2], r[1, 2]) == pytest.approx(expected)


def test_as_the_experiments_had_it_to_the_last_bit() -> None:
    a, b, between = 0.9 * np.tanh(draw(3, 3, 50))
    expected = (a - b * between) / np.sqrt((1.0 - b**2) * (1.0 - between**2))
    assert (partial_correlation(a, b, between) == expected).all()
    scatter = np.stack([np.cov(points(seed)) for seed in range(4, 10)])
    held, shown = [1, 2], [4, 0]
    across, inside = scatter[:, :, held], scatter[:, held][:, :, held]
    whole = scatter - across @ np.linalg.solve(inside, np.swapaxes(across, 1, 2))
    assert (partial_scatter(scatter, held) == whole).all()
    across = scatter[..., shown, :][..., held]
    part = scatter[..., shown, :][..., shown] - across @ np.linalg.solve(inside, np.swapaxes(across, -1, -2))
    assert (partial_scatter(scatter, held, shown) == part).all()


def test_of_estimates() -> None:
    parts = [
        Estimate(*(0.9 * np.tanh(draw(seed, *shape)) for shape in ((), (9,), (4,)))) for seed in (1, 2, 3)
    ]
    partial = partial_estimate(*parts)
    assert partial.is_correlation
    for name in ("value", "resampled", "left_out"):
        expected = partial_correlation(*(getattr(part, name) for part in parts))
        assert (getattr(partial, name) == expected).all()


def test_what_another_determines_is_undefined() -> None:
    r = partial_correlation(
        np.array([0.5, 1.0, np.nan]), np.array([1.0, 1.0, 0.1]), np.array([0.5, 1.0, 0.1])
    )
    assert np.isnan(r).all()


def test_what_another_determines_up_to_rounding_is_undefined() -> None:
    """As over a resample of two trackers, where every r is 1 or -1."""
    nearly = 1.0 - 1e-14
    r = partial_correlation(
        np.array([nearly, 0.3, 0.3]), np.array([nearly, 0.2, nearly]), np.array([1.0, -nearly, 0.2])
    )
    assert np.isnan(r).all()


def test_given_several_by_regressions() -> None:
    values = points()
    expected = np.corrcoef(residuals(values[[0, 3]], values[[1, 2, 4]]))[0, 1]
    left = partial_scatter(np.cov(values), given=[1, 2, 4])
    assert scatter_correlations(left, [0], [3])[0, 0] == pytest.approx(expected)
    assert left[[1, 2, 4]] == pytest.approx(np.zeros((3, 5)), abs=1e-12)
    part = partial_scatter(np.cov(values), given=[1, 2, 4], kept=[0, 3])
    assert part == pytest.approx(left[np.ix_([0, 3], [0, 3])])


def test_both_forms_are_one() -> None:
    r = np.corrcoef(points(k=3))
    left = partial_scatter(r, given=[2], kept=[0, 1])
    expected = partial_correlation(r[0, 1], r[0, 2], r[1, 2])
    assert scatter_correlations(left, [0], [1])[0, 0] == pytest.approx(expected)


def test_many_at_once() -> None:
    scatter = np.stack([[np.cov(points(seed)) for seed in row] for row in ((1, 2, 3), (4, 5, 6))])
    left = partial_scatter(scatter, [1, 2])
    assert left.shape == (2, 3, 5, 5)
    for place in np.ndindex(2, 3):
        assert left[place] == pytest.approx(partial_scatter(scatter[place], [1, 2]))


def test_what_does_not_vary_has_no_correlation() -> None:
    scatter = np.array([[[0.0, 0.0], [0.0, 2.0]]])
    assert np.isnan(scatter_correlations(scatter, [0], [1])).all()
