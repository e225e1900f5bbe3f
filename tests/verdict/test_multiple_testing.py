"""Adjusted p-values against worked examples, their formulas, and Holm's from all the hypotheses together."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extrinsic.arrays import Floats
from extrinsic.verdict.intervals import holm, max_t_p

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
