"""Searches that find nothing, and what callers do about it."""

from __future__ import annotations

import numpy as np

from extrinsic.simulation.fitted.refusals import Refusals
from extrinsic.simulation.utterance import NOTHING

FOODS = 400


def test_a_search_finds_what_it_found_in_the_log() -> None:
    seen = {(0, NOTHING): (50, 50), (1, NOTHING): (0, 50)}
    refusals = Refusals(seen, np.full(FOODS + 1, 0.5), telling=0, turned_away=0.5)
    searches = np.array([[0, NOTHING], [1, NOTHING]] * 20)
    np.testing.assert_array_equal(refusals.refused(searches), [True, False] * 20)


def test_unseen_searches_fail_as_often_as_those_for_the_same_value_and_always_alike() -> None:
    refusals = Refusals({}, np.full(FOODS + 1, 0.3), telling=0, turned_away=0.5)
    searches = np.stack([np.arange(FOODS), np.full(FOODS, NOTHING)], axis=1)
    refused = refusals.refused(searches)
    assert abs(refused.mean() - 0.3) < 0.08
    np.testing.assert_array_equal(refusals.refused(searches[::-1]), refused[::-1])


def test_without_refusals_in_the_log_there_are_none() -> None:
    refusals = Refusals({}, np.zeros(FOODS + 1), telling=0, turned_away=0.0)
    assert not refusals.refused(np.zeros((5, 2), dtype=np.int64)).any()
