"""Decisions of calls: which there are, what was known before them, what came of them, in which order."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.formats import DSTC2
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import InputError, UsageError
from extrinsic.policy.behaviour import fit_behaviour
from extrinsic.policy.kernel_logistic import KernelLogistic
from extrinsic.policy.rewards import Reward, is_decision, returns
from extrinsic.policy.transitions import END, transitions_of
from extrinsic.registry import TRACKERS
from extrinsic.simulation import Play
from extrinsic.trackers.track import track
from tests.builders import act
from tests.policy.calls import ASK, BYE, HELLO, OFFER, read, said, whole_call
from tests.policy.decisions import assert_same_transitions, learn
from tests.real_data import ARCHIVE, needs_data, tracker_files
from tests.simulation.worlds import PREDICATES, diners, expert_play, world


@cache
def played(n_dialogs: int = 120) -> Play:
    return expert_play(world(caller={"starts_over": 0.05}), n_dialogs)


@cache
def tracked(name: str) -> TrackerOutput:
    return track(TRACKERS.get(name), played().corpus, name)


@needs_data
@pytest.mark.parametrize(("part", "expected"), [("train", 10_065), ("dev", 3_428)])
def test_real_calls(part: str, expected: int) -> None:
    corpus = DSTC2.read_corpus(ARCHIVE, f"dstc2_{part}")
    (path,) = [path for path in tracker_files(part) if path.name.startswith("focus.")]
    output = DSTC2.read_tracker(path, corpus)
    transitions = transitions_of(corpus, output)
    assert len(transitions) == expected
    assert transitions.n_dialogs <= corpus.n_dialogs
    low, high = transitions.feasible or (0.0, 0.0)
    assert low <= transitions.returns().min()
    assert transitions.returns().max() <= high


def test_a_state_is_what_was_believed_before_the_decision() -> None:
    """After the greeting: cmu .7; after the question also the zoo .6; and so on."""
    transitions = transitions_of(*read(whole_call()), ["group_scores", "last_act"])
    names = ["request", "confirm", "confirm", "offer", "next_bus", "next_bus", "goodbye"]
    assert [transitions.actions[action] for action in transitions.action] == names
    assert transitions.turn.tolist() == [1, 2, 3, 4, 5, 6, 7]
    column = dict(zip(transitions.states.continuous_names, transitions.states.continuous.T, strict=True))
    assert column["top.from"] == pytest.approx([0.7, 0.7, 0.95, 0.95, 0.95, 0.95, 0.95])
    assert column["top.to"] == pytest.approx([0.0, *[0.6] * 6])
    assert column["top.time"] == pytest.approx([0.0, 0.0, 0.0, *[0.4] * 4])
    before = [transitions.actions[action] for action in transitions.states.discrete[:, 0]]
    assert before == ["hello", *names[:-1]]
    assert transitions.next.tolist() == [1, 2, 3, 4, 5, 6, END]
    assert transitions.first.tolist() == [True, *[False] * 6]


def test_a_call_that_begins_with_a_decision() -> None:
    """Nothing is known then, not even what another call knew."""
    transitions = transitions_of(*read(whole_call(), whole_call()[1:3]), ["group_scores", "last_act"])
    row = int(np.flatnonzero(transitions.dialog == 1)[0])
    assert transitions.turn[row] == 0
    assert transitions.states.continuous[row].tolist() == [0.0] * 10 + [1.0] * 5
    assert transitions.states.discrete[row].tolist() == [-1]
    assert transitions.states.continuous[row + 1][:2] == pytest.approx([0.7, 0.6])
    assert transitions.next[row - 1 : row + 2].tolist() == [END, row + 1, END]


def test_greetings_are_no_decisions_wherever_they_come() -> None:
    """What is earned counts from a decision up to the next."""

    def own(corpus: Corpus, output: TrackerOutput) -> Any:
        return 10.0 ** np.arange(corpus.n_turns)

    calls = [said(HELLO), said(ASK), said(HELLO), said(OFFER)], [said(HELLO)], [said(HELLO), said(BYE)]
    transitions = transitions_of(*read(*calls), ["turn"], own)
    assert transitions.turn.tolist() == [1, 3, 1]
    assert transitions.reward.tolist() == [10 + 100, 1000, 10**6]
    assert transitions.dialog.tolist() == [0, 0, 1]
    assert transitions.sessions == ("call-0", "call-2")
    assert transitions.next.tolist() == [1, END, END]
    assert transitions.feasible is None


def test_a_reward_is_one_finite_number_a_turn() -> None:
    """Anything else is refused with its place in the dialog."""
    corpus, output = read(whole_call(), whole_call())
    for shape in ((15,), (17,), (16, 1)):
        with pytest.raises(UsageError, match=r"one number a turn \(expected \(16,\), found") as raised:
            transitions_of(corpus, output, reward=lambda corpus, _, shape=shape: np.zeros(shape))
        assert str(shape) in str(raised.value)
    for number in (float("nan"), float("inf"), float("-inf")):
        earned = np.where(np.arange(16) >= 11, number, 0.0)
        with pytest.raises(UsageError, match="finite number") as raised:
            transitions_of(corpus, output, reward=lambda corpus, _, earned=earned: earned)
        (problem,) = raised.value.problems
        assert (problem.session, problem.turn, problem.found) == ("call-1", 3, str(number))


@pytest.mark.parametrize("when", ["terminal", "first_offer", "last_offer"])
def test_rewards_sum_to_the_return(when: str) -> None:
    corpus, output = played().corpus, tracked("focus")
    reward = Reward.of(corpus.domain, when=when)
    transitions = transitions_of(corpus, output, reward=reward)
    of_session = dict(zip(corpus.sessions, returns(corpus, reward(corpus, output)), strict=True))
    assert transitions.returns() == pytest.approx([of_session[session] for session in transitions.sessions])
    low, high = transitions.feasible or (0.0, 0.0)
    longest = int(np.bincount(transitions.dialog).max())
    assert (low, high) == reward.feasible(corpus.domain, 1, longest)
    assert low <= transitions.returns().min() <= transitions.returns().max() <= high


def test_some_dialogs() -> None:
    transitions = transitions_of(played().corpus, tracked("focus"))
    dialogs = np.array([0, 3, 4, 50])
    part = transitions.take_dialogs(dialogs)
    assert part.sessions == tuple(transitions.sessions[i] for i in dialogs)
    assert part.returns() == pytest.approx(transitions.returns()[dialogs])
    corpus = played().corpus
    places = [corpus.sessions.index(session) for session in part.sessions]
    alone = transitions_of(corpus.take(places), tracked("focus").take(places))
    assert_same_transitions(replace(part, feasible=None), replace(alone, feasible=None))


def test_propensities_come_along() -> None:
    corpus = played().corpus
    transitions = transitions_of(corpus, tracked("focus"))
    for row in (0, 17, len(transitions) - 1):
        dialog = corpus.sessions.index(transitions.sessions[transitions.dialog[row]])
        logged = corpus.propensities[corpus.offsets[dialog] + transitions.turn[row]]  # type: ignore[index]
        assert transitions.propensities[row].tolist() == logged.tolist()
        assert transitions.logged[row] == logged[transitions.action[row]] > 0
    unknown = transitions_of(replace(corpus, propensities=None), tracked("focus"))
    assert unknown.propensities.shape == (len(transitions), len(PREDICATES))
    assert np.isnan(unknown.propensities).all()


def test_unmapped_acts_are_listed_with_counts() -> None:
    """The most frequent first, with the place of the first of each."""
    wave, wink = [act("wave"), act("ack-ack")], [act("wink")]
    corpus, output = read([said(HELLO), said(wink), said(wave)], [said(wave), said(ASK), said([])])
    with pytest.raises(InputError) as raised:
        transitions_of(corpus, output)
    found = [(p.message.split(" ")[0], p.session, p.turn, p.found) for p in raised.value.problems]
    assert found == [
        ("2", "call-0", 2, "wave + ack-ack"),
        ("1", "call-0", 1, "wink"),
        ("1", "call-1", 2, "no acts at all"),
    ]
    assert all("offer" in (problem.expected or "") for problem in raised.value.problems)


def test_no_decisions_and_a_tracker_of_other_dialogs() -> None:
    with pytest.raises(UsageError):
        transitions_of(read(whole_call())[0], read(whole_call())[1])
    with pytest.raises(UsageError, match="'train4' has no decisions"):
        transitions_of(*read([said(HELLO)], [said(HELLO), said(HELLO)]))


def test_the_order_is_that_of_the_sessions() -> None:
    """Not that of the files."""
    short, long = [said(HELLO), said(BYE)], whole_call()
    transitions = transitions_of(*read(b=long, c=short, a=short))
    assert transitions.sessions == ("a", "b", "c")
    assert transitions.dialog.tolist() == [0, *[1] * 7, 2]
    assert transitions.turn.tolist() == [1, *range(1, 8), 1]


@settings(max_examples=3)
@given(st.randoms(use_true_random=False))
def test_the_order_of_files_changes_nothing(random: Any) -> None:
    """Transitions, dictionary and policy, to the last bit."""
    corpus, output = played().corpus, tracked("focus")
    order = list(range(corpus.n_dialogs))
    random.shuffle(order)
    found = transitions_of(corpus, output)
    shuffled = transitions_of(corpus.take(order), output.take(order))
    assert_same_transitions(found, shuffled)
    first, second = learn(found), learn(shuffled)
    assert first.basis.centers.tobytes() == second.basis.centers.tobytes()
    assert first.solution.weights.tobytes() == second.solution.weights.tobytes()
    assert first.behaviour.chances.tobytes() == second.behaviour.chances.tobytes()
    assert first.fit == second.fit


def test_policies_choose_among_what_the_log_calls_possible() -> None:
    calls = diners()
    output = track(TRACKERS.get("focus"), calls, "focus")
    transitions = transitions_of(calls, output)
    assert transitions.possible is not None
    behaviour = fit_behaviour(KernelLogistic(), transitions, 0.02)
    assert not behaviour.admitted[~transitions.possible].any()
    free = replace(behaviour, possible=None)
    assert free.admitted[~transitions.possible].any()


def test_what_was_done_must_have_been_possible() -> None:
    calls = diners()
    assert calls.possible is not None
    turn = int(np.flatnonzero(is_decision(calls))[0])
    possible = calls.possible.copy()
    possible[turn, calls.predicate[turn]] = False
    spoilt = replace(calls, possible=possible)
    with pytest.raises(InputError, match="not among what the log calls possible") as caught:
        transitions_of(spoilt, track(TRACKERS.get("focus"), spoilt, "focus"))
    assert caught.value.problems[0].session == calls.sessions[0]


def test_an_unknown_predicate_in_a_log(tmp_path: Path) -> None:
    calls = diners()
    DSTC2.write_corpus(calls.take([0]), tmp_path)
    (log,) = tmp_path.rglob("log.json")
    log.write_text(log.read_text().replace('"possible":["', '"possible":["pressent","', 1))
    with pytest.raises(InputError, match="unknown action in 'possible'; did you mean 'present'"):
        DSTC2.read_corpus(tmp_path, calls.dataset)
