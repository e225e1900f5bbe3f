"""What a call is worth, added up by hand for every choice there is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.domain import REWARD_CHOICES, load_domain
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import InputError, UsageError
from extrinsic.policy.rewards import OutcomeReward, Reward, is_decision, returns
from extrinsic.policy.transitions import transitions_of
from extrinsic.registry import TRACKERS
from extrinsic.trackers.track import track
from tests.metrics.calls import Turn
from tests.metrics.reading import read_dstc1, read_dstc2
from tests.policy.calls import ASK, BYE, CMU, HELLO, NEXT, OAK, OFFER, SEVEN, read
from tests.samples import small_dstc2
from tests.simulation.worlds import diners
from tests.strategies import dstc1_files

ZOO, ROUTE = {"to.desc": "zoo"}, {"route": "61c"}


def long_call(last: list[Any] = BYE) -> list[Turn]:
    """Wants from cmu to the zoo at seven. Two offers: after the second turn and after the third."""
    return [
        Turn({"from.desc": [(0.8, CMU)]}, right=[CMU], system=HELLO),
        Turn({"from.desc": [(0.8, CMU)], "to.desc": [(0.6, OAK)]}, right=[ZOO], wrong=[OAK], system=ASK),
        Turn({"from.desc": [(0.8, CMU)], "to.desc": [(0.9, ZOO)]}, system=OFFER),
        Turn({"from.desc": [(0.8, CMU)], "to.desc": [(0.9, ZOO)]}, right=[SEVEN], system=OFFER),
        Turn({"route": [(0.9, ROUTE)]}, wrong=[ROUTE], system=last),
    ]


def worth(*calls: list[Turn], **choices: Any) -> list[float]:
    """The return of each call; what is not chosen is when=last_offer, absent=zero."""
    corpus, output = read(*calls)
    reward = Reward(**{"absent": "zero", **choices})(corpus, output)
    return returns(corpus, reward).tolist()


FOUR_DECISIONS = -80
EVERY: dict[str, Any] = {"absent": "empty"}
"""As Lee (2014) words it: what nobody wanted is empty, too."""
SLOTS = {**EVERY, "concepts": "slots"}


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        # The first offer is made on turn 1: from right, to wrong, time wanted and empty at the system's bye.
        ({"when": "first_offer"}, 100 - 200 - 300),
        ({"when": "first_offer", "absent": "correct"}, 100 - 200 - 300 + 2 * 100),
        # The last on turn 2: both places right.
        ({"when": "last_offer"}, 100 + 100 - 300),
        ({"when": "last_offer", "absent": "correct"}, 100 + 100 - 300 + 2 * 100),
        # At the end only a route is believed, and nobody wants one.
        ({"when": "terminal"}, -300 - 300 - 200 - 300),
        ({"when": "terminal", "absent": "correct"}, -300 - 300 - 200 - 300 + 100),
        # A score of .8 fills at a threshold of .7, not at .8 or .85.
        ({"fill": "threshold"}, 100 + 100 - 300),
        ({"fill": "threshold:0.7"}, 100 + 100 - 300),
        ({"fill": "threshold:0.8"}, -300 + 100 - 300),
        ({"fill": "threshold:0.85"}, -300 + 100 - 300),
        ({"fill": "threshold:0.95"}, -300 - 300 - 300),
        # Other amounts.
        ({"correct": 1.0, "empty_ended": -7.0, "turn": -20.0}, 1 + 1 - 7),
        ({"when": "first_offer", "incorrect": -5.0}, 100 - 5 - 300),
        # Groups: from and to right of five; the time was wanted, date and route were not: all are empty.
        (EVERY, 2 * 100 - 3 * 300),
        # Slots: from.desc and to.desc right of nine.
        (SLOTS, 2 * 100 - 7 * 300),
        ({"concepts": "slots"}, 2 * 100 - 300),
        ({"concepts": "slots", "absent": "correct"}, 2 * 100 - 300 + 6 * 100),
        # At the end only a route is believed, and it is wrong.
        ({**EVERY, "when": "terminal"}, -200 - 4 * 300),
        ({**SLOTS, "when": "terminal"}, -200 - 8 * 300),
        ({**SLOTS, "when": "first_offer", "empty_ended": -7.0}, 100 - 200 - 7 * 7),
    ],
)
def test_a_call_that_the_system_ends(choices: dict[str, Any], expected: float) -> None:
    assert worth(long_call(), **choices) == [pytest.approx(expected + FOUR_DECISIONS)]


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ({}, 100 + 100 - 50),
        ({"empty": -11.0}, 100 + 100 - 11),
        ({"when": "terminal"}, -50 - 50 - 200 - 50),
        (EVERY, 2 * 100 - 3 * 50),
        (SLOTS, 2 * 100 - 7 * 50),
    ],
)
def test_a_call_that_the_caller_ends(choices: dict[str, Any], expected: float) -> None:
    """What is wanted and empty costs less."""
    assert worth(long_call(NEXT), **choices) == [expected + FOUR_DECISIONS]


def test_turns_are_paid_as_they_come_and_the_rest_at_the_end() -> None:
    corpus, output = read(long_call(), long_call(NEXT))
    earned = Reward(absent="zero")(corpus, output)
    assert earned.tolist() == [0, -20, -20, -20, -120, 0, -20, -20, -20, 130]
    assert Reward(turn=-1.5, absent="zero")(corpus, output).tolist()[:4] == [0, -1.5, -1.5, -1.5]
    assert Reward(absent="zero").final(corpus, output).tolist() == [-100, 150]
    assert is_decision(corpus).tolist() == [False, True, True, True, True] * 2


def test_without_an_offer_nothing_is_filled() -> None:
    call = [
        Turn({"from.desc": [(0.8, CMU)]}, right=[CMU], system=HELLO),
        Turn({"from.desc": [(0.8, CMU)]}, system=ASK),
    ]
    for when in ("first_offer", "last_offer"):
        assert worth(call, when=when) == [-50 - 20]
        assert worth(call, when=when, absent="correct") == [-50 + 400 - 20]
    assert worth(call, when="terminal") == [100 - 20]


def test_an_offer_before_anything_was_heard() -> None:
    """At the very first turn there is no belief to offer on, also when another call stands before."""
    hasty = [Turn({"from.desc": [(0.8, CMU)]}, right=[CMU], system=OFFER)]
    assert worth(hasty) == [-50 - 20]
    assert worth(long_call(), hasty, hasty) == [-100 - 80, -50 - 20, -50 - 20]
    again = [*hasty, Turn({"from.desc": [(0.8, CMU)]}, system=OFFER)]
    assert worth(again, when="first_offer") == [-50 - 40]
    assert worth(again, when="last_offer") == [100 - 40]


def test_a_belief_below_none_fills_only_by_threshold() -> None:
    call = [Turn({"time": [(0.4, SEVEN)]}, right=[SEVEN], system=HELLO), Turn({}, system=OFFER)]
    assert worth(call) == [-50 - 20]
    assert worth(call, fill="threshold:0.3") == [100 - 20]
    assert worth(call, fill="threshold:0.4") == [-50 - 20]


@pytest.mark.parametrize("fill", ["argmax", "threshold", "threshold:0.3", "threshold:0"])
def test_of_a_concept_the_slot_believed_most_counts(fill: str) -> None:
    """A stop with .4, a monument with .55: the monument, though the stop's None has .6."""
    airport = {"from.monument": "airport"}
    beliefs = {"from.desc": [(0.4, CMU)], "from.monument": [(0.55, airport)]}
    call = [Turn(beliefs, right=[airport], wrong=[CMU], system=HELLO), Turn({}, system=OFFER)]
    assert worth(call, fill=fill) == [100 - 20]


def test_a_concept_is_right_by_the_labels_of_the_judged_turn() -> None:
    """Only labelled right at the last turn: wanted, but not right yet when it was offered."""
    call = [
        Turn({"from.desc": [(0.8, CMU)]}, wrong=[CMU], system=HELLO),
        Turn({"from.desc": [(0.8, CMU)]}, right=[CMU], system=OFFER),
    ]
    assert worth(call) == [-200 - 20]
    assert worth(call, when="terminal") == [100 - 20]


def test_restaurants_by_hand() -> None:
    """absent=correct; terminal, because these calls have no offer.

    one: food thai .75 and area dontcare .5 (None has as much, but comes second)
    are right, price absent. two: nothing wanted, nothing believed. three: food right, the rest absent."""
    corpus, output = read_dstc2(small_dstc2())
    assert Reward.of(corpus.domain).when == "last_offer"
    reward = Reward.of(corpus.domain, when="terminal")
    assert reward.absent == "correct"
    assert returns(corpus, reward(corpus, output)).tolist() == [300 - 20, 300, 300 - 20]
    # Without pay for what nobody wants: two concepts, none, one.
    paid = Reward.of(corpus.domain, when="terminal", absent="zero")
    assert returns(corpus, paid(corpus, output)).tolist() == [200 - 20, 0, 100 - 20]


def test_a_reward_fits_its_domain() -> None:
    bus = Reward.of(load_domain("bus"))
    assert (bus.when, bus.absent) == ("last_offer", "zero")
    assert Reward.of(load_domain("bus"), absent="correct", turn=-1.0) == Reward(absent="correct", turn=-1.0)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"when": "last_ofer"}, "did you mean 'last_offer'"),
        ({"absent": "emty"}, "there is no reward.absent 'emty'; did you mean 'empty'"),
        ({"concepts": "emty"}, "there is no reward.concepts 'emty'; .*groups, slots"),
        ({"fill": "argmx"}, "did you mean 'argmax'"),
        *[({"fill": f"threshold:{x}"}, "threshold") for x in ("2", "x")],
        ({"correct": float("nan")}, "finite"),
        ({"turn": float("-inf")}, "finite"),
        ({"wehn": "terminal"}, "did you mean 'when'"),
    ],
)
def test_choices_that_do_not_exist(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Reward.of(load_domain("bus"), **choices)


def test_another_tracker_than_of_this_corpus_is_refused() -> None:
    (corpus, _), (_, output) = read(long_call()), read(long_call())
    with pytest.raises(UsageError):
        Reward()(corpus, output)


REWARDS = st.builds(
    Reward,
    correct=st.sampled_from([100.0, 1.0, -3.0]),
    incorrect=st.sampled_from([-200.0, 0.0, 7.0]),
    empty_ended=st.sampled_from([-300.0, 5.0]),
    empty=st.sampled_from([-50.0, 400.0]),
    turn=st.sampled_from([-20.0, 0.0, 2.0]),
    fill=st.sampled_from(["argmax", "threshold", "threshold:0.2"]),
    when=st.sampled_from(REWARD_CHOICES["when"]),
    absent=st.sampled_from(REWARD_CHOICES["absent"]),
    concepts=st.sampled_from(REWARD_CHOICES["concepts"]),
)


@given(dstc1_files(), REWARDS)
@settings(max_examples=40)
def test_returns_of_bus_calls_are_feasible(files: Any, reward: Reward) -> None:
    assert_feasible(*read_dstc1(files), reward)


def assert_feasible(corpus: Corpus, output: TrackerOutput, reward: Reward) -> None:
    """Of each call by its number of decisions, and of all by the fewest and the most."""
    found = returns(corpus, reward(corpus, output))
    counts = np.add.reduceat(is_decision(corpus).astype(int), corpus.offsets[:-1])
    lowest, highest = reward.feasible(corpus.domain, int(counts.min()), int(counts.max()))
    for value, count in zip(found, counts, strict=True):
        low, high = reward.feasible(corpus.domain, int(count), int(count))
        assert lowest <= low <= value <= high <= highest


def test_feasible_by_hand() -> None:
    """Five concepts: at best all right in two turns, at worst all empty at the end after ten."""
    bus = load_domain("bus")
    assert Reward().feasible(bus, 2, 10) == (5 * -300 - 200, 5 * 100 - 40)
    assert Reward(turn=3.0).feasible(bus, 2, 10) == (5 * -300 + 6, 5 * 100 + 30)
    assert Reward(absent="empty", concepts="slots").feasible(bus, 1, 3) == (9 * -300 - 60, 9 * 100 - 20)
    # Nobody can earn 0 for what is not wanted where that is the same as empty.
    costly = {"correct": -1.0, "absent": "empty"}
    assert Reward(**costly).feasible(bus, 1, 1)[1] == 5 * -1 - 20
    assert Reward(**{**costly, "absent": "zero"}).feasible(bus, 1, 1)[1] == -20


def test_slots_of_a_group_each_count() -> None:
    """A stop that is right and a monument that is wrong: one concept by its best score, or two."""
    airport = {"from.monument": "airport"}
    beliefs = {"from.desc": [(0.9, CMU)], "from.monument": [(0.8, airport)]}
    call = [Turn(beliefs, right=[CMU], wrong=[airport], system=HELLO), Turn({}, system=OFFER)]
    assert worth(call, absent="empty") == [100 - 4 * 50 - 20]
    assert worth(call, absent="empty", concepts="slots") == [100 - 200 - 7 * 50 - 20]
    # Without an offer all are empty.
    call = [Turn({"from.desc": [(0.8, CMU)]}, right=[CMU], system=HELLO), Turn({}, system=ASK)]
    assert worth(call, absent="empty", concepts="slots") == [9 * -50 - 20]


def test_what_a_belief_would_be_worth() -> None:
    """After each turn, as if nobody ended the call; the third turn believes both places rightly."""
    corpus, output = read(long_call())
    for concepts, n in (("groups", 5), ("slots", 9)):
        each = Reward(absent="empty", concepts=concepts).worth(corpus, output)
        right, wrong = np.array([1, 1, 2, 2, 0]), np.array([0, 1, 0, 0, 1])
        assert each.tolist() == (100 * right - 200 * wrong - 50 * (n - right - wrong)).tolist()


def test_success_less_the_price_of_turns() -> None:
    calls = diners()
    output = track(TRACKERS.get("focus"), calls, "focus")
    reward = OutcomeReward(amount=20.0, turn=-1.0)
    decisions = np.add.reduceat(is_decision(calls).astype(float), calls.offsets[:-1])
    expected = 20.0 * np.array(calls.outcomes["success"]) - decisions
    assert returns(calls, reward(calls, output)) == pytest.approx(expected)
    transitions = transitions_of(calls, output, "compact", reward)
    assert transitions.feasible == (-float(decisions.max()), 19.0)
    low, high = transitions.feasible
    assert low <= transitions.returns().min() <= transitions.returns().max() <= high


def test_what_cannot_be_a_reward() -> None:
    calls = diners()
    output = track(TRACKERS.get("focus"), calls, "focus")
    with pytest.raises(UsageError, match="did you mean 'success'"):
        OutcomeReward("succes")(calls, output)
    unknown = replace(calls, outcomes={"success": (np.nan, *calls.outcomes["success"][1:])})
    with pytest.raises(InputError, match=calls.sessions[0]):
        OutcomeReward()(unknown, output)
    with pytest.raises(UsageError, match="finite"):
        OutcomeReward(amount=float("inf"))
