"""'Every empty concept' (Lee 2014): groups or all nine slots, and what nobody wanted; added up by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from extrinsic.domain import REWARD_CHOICES, load_domain
from extrinsic.errors import UsageError
from extrinsic.policy.reward import Reward, returns
from tests.metrics.calls import Turn
from tests.policy.test_reward import ASK, BYE, CMU, FOUR_DECISIONS, HELLO, NEXT, OFFER, long_call, read

AIRPORT = {"from.monument": "airport"}


def worth(call: list[Turn], **choices: Any) -> float:
    corpus, output = read(call)
    reward = Reward(**{"absent": "empty", **choices})
    (total,) = returns(corpus, reward(corpus, output))
    return float(total)


@pytest.mark.parametrize(
    ("choices", "concepts"),
    [
        # from and to right of five groups; the time was wanted, date and route were not: all three are empty.
        ({}, 2 * 100 - 3 * 300),
        # from.desc and to.desc right of nine slots.
        ({"concepts": "slots"}, 2 * 100 - 7 * 300),
        ({"concepts": "slots", "absent": "zero"}, 2 * 100 - 300),
        ({"concepts": "slots", "absent": "correct"}, 2 * 100 - 300 + 6 * 100),
        # At the end only a route is believed, and it is wrong.
        ({"when": "terminal"}, -200 - 4 * 300),
        ({"when": "terminal", "concepts": "slots"}, -200 - 8 * 300),
        ({"when": "first_offer", "concepts": "slots", "empty_ended": -7.0}, 100 - 200 - 7 * 7),
    ],
)
def test_a_call_that_the_system_ends(choices: dict[str, Any], concepts: float) -> None:
    assert worth(long_call(BYE), **choices) == pytest.approx(concepts + FOUR_DECISIONS)


def test_a_call_that_the_caller_ends() -> None:
    assert worth(long_call(NEXT)) == 2 * 100 - 3 * 50 - 80
    assert worth(long_call(NEXT), concepts="slots") == 2 * 100 - 7 * 50 - 80
    assert worth(long_call(NEXT), concepts="slots", empty=-1.0) == 2 * 100 - 7 - 80


def test_without_an_offer_all_concepts_are_empty() -> None:
    call = [Turn({"from.desc": [(0.8, CMU)]}, right=[CMU], system=HELLO), Turn({}, system=ASK)]
    assert worth(call) == 5 * -50 - 20
    assert worth(call, concepts="slots") == 9 * -50 - 20


def test_slots_of_a_group_each_count() -> None:
    """A stop that is right and a monument that is wrong: one concept by its best score, or two."""
    beliefs = {"from.desc": [(0.9, CMU)], "from.monument": [(0.8, AIRPORT)]}
    call = [Turn(beliefs, right=[CMU], wrong=[AIRPORT], system=HELLO), Turn({}, system=OFFER)]
    assert worth(call) == 100 - 4 * 50 - 20
    assert worth(call, concepts="slots") == 100 - 200 - 7 * 50 - 20


def test_what_a_belief_would_be_worth() -> None:
    """After each turn, as if nobody ended the call; the third turn believes both places rightly."""
    corpus, output = read(long_call())
    for concepts, n in (("groups", 5), ("slots", 9)):
        each = Reward(absent="empty", concepts=concepts).worth(corpus, output)
        right, wrong = np.array([1, 1, 2, 2, 0]), np.array([0, 1, 0, 0, 1])
        assert each.tolist() == (100 * right - 200 * wrong - 50 * (n - right - wrong)).tolist()


@pytest.mark.parametrize("concepts", REWARD_CHOICES["concepts"])
@pytest.mark.parametrize("absent", REWARD_CHOICES["absent"])
@pytest.mark.parametrize("when", REWARD_CHOICES["when"])
def test_returns_are_feasible(concepts: str, absent: str, when: str) -> None:
    reward = Reward(concepts=concepts, absent=absent, when=when)
    for call in (long_call(BYE), long_call(NEXT)):
        corpus, output = read(call)
        low, high = reward.feasible(corpus.domain, 4, 4)
        (total,) = returns(corpus, reward(corpus, output))
        assert low <= total <= high


def test_bounds_by_hand() -> None:
    bus = load_domain("bus")
    assert Reward(absent="empty").feasible(bus, 1, 3) == (5 * -300 - 60, 5 * 100 - 20)
    assert Reward(absent="empty", concepts="slots").feasible(bus, 1, 3) == (9 * -300 - 60, 9 * 100 - 20)
    # Nobody can earn 0 for what is not wanted where that is the same as empty.
    costly = {"correct": -1.0, "absent": "empty"}
    assert Reward(**costly).feasible(bus, 1, 1)[1] == 5 * -1 - 20
    assert Reward(**{**costly, "absent": "zero"}).feasible(bus, 1, 1)[1] == -20


@pytest.mark.parametrize(
    ("choice", "said"), [("absent", "did you mean 'empty'"), ("concepts", "groups, slots")]
)
def test_no_such_choice(choice: str, said: str) -> None:
    with pytest.raises(UsageError, match=f"there is no reward.{choice} 'emty'; .*{said}"):
        Reward(**{choice: "emty"})
