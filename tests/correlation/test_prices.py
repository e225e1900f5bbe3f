"""Prices against a regression of another library, and simulated ones that are known."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from extrinsic.correlation import prices
from extrinsic.correlation.prices import disagreement, price_of, priced_form
from extrinsic.errors import UsageError
from extrinsic.metrics.definition import parse_metric


def test_examples() -> None:
    assert doctest.testmod(prices).failed == 0


def test_a_price_is_the_mean_of_regressions_through_the_origin() -> None:
    rng = np.random.default_rng(1)
    doses, without = np.array([0.1, 0.3, 0.5]), rng.normal(20, 5, 40)
    outcomes = without - 12.0 * doses[:, None] + rng.normal(0, 2, (3, 40))
    price = price_of(doses, outcomes, without)
    slopes = [np.linalg.lstsq(doses[:, None], unit, rcond=None)[0][0] for unit in (outcomes - without).T]
    assert price.value == pytest.approx(np.mean(slopes))
    assert (price.high - price.low) / 2 == pytest.approx(2.02269 * np.std(slopes, ddof=1) / 40**0.5, rel=1e-5)
    assert price.low < -12.0 < price.high


def test_intervals_cover() -> None:
    rng, hits = np.random.default_rng(2), 0
    for _ in range(400):
        noise = rng.normal(0, 3, (3, 12))
        outcomes = np.array([[-0.7], [-1.4]]) + noise[1:] - noise[0]
        price = price_of([0.1, 0.2], outcomes, np.zeros(12))
        hits += price.low <= -7.0 <= price.high
    assert 0.91 < hits / 400 < 0.985


def test_a_bend_is_noticed() -> None:
    """The second half of a dose costs nothing."""
    price = price_of([0.5, 1.0], np.array([[-1.0, -1.0], [-1.0, -1.0]]), np.zeros(2))
    assert price.bend == pytest.approx(1.0 / 1.2)


def test_bad_doses() -> None:
    with pytest.raises(UsageError, match="other than 0"):
        price_of([0.0], np.zeros((1, 3)), np.zeros(3))
    with pytest.raises(UsageError, match="at least two units"):
        price_of([0.1], np.zeros((1, 1)), np.zeros(1))
    with pytest.raises(UsageError, match="cannot be compared"):
        disagreement({"a": 1.0}, {"b": 1.0})


def test_the_designed_metric_is_a_metric() -> None:
    form = priced_form({"wrong": -30.0, "missed": -15.0, "overshot": -5.0, "stale": 1.0})
    assert str(parse_metric(form)) == "priced(wrong=0.6, missed=0.3, overshot=0.1, stale=0)"
