"""p-values against all permutations one by one, and against scipy's."""

from __future__ import annotations

from itertools import permutations, product
from math import factorial

import numpy as np
import pytest
from scipy import stats

from extrinsic.arrays import Floats
from extrinsic.verdict import intervals
from extrinsic.verdict.coefficients import COEFFICIENTS, SCOPES, Coefficient, Scope
from extrinsic.verdict.intervals import draw_permutations, permutation_test
from tests.verdict.drawing import draw, draw_study, flattened
from tests.verdict.test_coefficients import SCIPY, count_pairs


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
