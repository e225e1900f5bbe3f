"""What callers mind about offers: by hand, on a few turns."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.arrays import Bools, Ints
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.fitted.doubtful_offers import SHRINKAGE, JudgedOffers, miss_probabilities
from extrinsic.simulation.fitted.system_turns import SystemTurns
from extrinsic.simulation.utterance import NOTHING

N_TURNS = 100


def judged(offered: Ints, mentioned: Bools, indifferent: bool = False, refuses: bool = False) -> JudgedOffers:
    """Offers (or refusals) to callers who want something of both concepts; value 7 is right."""
    nothing = np.full(N_TURNS, NOTHING, dtype=np.int64)
    system = SystemTurns(
        predicate=np.zeros(N_TURNS, dtype=np.int64),
        asked=nothing,
        explicit=nothing,
        implicit=nothing,
        offers=np.full(N_TURNS, not refuses),
        refuses=np.full(N_TURNS, refuses),
        offered=offered,
        tells=np.zeros((N_TURNS, 0), dtype=bool),
    )
    everybody = np.ones((N_TURNS, 2), dtype=bool)
    table = everybody & np.array([False, indifferent])
    return JudgedOffers(system, offered == 7, everybody, table, mentioned)


def test_who_misses_something_mentions_it() -> None:
    offered = np.tile([7, NOTHING], (N_TURNS, 1))
    mentioned = np.zeros((N_TURNS, 2), dtype=bool)
    mentioned[:60, 1] = True
    misses = miss_probabilities(judged(offered, mentioned))
    assert misses.left_out[1] == pytest.approx((60 + SHRINKAGE * 0.6) / (N_TURNS + SHRINKAGE))
    assert not misses.narrowed.any()


def test_who_speaks_as_often_of_what_suits_minds_nothing() -> None:
    offered = np.tile([7, NOTHING], (N_TURNS, 1))
    misses = miss_probabilities(judged(offered, np.ones((N_TURNS, 2), dtype=bool)))
    named = np.tile([7, 7], (N_TURNS, 1))
    both = JudgedOffers.joined(
        [judged(offered, np.ones((N_TURNS, 2), dtype=bool)), judged(named, np.ones((N_TURNS, 2), dtype=bool))]
    )
    assert misses.left_out[1] == 0.0 == miss_probabilities(both).left_out[1]


def test_a_wrong_offer_says_nothing_about_what_it_left_out() -> None:
    offered = np.tile([5, NOTHING], (N_TURNS, 1))
    misses = miss_probabilities(judged(offered, np.ones((N_TURNS, 2), dtype=bool)))
    assert not misses.left_out.any()


@pytest.mark.parametrize(("refuses", "kind"), [(False, "narrowed"), (True, "in_vain")])
def test_who_does_not_care_may_mind_a_narrow_search(refuses: bool, kind: str) -> None:
    mentioned = np.zeros((N_TURNS, 2), dtype=bool)
    mentioned[:, 1] = True
    offers = judged(np.tile([7, 3], (N_TURNS, 1)), mentioned, indifferent=True, refuses=refuses)
    misses = miss_probabilities(offers)
    assert getattr(misses, kind)[1] == pytest.approx(1.0)
    assert offers.minded(misses)[:, 1].all()
    assert not offers.minded(misses)[:, 0].any()


def test_the_same_search_finds_the_same_for_the_same_caller() -> None:
    mentioned = np.zeros((N_TURNS, 2), dtype=bool)
    mentioned[:50, 1] = True
    misses = miss_probabilities(judged(np.tile([7, NOTHING], (N_TURNS, 1)), mentioned))
    offered, cares = np.tile([7, NOTHING], (1000, 1)), np.zeros((1000, 2), dtype=bool)
    found = np.zeros(1000, dtype=bool)
    first, second = (misses.drawn(offered, found, cares, Chance.of(1000, "somebody")) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert first[:, 1].mean() == pytest.approx(misses.left_out[1], abs=0.05)
    assert not first[:, 0].any()
    other = misses.drawn(np.tile([8, NOTHING], (1000, 1)), found, cares, Chance.of(1000, "somebody"))
    assert (other[:, 1] != first[:, 1]).mean() > 0.3
