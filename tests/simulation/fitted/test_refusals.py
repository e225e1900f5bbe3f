"""Searches that find nothing, and what callers do about it."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.simulation.fitted.refusals import Refusals, usual_weight
from extrinsic.simulation.utterance import NOTHING

FOODS = 400


def refusals_of(seen: dict[tuple[int, ...], tuple[int, int]], wrong: float, right: float) -> Refusals:
    shares = np.stack([np.full(FOODS + 1, wrong), np.full(FOODS + 1, right)])
    return Refusals(seen, shares, telling=0, usual=2.0, turned_away=0.5)


def test_a_search_finds_what_it_found_in_the_log() -> None:
    refusals = refusals_of({(0, NOTHING): (50, 50), (1, NOTHING): (0, 50)}, 0.5, 0.5)
    searches = np.array([[0, NOTHING], [1, NOTHING]] * 20)
    for right in (False, True):
        np.testing.assert_array_equal(refusals.refused(searches, np.full(40, right)), [True, False] * 20)


def test_unseen_searches_fail_as_often_as_those_for_the_same_value_and_always_alike() -> None:
    """What is misheard exists less often than what callers truly want."""
    refusals = refusals_of({}, 0.6, 0.1)
    searches = np.stack([np.arange(FOODS), np.full(FOODS, NOTHING)], axis=1)
    for right, share in ((False, 0.6), (True, 0.1)):
        refused = refusals.refused(searches, np.full(FOODS, right))
        assert abs(refused.mean() - share) < 0.08
        np.testing.assert_array_equal(refusals.refused(searches[::-1], np.full(FOODS, right)), refused[::-1])


def test_without_refusals_in_the_log_there_are_none() -> None:
    refusals = refusals_of({}, 0.0, 0.0)
    assert not refusals.refused(np.zeros((5, 2), dtype=np.int64), np.ones(5, dtype=bool)).any()


def test_equal_searches_with_equal_results_need_no_share_beside_them() -> None:
    """Two of four pairs differ, as often as by chance, 2 p (1 - p) = 1/2: c = 0 is cut at .1."""
    alike, mixed = {(0,): (4, 4), (1,): (0, 4)}, {(0,): (1, 2), (1,): (2, 2), (2,): (0, 2), (3,): (1, 2)}
    assert usual_weight(alike, 0.5) == pytest.approx(0.0, abs=0.01)
    assert usual_weight(mixed, 0.5) == pytest.approx(1.0 / 0.1 - 1.0, abs=0.01)
