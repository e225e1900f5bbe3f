"""Errors at their price, by hand and against a plain count."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.corpus.state_sets import ABSENT
from extrinsic.metrics.definition import parse_metric
from extrinsic.metrics.items.state_items import StateItems

GOLD = [[0, 0, -1], [1, 0, -1], [1, 0, 2], [1, 0, -1], [3, 0, -1]]
PREDICTED = [[0, -1, -1], [0, 5, 4], [1, 0, 2], [1, 0, -1], [1, 0, -1]]
# Turn 0: slot 1 missed. Turn 1: slot 0 stale, slot 1 wrong, slot 2 overshot. The last two turns are another
# dialog, in which 1 is stale at the second.


def items() -> StateItems:
    gold, predicted = (
        np.where(np.array(table) < 0, ABSENT, np.array(table) + 2).astype(np.int32)
        for table in (GOLD, PREDICTED)
    )
    return StateItems(np.array([0, 3, 5]), np.ones(5, dtype=bool), gold, predicted, 3)


def value(form: str) -> float:
    metric, states = parse_metric(form), items()
    found = metric.value(metric.statistics(states).sum(axis=0))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("form", "cost"),
    [
        ("priced(wrong=1, missed=0, overshot=0, stale=0)", 1),
        ("priced(wrong=0, missed=1, overshot=0, stale=0)", 1),
        ("priced(wrong=0, missed=0, overshot=1, stale=0)", 1),
        ("priced(wrong=0, missed=0, overshot=0, stale=1)", 2),
        ("priced(wrong=4, missed=3, overshot=2, stale=0.5)", 4 + 3 + 2 + 1),
    ],
)
def test_by_hand(form: str, cost: float) -> None:
    assert value(form) == pytest.approx(-cost / 5)


def test_at_equal_prices_it_counts_differing_slots() -> None:
    rng = np.random.default_rng(3)
    gold, predicted = rng.integers(-1, 3, (2, 60, 4)).astype(np.int32)
    gold, predicted = (np.where(table < 0, ABSENT, table + 2).astype(np.int32) for table in (gold, predicted))
    states = StateItems(np.arange(0, 61, 6), np.ones(60, dtype=bool), gold, predicted, 4)
    metric = parse_metric("priced")
    found = metric.value(metric.statistics(states).sum(axis=0))
    assert found == pytest.approx(-states.n_differing.mean())
    stale = parse_metric("priced(wrong=0, missed=0, overshot=0, stale=1)")
    expected = 0
    for turn in range(60):
        begin = turn - turn % 6
        for slot in range(4):
            now, said = gold[turn, slot], predicted[turn, slot]
            differ = now != ABSENT and said != ABSENT and now != said
            expected += bool(differ and said in gold[begin:turn, slot])
    assert stale.value(stale.statistics(states).sum(axis=0)) == pytest.approx(-expected / 60)
