"""What values are taken for, against lists that are drawn from a known pool."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.simulation.chance import Chance
from extrinsic.simulation.fitted.confusions import (
    ConfusedTurn,
    Confusions,
    WrongLists,
    _same_value,
    _usual,
    chances,
    drawn_orders,
)
from extrinsic.simulation.utterance import NOTHING


@pytest.mark.parametrize(("pool", "skew"), [(3, 1.0), (12, 2.0), (45, 6.0)])
def test_the_first_value_is_drawn_by_its_chance_and_none_stands_twice(pool: int, skew: float) -> None:
    by = chances(pool, skew)
    assert by.sum() == pytest.approx(1.0) and (np.diff(by) <= 1e-12).all()
    orders = drawn_orders(pool, skew, Chance.of(20_000, "orders").uniform("x", 0, (pool,)))
    np.testing.assert_array_equal(np.sort(orders, axis=1), np.tile(np.arange(pool), (20_000, 1)))
    first = np.bincount(orders[:, 0], minlength=pool) / 20_000
    np.testing.assert_allclose(first, by, atol=0.015)


def test_the_second_of_two_follows_from_the_first() -> None:
    """With chances a, 1 - a the order is (0, 1) with probability a."""
    orders = drawn_orders(2, 2.0, Chance.of(20_000, "two").uniform("x", 0, (2,)))
    assert (orders[:, 0] == 0).mean() == pytest.approx(np.sqrt(0.5), abs=0.01)


def _drawn(pool: int, skew: float, usual: float, n_lists: int = 30_000) -> np.ndarray:
    """(2 n, pool) the orders of consecutive lists, two and two of one caller."""
    chance = Chance.of(2 * n_lists, "drawn", pool, skew, usual)
    orders = drawn_orders(pool, skew, chance.uniform("x", 0, (pool,)))
    orders[chance.uniform("usual", 0) < usual] = np.arange(pool)
    return orders


@pytest.mark.parametrize(("pool", "skew", "usual"), [(5, 1.0, 0.5), (12, 2.0, 0.1), (15, 3.0, 0.0)])
def test_values_coincide_as_often_as_the_formula_says(pool: int, skew: float, usual: float) -> None:
    orders = _drawn(pool, skew, usual)
    same = _same_value(4, pool, skew, usual)
    for first in range(4):
        for second in range(4):
            share = (orders[::2, first] == orders[1::2, second]).mean()
            assert share == pytest.approx(same[first, second], abs=0.015)
    stays_first = float((orders[::2, 0] == orders[1::2, 0]).mean())
    assert _usual(stays_first, pool, skew) == pytest.approx(usual, abs=0.06)


def test_lists_are_compared_with_the_one_before_in_the_same_dialog() -> None:
    """Three lists: (7 at .6, 8 at .2), then (8 at .5, 9 at .1), and one of another dialog."""
    lists = WrongLists(
        value=np.array([7, 8, 8, 9, 8]),
        place=np.array([0, 1, 0, 1, 0]),
        weight=np.array([0.6, 0.2, 0.5, 0.1, 1.0]),
        of_list=np.array([0, 0, 1, 1, 2]),
        score=np.array([[0.6, 0.2], [0.5, 0.1], [1.0, 0.0]]),
        before=np.array([NOTHING, 0, NOTHING]),
    )
    assert lists.stays_first == 0.0
    assert lists.coinciding(False) == pytest.approx(1 / 4)
    assert lists.coinciding(True) == pytest.approx(0.2 * 0.5 / (0.8 * 0.6))


def test_places_beyond_the_pool_hold_values_of_their_own() -> None:
    confusions = Confusions(3, 5, 0.0, 2.0, 0.0, 0.0, 0.0)
    table = np.arange(2 * 1 * 2 * 5).reshape(2, 1, 2, 5)
    turn = ConfusedTurn(confusions, table, Chance.of(2, "callers"), 4)
    caller, place = np.repeat([0, 1], 5), np.tile(np.arange(5), 2)
    values = turn.values(caller, np.zeros(10, int), place, np.zeros(10, int)).reshape(2, 5)
    np.testing.assert_array_equal(np.sort(values, axis=1), table[:, 0, 0])
    np.testing.assert_array_equal(values[:, 3:], table[:, 0, 0, 3:])
    elsewhere = turn.values(caller, np.zeros(10, int), place, np.ones(10, int)).reshape(2, 5)
    np.testing.assert_array_equal(elsewhere, values + 5)
