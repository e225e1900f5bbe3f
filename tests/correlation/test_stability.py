"""Subsets of trackers, each looked at by itself."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from extrinsic.arrays import Floats
from extrinsic.correlation.stability import FEWEST, stability
from extrinsic.verdict.coefficients import COEFFICIENTS, Coefficient, correlate
from tests.verdict.drawing import draw, draw_study


def study() -> tuple[Floats, Floats]:
    metrics, targets = draw_study(1, 5, 2, 6)
    return metrics, targets[0]


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_all_trackers_agree_with_themselves(coefficient: Coefficient) -> None:
    metrics, target = study()
    rows = stability(metrics, target, coefficient, "within", 1_000, "study", 0)
    assert [row.n_trackers for row in rows] == [4, 5, 6]
    assert [row.n_subsets for row in rows] == [15, 6, 1]
    whole = rows[-1]
    assert (whole.agreement, whole.low, whole.high) == pytest.approx((1.0, 1.0, 1.0))
    assert (whole.same_winner, whole.loss) == (1.0, 0.0)


def test_subset_by_subset() -> None:
    metrics, target = study()
    row = stability(metrics, target, "pearson", "within", 1_000, "study", 0)[0]
    whole = correlate(metrics, target[None], "pearson", "within")[:, 0]
    agreement, same, loss = [], [], []
    for chosen in combinations(range(6), 4):
        found = correlate(metrics[..., chosen], target[None][..., chosen], "pearson", "within")[:, 0]
        agreement.append(stats.kendalltau(found, whole).statistic)
        same.append(found.argmax() == whole.argmax())
        loss.append(whole.max() - whole[found.argmax()])
    assert row.agreement == pytest.approx(np.mean(agreement))
    assert (row.low, row.high) == pytest.approx(tuple(np.quantile(agreement, [0.05, 0.95])))
    assert (row.same_winner, row.loss) == pytest.approx((np.mean(same), np.mean(loss)))
    assert 0.0 < row.same_winner < 1.0


def test_draws_where_there_are_many() -> None:
    """Never more than asked for, by name and seed; their mean is near that of all subsets."""
    metrics, targets = draw_study(2, 5, 2, 9)
    few, again, other = (
        stability(metrics, targets[0], "pearson", "within", 60, name, 0) for name in ("a", "a", "b")
    )
    assert [row.n_subsets for row in few] == [60, 60, 60, 36, 9, 1]
    assert few == again
    assert few[0] != other[0]
    every = stability(metrics, targets[0], "pearson", "within", 1_000, "a", 0)
    assert [row.agreement for row in few] == pytest.approx([row.agreement for row in every], abs=0.12)
    assert few[-1] == every[-1]


def test_metrics_without_a_coefficient_are_left_out() -> None:
    metrics, target = study()
    expected = stability(metrics, target, "pearson", "within", 100, "study", 0)
    more = np.concatenate([metrics[:2], np.full((1, 2, 6), 0.3), metrics[2:]])
    assert stability(more, target, "pearson", "within", 100, "study", 0) == expected
    assert stability(metrics[:1], target, "pearson", "within", 100, "study", 0) == []


def test_too_few_trackers() -> None:
    assert (
        stability(draw(3, 4, 2, FEWEST - 1), draw(4, 2, FEWEST - 1), "pearson", "within", 9, "study", 0) == []
    )


def test_a_metric_in_other_units_changes_no_winner() -> None:
    """The best metric twice: whichever is told, it is the same winner."""
    metrics, target = study()
    target = metrics[0] + target / 10
    metrics[1] = 2.0 * metrics[0] + 1.0
    for row in stability(metrics, target, "pearson", "within", 1_000, "study", 0):
        assert (row.same_winner, row.loss) == pytest.approx((1.0, 0.0))


def test_a_metric_that_is_flat_on_a_subset_says_nothing_of_the_others() -> None:
    """It tells one tracker from the others only: of the others alone it says nothing."""
    metrics, target = study()
    without = stability(metrics, target, "pearson", "within", 1_000, "study", 0)[0]
    one = np.zeros((1, 2, 6))
    one[..., 0] = 1.0
    with_one = stability(np.concatenate([metrics, one]), target, "pearson", "within", 1_000, "study", 0)[0]
    assert with_one.agreement > without.agreement - 0.1
