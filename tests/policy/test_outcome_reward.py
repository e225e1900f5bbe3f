"""Outcomes as rewards, by hand, and what is possible in a log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from extrinsic.corpus.formats import DSTC2
from extrinsic.corpus.model import Corpus
from extrinsic.errors import InputError, UsageError
from extrinsic.policy.behaviour import fit_behaviour
from extrinsic.policy.kernel_logistic import KernelLogistic
from extrinsic.policy.outcome_reward import OutcomeReward
from extrinsic.policy.reward import is_decision, returns
from extrinsic.policy.transitions import transitions_of
from extrinsic.registry import TRACKERS
from extrinsic.simulation import find_simulation
from extrinsic.trackers.track import track


@pytest.fixture(scope="module")
def calls() -> Corpus:
    return find_simulation("restaurants").simulate("quiet", "test").corpus.take(list(range(60)))


def test_success_less_the_price_of_turns(calls: Corpus) -> None:
    output = track(TRACKERS.get("focus"), calls, "focus")
    reward = OutcomeReward(amount=20.0, turn=-1.0)
    decisions = np.add.reduceat(is_decision(calls).astype(float), calls.offsets[:-1])
    expected = 20.0 * np.array(calls.outcomes["success"]) - decisions
    assert returns(calls, reward(calls, output)) == pytest.approx(expected)
    transitions = transitions_of(calls, output, "compact", reward)
    assert transitions.feasible == (-float(decisions.max()), 19.0)
    low, high = transitions.feasible
    assert low <= transitions.returns().min() <= transitions.returns().max() <= high


def test_what_cannot_be_a_reward(calls: Corpus) -> None:
    output = track(TRACKERS.get("focus"), calls, "focus")
    with pytest.raises(UsageError, match="did you mean 'success'"):
        OutcomeReward("succes")(calls, output)
    unknown = replace(calls, outcomes={"success": (np.nan, *calls.outcomes["success"][1:])})
    with pytest.raises(InputError, match=calls.sessions[0]):
        OutcomeReward()(unknown, output)
    with pytest.raises(UsageError, match="finite"):
        OutcomeReward(amount=float("inf"))


def test_calls_are_read_back_with_what_was_possible_and_how_they_ended(calls: Corpus, tmp_path: Path) -> None:
    DSTC2.write_corpus(calls, tmp_path)
    again = DSTC2.read_corpus(tmp_path, calls.dataset)
    assert np.array_equal(again.possible, calls.possible)
    assert again.outcomes == dict(calls.outcomes)
    assert np.array_equal(again.propensities, calls.propensities, equal_nan=True)
    assert np.array_equal(again.labels.requested, calls.labels.requested)
    assert again.requestable == calls.requestable
    one, other = (track(TRACKERS.get("focus"), corpus, "focus") for corpus in (calls, again))
    first, second = (transitions_of(c, o, "compact") for c, o in ((calls, one), (again, other)))
    assert np.array_equal(first.reward, second.reward)
    assert np.array_equal(first.states.continuous, second.states.continuous)


def test_policies_choose_among_what_the_log_calls_possible(calls: Corpus) -> None:
    output = track(TRACKERS.get("focus"), calls, "focus")
    transitions = transitions_of(calls, output)
    assert transitions.possible is not None
    behaviour = fit_behaviour(KernelLogistic(), transitions, 0.02)
    assert not behaviour.admitted[~transitions.possible].any()
    free = replace(behaviour, possible=None)
    assert free.admitted[~transitions.possible].any()


def test_what_was_done_must_have_been_possible(calls: Corpus) -> None:
    assert calls.possible is not None
    turn = int(np.flatnonzero(is_decision(calls))[0])
    possible = calls.possible.copy()
    possible[turn, calls.predicate[turn]] = False
    spoilt = replace(calls, possible=possible)
    with pytest.raises(InputError, match="not among what the log calls possible") as caught:
        transitions_of(spoilt, track(TRACKERS.get("focus"), spoilt, "focus"))
    assert caught.value.problems[0].session == calls.sessions[0]


def test_an_unknown_predicate_in_a_log(calls: Corpus, tmp_path: Path) -> None:
    DSTC2.write_corpus(calls.take([0]), tmp_path)
    (log,) = tmp_path.rglob("log.json")
    log.write_text(log.read_text().replace('"possible":["', '"possible":["pressent","', 1))
    with pytest.raises(InputError, match="unknown action in 'possible'; did you mean 'present'"):
        DSTC2.read_corpus(tmp_path, calls.dataset)
    log.write_text(log.read_text().replace('"possible":["pressent",', '"possible":[],"was":[', 1))
    with pytest.raises(InputError):
        DSTC2.read_corpus(tmp_path, calls.dataset)
