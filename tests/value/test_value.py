"""Differences and means of values: against resampling by hand, and the interval of a plain value."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.value.value import Paired, mean_of, value_of


def returns(seed: int, n: int = 80) -> np.ndarray:
    return np.random.default_rng(seed).normal(10.0, 30.0, n)


def paired(earned: np.ndarray, dialogs: str = "a") -> Paired:
    mean = float(earned.mean())
    return Paired(mean, {dialogs: (earned - mean) / len(earned)})


def test_a_value_alone_has_its_own_interval() -> None:
    earned = returns(1)
    value = value_of("observed", float(earned.mean()), (earned - earned.mean()) / len(earned), {})
    assert paired(earned).interval() == pytest.approx((value.low, value.high))


def test_what_both_share_cancels() -> None:
    """A constant more on every dialog: the difference has no uncertainty at all."""
    earned = returns(1)
    difference = paired(earned + 7.0).minus(paired(earned))
    assert difference.mean == pytest.approx(7.0)
    assert difference.interval() == pytest.approx((7.0, 7.0))


def test_paired_is_the_interval_of_the_differences() -> None:
    first, second = returns(1), returns(2)
    difference = first - second
    expected = paired(difference).interval()
    assert paired(first).minus(paired(second)).interval() == pytest.approx(expected)


def test_other_dialogs_are_resampled_independently() -> None:
    """The variances add: of a standard normal's 95 %, within the error of 1,000 resamples."""
    first, second = returns(1, 400), returns(2, 300)
    low, high = paired(first).minus(paired(second, "b")).interval()
    half_width = 1.96 * np.sqrt(first.var() / 400 + second.var() / 300)
    assert (high - low) / 2 == pytest.approx(half_width, rel=0.1)
    # The same numbers under another name are other dialogs: nothing cancels.
    same = paired(first).minus(paired(first, "b"))
    assert np.diff(same.interval())[0] == pytest.approx(2 * 1.96 * np.sqrt(2 * first.var() / 400), rel=0.1)


def test_a_mean_over_trackers_and_datasets() -> None:
    tables = [returns(seed) for seed in range(4)]
    cells = [paired(table, name) for table, name in zip(tables, "aabb", strict=True)]
    together = mean_of(cells)
    assert together.mean == pytest.approx(np.mean(tables))
    by_dataset = [(tables[0] + tables[1]) / 2, (tables[2] + tables[3]) / 2]
    half_width = 1.96 * np.sqrt(sum(table.var() / 80 for table in by_dataset)) / 2
    assert np.diff(together.interval())[0] / 2 == pytest.approx(half_width, rel=0.1)


def test_parts_that_disagree_widen_the_interval() -> None:
    """By half of their distance; a disagreement that both values share cancels."""
    earned = returns(1)
    plain = paired(earned)
    apart = Paired(plain.mean, plain.influence, {"lstd": plain.mean + 20.0, "fqe": plain.mean - 20.0})
    low, high = plain.interval()
    expected = (plain.mean - np.hypot(plain.mean - low, 20.0), plain.mean + np.hypot(high - plain.mean, 20.0))
    assert apart.interval() == pytest.approx(expected)
    other = paired(returns(2))
    shared = Paired(other.mean, other.influence, {"lstd": other.mean + 20.0, "fqe": other.mean - 20.0})
    assert apart.minus(shared).interval() == pytest.approx(plain.minus(other).interval())
    assert apart.minus(plain).parts == pytest.approx({"fqe": -20.0, "lstd": 20.0})
