"""Intervals by hand and against numpy's; p-values against all permutations and scipy's; adjusted ones."""

from __future__ import annotations

from itertools import combinations, permutations, product
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from extrinsic.arrays import Floats
from extrinsic.errors import UsageError
from extrinsic.verdict import intervals
from extrinsic.verdict.coefficients import COEFFICIENTS, SCOPES, Coefficient, Scope
from extrinsic.verdict.intervals import (
    draw_permutations,
    holm,
    interval,
    jackknife_interval,
    max_t_p,
    permutation_test,
)
from tests.verdict.panels import draw, draw_study, flattened
from tests.verdict.test_coefficients import SCIPY, count_pairs


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_percentiles_are_numpys(level: float) -> None:
    resampled = draw(1, 137, 3, 2)
    low, high = interval(np.zeros((3, 2)), resampled, level=level)
    expected = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2], axis=0)
    assert low == pytest.approx(expected[0])
    assert high == pytest.approx(expected[1])


def test_a_single_number() -> None:
    """Of 0, 1, ..., 40 the share .025 lies at place 1 and .975 at place 39."""
    low, high = interval(np.float64(7.0), np.random.default_rng(0).permutation(41).astype(np.float64))
    assert (low, high) == pytest.approx((1.0, 39.0))


def test_resamples_without_a_statistic_are_left_out() -> None:
    resampled = draw(2, 100, 3)
    resampled[:50, 0] = resampled[:51, 1] = np.nan
    resampled[::7, 2] = np.nan
    low, high = interval(np.zeros(3), resampled)
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [False, True, False]
    expected = np.nanquantile(resampled, [0.025, 0.975], axis=0)
    assert low[[0, 2]] == pytest.approx(expected[0, [0, 2]])
    assert high[[0, 2]] == pytest.approx(expected[1, [0, 2]])


def test_no_interval_of_no_statistic() -> None:
    low, high = interval(np.array([np.nan, 0.0]), draw(3, 50, 2))
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [True, False]


def test_what_makes_no_sense() -> None:
    for level in (0.0, 1.0, 95.0):
        with pytest.raises(UsageError, match="between 0 and 1"):
            interval(np.float64(0.0), draw(15, 9), level=level)


def test_jackknife_by_hand() -> None:
    """Three trackers: atanh(r) of 0, .5, -.5 without each; t with 2 degrees of freedom is 4.3027."""
    z = np.arctanh(0.5)
    half = 4.302652729911275 * np.sqrt(2 / 3 * 2 * z**2)
    found = jackknife_interval(np.array(0.2), np.array([0.0, 0.5, -0.5]))
    assert found == pytest.approx((np.tanh(np.arctanh(0.2) - half), np.tanh(np.arctanh(0.2) + half)))


def distance(metric: Floats, target: Floats, coefficient: str, scope: str) -> float:
    """How far from chance, by scipy or pair by pair."""
    if coefficient == "pairwise":
        return abs(count_pairs(metric, target, scope) - 0.5)
    found = SCIPY[coefficient](flattened(metric, scope), flattened(target, scope))
    return abs(float(found.statistic))


@pytest.mark.parametrize(("coefficient", "scope"), list(product(COEFFICIENTS, SCOPES)))
@pytest.mark.parametrize("ties", [False, True])
def test_all_permutations_one_by_one(coefficient: Coefficient, scope: Scope, ties: bool) -> None:
    """The same permutation on both datasets; the one that moves nothing counts as well."""
    metrics, targets = draw_study(3, 2, 2, 4, ties)
    drawn = draw_permutations("study", 4, 1_000, 0)
    found = permutation_test(metrics, targets, coefficient, scope, drawn).p
    for metric, p in zip(metrics, found[:, 0], strict=True):
        observed = distance(metric, targets[0], coefficient, scope)
        orders = [list(order) for order in permutations(range(4))]
        far = [distance(metric, targets[0][:, o], coefficient, scope) >= observed - 1e-9 for o in orders]
        assert p == pytest.approx(np.mean(far))


@pytest.mark.parametrize("scope", SCOPES)
def test_draws_are_counted_and_one_is_added(scope: Scope) -> None:
    metrics, _ = draw_study(5, 3, 2, 9)
    targets = draw(6, 2, 2, 9)
    drawn = draw_permutations("study", 9, 40, 0)
    found = permutation_test(metrics, targets, "pearson", scope, drawn).p
    for (m, metric), (t, target) in product(enumerate(metrics), enumerate(targets)):
        observed = distance(metric, target, "pearson", scope)
        count = sum(distance(metric, target[:, order], "pearson", scope) >= observed for order in drawn)
        assert found[m, t] == pytest.approx((count + 1) / 41)


def test_rounding_does_not_decide() -> None:
    """Two values of the metric: every order within them leaves the same r, up to its last bits."""
    metrics = np.array([[[0.1, 0.1, 0.1, 0.7, 0.7, 0.7]]])
    targets = np.array([[[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]]])
    drawn = draw_permutations("study", 6, factorial(6), 0)
    # The upper three among the upper, or among the lower: 2 of 20 ways.
    assert permutation_test(metrics, targets, "pearson", "pooled", drawn).p[0, 0] == 2 / 20


def test_no_coefficient_no_p() -> None:
    metrics, targets = draw(8, 3, 2, 5), draw(9, 1, 2, 5)
    drawn = draw_permutations("study", 5, 50, 0)
    whole = permutation_test(metrics, targets, "pearson", "within", drawn).p
    metrics[0, 1, 2], metrics[1] = np.nan, 0.3
    found = permutation_test(metrics, targets, "pearson", "within", drawn).p
    assert np.isnan(found[:, 0]).tolist() == [True, True, False]
    assert found[2] == whole[2]


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_blocks_do_not_matter(coefficient: Coefficient, monkeypatch: pytest.MonkeyPatch) -> None:
    metrics, targets = draw_study(10, 2, 3, 6)
    drawn = draw_permutations("study", 6, 50, 0)
    expected = permutation_test(metrics, targets, coefficient, "within", drawn).p
    monkeypatch.setattr(intervals, "BLOCK", 500)
    assert (permutation_test(metrics, targets, coefficient, "within", drawn).p == expected).all()


def test_draws() -> None:
    """All but the one that moves nothing where there are few; else as many as asked, by name and seed."""
    few = draw_permutations("study", 4, 23, 0)
    assert sorted(map(tuple, few.tolist())) == list(permutations(range(4)))[1:]
    many = draw_permutations("study", 4, 22, 0)
    assert many.shape == (22, 4)
    assert (np.sort(many, axis=1) == np.arange(4)).all()
    assert (many == draw_permutations("study", 4, 22, 0)).all()
    for other in (draw_permutations("other", 4, 22, 0), draw_permutations("study", 4, 22, 1)):
        assert (many != other).any()
    assert draw_permutations("study", 1, 10, 0).shape == (0, 1)


def test_draws_are_fair() -> None:
    """Every tracker comes to every place about equally often: chi-square of 5 x 5 places, 16 free."""
    drawn = draw_permutations("study", 5, 100, 2)
    counts = np.array([[(drawn[:, place] == tracker).sum() for tracker in range(5)] for place in range(5)])
    # (5 - 1)^2 free; the statistic of a permutation's places is (5 - 1) / 5 of a chi-square.
    statistic = ((counts - 20.0) ** 2 / 20.0).sum() * 4 / 5
    assert statistic < stats.chi2.ppf(0.999, 16)


def test_the_largest_of_all_metrics() -> None:
    metrics, targets = draw_study(1, 3, 2, 5)
    drawn = draw_permutations("study", 5, 200, 0)
    test = permutation_test(metrics, targets, "pearson", "within", drawn)
    far = np.array([distance(metric, targets[0], "pearson", "within") for metric in metrics])
    null = np.array(
        [[distance(m, targets[0][:, row], "pearson", "within") for m in metrics] for row in drawn]
    )
    order, highest = np.argsort(-far), 0.0
    for place, metric in enumerate(order):
        count = (null[:, order[place:]].max(axis=1) >= far[metric] - 1e-9).sum()
        highest = max(highest, (count + 1) / (len(drawn) + 1))
        assert test.p_max_t[metric, 0] == pytest.approx(highest)


p_values = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=7)


def test_worked_examples() -> None:
    """From the pages of stdlib's `padjust`, which show what R's `p.adjust` gives."""
    assert holm(np.array([0.319, 0.201, 0.4, 0.374, 0.113])) == pytest.approx(
        np.array([0.957, 0.804, 0.957, 0.957, 0.565])
    )


def test_missing_p_values_do_not_count() -> None:
    p = np.array([0.01, np.nan, 0.04, np.nan, 0.03])
    adjusted = holm(p)
    assert np.isnan(adjusted).tolist() == [False, True, False, True, False]
    assert adjusted[[0, 2, 4]] == pytest.approx(holm(p[[0, 2, 4]]))
    assert np.isnan(holm(np.array([np.nan]))).all()


def holm_by_closing(p: Floats) -> Floats:
    """A hypothesis falls only with every set of hypotheses it is in, each tested by Bonferroni."""
    n = len(p)
    sets = [set(chosen) for size in range(1, n + 1) for chosen in combinations(range(n), size)]
    worst = [max(len(s) * min(p[j] for j in s) for s in sets if i in s) for i in range(n)]
    return np.minimum(worst, 1.0)


@given(p_values)
def test_holm_is_bonferroni_closed(p: list[float]) -> None:
    assert holm(np.array(p)) == pytest.approx(holm_by_closing(np.array(p)))


def test_max_t_by_loops() -> None:
    """From the largest down, against the largest of those not above it, draw by draw."""
    rng = np.random.default_rng(3)
    null = np.abs(rng.normal(size=(30, 5)))
    observed = np.array([2.0, 0.5, np.nan, 1.5, 1.4])
    order = [0, 3, 4, 1]
    expected, highest = np.full(5, np.nan), 0.0
    for place, metric in enumerate(order):
        count = sum(max(row[other] for other in order[place:]) >= observed[metric] for row in null)
        highest = max(highest, (count + 1) / 31)
        expected[metric] = highest
    assert max_t_p(observed, null) == pytest.approx(expected, nan_ok=True)


def test_statistics_that_are_one_cost_nothing() -> None:
    """Holm pays for every copy of a metric, the largest of them does not."""
    rng = np.random.default_rng(4)
    alone = np.abs(rng.normal(size=(199, 1)))
    p = max_t_p(np.array([2.2]), alone)[0]
    copies = max_t_p(np.full(10, 2.2), np.repeat(alone, 10, axis=1))
    assert copies == pytest.approx(np.full(10, p))
    assert holm(np.full(10, p))[0] == pytest.approx(10 * p)
