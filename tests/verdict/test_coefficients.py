"""Coefficients against scipy's, pairs counted one by one, and what must not change them."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from extrinsic.arrays import Floats
from extrinsic.errors import UsageError
from extrinsic.verdict.coefficients import (
    COEFFICIENTS,
    SCOPES,
    Coefficient,
    Scope,
    correlate,
    is_flat,
)
from tests.verdict.panels import draw, draw_study, flattened

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}

every_coefficient = pytest.mark.parametrize("coefficient", COEFFICIENTS)
every_scope = pytest.mark.parametrize("scope", SCOPES)

every_pair_of_both = pytest.mark.parametrize(("coefficient", "scope"), list(product(COEFFICIENTS, SCOPES)))


def count_pairs(metric: Floats, target: Floats, scope: str) -> float:
    """StateActions one by one; (n_datasets, n_trackers)."""
    n_datasets, n_trackers = metric.shape
    places = [(dataset, tracker) for dataset in range(n_datasets) for tracker in range(n_trackers)]
    right = total = 0.0
    for one, other in combinations(places, 2):
        if (scope == "within" and one[0] != other[0]) or target[one] == target[other]:
            continue
        total += 1.0
        if metric[one] == metric[other]:
            right += 0.5
        elif (metric[one] > metric[other]) == (target[one] > target[other]):
            right += 1.0
    return right / total


@every_scope
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("coefficient", SCIPY)
def test_as_scipy_has_them(coefficient: Coefficient, scope: Scope, ties: bool) -> None:
    metrics, targets = draw_study(1, 3, 4, 7, ties)
    targets = np.concatenate([targets, draw(5, 1, 4, 7, ties=ties)])
    found = correlate(metrics, targets, coefficient, scope)
    expected = [
        [SCIPY[coefficient](flattened(m, scope), flattened(t, scope)).statistic for t in targets]
        for m in metrics
    ]
    assert found == pytest.approx(np.array(expected), abs=1e-9)


@every_scope
@pytest.mark.parametrize("ties", [False, True])
def test_pairs_one_by_one(scope: Scope, ties: bool) -> None:
    metrics, targets = draw_study(2, 3, 3, 6, ties)
    expected = [[count_pairs(m, t, scope) for t in targets] for m in metrics]
    assert correlate(metrics, targets, "pairwise", scope) == pytest.approx(np.array(expected))


def test_pairs_by_hand() -> None:
    """First dataset: 1 < 2 right, 1 < 3 tied (half), 2 > 3 wrong; second: two equal targets, two pairs right.
    Pooled, the three equal targets of 9 more pairs are left out as well."""
    metric = np.array([[[1.0, 2.0, 1.0], [5.0, 6.0, 4.0]]])
    target = np.array([[[1.0, 2.0, 3.0], [8.0, 8.0, 7.0]]])
    assert correlate(metric, target, "pairwise", "within")[0, 0] == pytest.approx(3.5 / 5)
    assert correlate(metric, target, "pairwise", "pooled")[0, 0] == pytest.approx(12.5 / 14)


@every_scope
@every_coefficient
def test_leading_axes(coefficient: Coefficient, scope: Scope) -> None:
    metrics, targets = draw(3, 2, 5, 3, 4, 6), draw(4, 2, 5, 2, 4, 6)
    found = correlate(metrics, targets, coefficient, scope)
    assert found.shape == (2, 5, 3, 2)
    for i, j in np.ndindex(2, 5):
        alone = correlate(metrics[i, j], targets[i, j], coefficient, scope)
        assert found[i, j] == pytest.approx(alone, abs=1e-12)
    spread = correlate(metrics[:1, :1], targets, coefficient, scope)
    assert spread[1, 4] == pytest.approx(
        correlate(metrics[0, 0], targets[1, 4], coefficient, scope), abs=1e-12
    )


@every_scope
@every_coefficient
def test_nan_stays_where_it_is(coefficient: Coefficient, scope: Scope) -> None:
    metrics, targets = draw(5, 3, 2, 5), draw(6, 2, 2, 5)
    whole = correlate(metrics, targets, coefficient, scope)
    metrics[1, 0, 3] = targets[0, 1, 2] = np.nan
    found = correlate(metrics, targets, coefficient, scope)
    assert np.isnan(found).tolist() == [[True, False], [True, True], [True, False]]
    assert found[[0, 2], 1] == pytest.approx(whole[[0, 2], 1])


@every_scope
@every_coefficient
@pytest.mark.parametrize("flat", [None, 0.0, 0.3, -7.0])
def test_flat_values_have_no_coefficient(coefficient: Coefficient, scope: Scope, flat: float | None) -> None:
    """Up to rounding. Only pairwise accuracy has something to say of a flat metric: a half."""
    values, constant = draw(7, 1, 2, 4), nearly_flat() if flat is None else np.full((1, 2, 4), flat)
    assert np.isnan(correlate(values, constant, coefficient, scope)[0, 0])
    of_metric = correlate(constant, values, coefficient, scope)[0, 0]
    assert of_metric == 0.5 if coefficient == "pairwise" else np.isnan(of_metric)


def nearly_flat() -> Floats:
    values = np.full((1, 2, 4), 0.3)
    values[0, 0, 0] = values[0, 1, 2] = 0.1 + 0.2
    assert (values != 0.3).any()
    return values


@every_pair_of_both
def test_ties_up_to_rounding(coefficient: Coefficient, scope: Scope) -> None:
    """Two equal values stay equal if the last bit of one is off."""
    metrics, targets = draw_study(9, 2, 2, 6, ties=True)
    off = np.nextafter(metrics, np.where(draw(10, *metrics.shape) > 0, np.inf, -np.inf))
    assert (off != metrics).all()
    expected = correlate(metrics, targets, coefficient, scope)
    assert correlate(off, targets, coefficient, scope) == pytest.approx(expected, abs=1e-9)
    expected = correlate(targets, metrics, coefficient, scope)
    assert correlate(targets, off, coefficient, scope) == pytest.approx(expected, abs=1e-9)


def test_flat_within_but_not_pooled() -> None:
    values = np.array([[[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]], [[1.0, 1.0, 1.0], [2.0, 2.0, 2.5]]])
    assert is_flat(values, "within").tolist() == [True, False]
    assert is_flat(values, "pooled").tolist() == [False, False]
    assert is_flat(nearly_flat(), "pooled").tolist() == [True]


def test_unknown_names() -> None:
    values: Any = draw(11, 1, 2, 3)
    with pytest.raises(UsageError, match=r"no coefficient 'kendal'.*kendall"):
        correlate(values, values, "kendal", "within")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no scope 'inside'"):
        correlate(values, values, "pearson", "inside")  # type: ignore[arg-type]


@st.composite
def studies(draw_: Any) -> tuple[Floats, Floats]:
    """A metric and a target in whole numbers, few of them, so that ties are common."""
    shape = (1, draw_(st.integers(1, 3)), draw_(st.integers(2, 6)))
    whole = arrays(np.float64, shape, elements=st.integers(-4, 4).map(float))
    return draw_(whole), draw_(whole)


def close(found: Floats, expected: Floats) -> bool:
    return bool(np.allclose(found, expected, atol=1e-9, equal_nan=True))


@every_pair_of_both
@given(
    study=studies(),
    slope=st.sampled_from([-1.0, 0.25, 3.0, 1000.0]),
    shift=st.integers(-20, 20),
    seed=st.integers(0, 2**32),
)
def test_neither_unit_nor_origin_nor_order_matters(
    coefficient: Coefficient, scope: Scope, study: tuple[Floats, Floats], slope: float, shift: int, seed: int
) -> None:
    """A negative unit turns the coefficient round."""
    metric, target = study
    there = correlate(metric, target, coefficient, scope)
    turned = 1.0 - there if coefficient == "pairwise" else -there
    expected = turned if slope < 0 else there
    assert close(correlate(slope * metric + shift, target, coefficient, scope), expected)
    if slope > 0 or coefficient != "pairwise":  # a flat metric has a pairwise accuracy, a flat target none
        assert close(correlate(metric, slope * target + shift, coefficient, scope), expected)
    order = np.random.default_rng(seed).permutation(metric.shape[-1])
    assert close(correlate(metric[..., order], target[..., order], coefficient, scope), there)


@every_scope
@every_coefficient
@given(study=studies())
def test_bounds_and_the_best_there_is(
    coefficient: Coefficient, scope: Scope, study: tuple[Floats, Floats]
) -> None:
    metric, target = study
    found = correlate(metric, target, coefficient, scope)[0, 0]
    lowest = 0.0 if coefficient == "pairwise" else -1.0
    assert np.isnan(found) or lowest <= found <= 1.0
    itself = correlate(target, target, coefficient, scope)[0, 0]
    # A pooled flat target has no coefficient; the pairs of one dataset may all be tied where others are not.
    assert itself == pytest.approx(1.0) or (np.isnan(itself) and is_flat(target, scope)[0])


@every_coefficient
@given(study=studies(), shifts=st.lists(st.integers(-50, 50), min_size=3, max_size=3))
def test_shifts_of_datasets_do_not_matter_within(
    coefficient: Coefficient, study: tuple[Floats, Floats], shifts: list[int]
) -> None:
    metric, target = study
    moved = metric + np.array(shifts[: metric.shape[1]], dtype=np.float64)[:, None]
    expected = correlate(metric, target, coefficient, "within")
    assert close(correlate(moved, target, coefficient, "within"), expected)
