"""Augmented states: their columns by hand, and what they are good for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.labels import LabelEvents
from extrinsic.policy.rewards import Reward
from extrinsic.policy.transitions import transitions_of
from extrinsic.registry import TRACKERS
from extrinsic.trackers.track import track
from extrinsic.value.estimator import EvaluationProblem
from extrinsic.value.lstd import WORTH_SCALE, Lstd, augment
from extrinsic.value.trees import Fqe
from tests.policy.calls import ASK, BYE, HELLO, OFFER, read, said, whole_call
from tests.policy.decisions import decisions, states_of
from tests.value.tables import EXACT_KERNELS, EXACT_TREES

NAMES = ("lowest", "missing", "filled", "required", "confirmed")


def test_columns_by_hand() -> None:
    """Of five groups three are required: from, to and time.

    First cmu .7 is known; then also the zoo .6; then cmu is .95 and confirmed; then 7 o'clock has .4. While
    the caller wants the next bus, no time is required.
    """
    corpus, output = read(whole_call())
    transitions = transitions_of(corpus, output)
    states = augment(transitions, corpus, output, [output])
    assert states.continuous_names == (
        *transitions.states.continuous_names,
        *(f"proxy0.{name}" for name in NAMES),
        "worth",
    )
    expected = [
        [0.7, 2 / 3, 1 / 5, 0.7 / 3, 0.0],
        [0.6, 1 / 3, 2 / 5, 1.3 / 3, 0.0],
        [0.6, 1 / 3, 2 / 5, 1.55 / 3, 1 / 5],
        *[[0.4, 0.0, 3 / 5, 1.95 / 3, 1 / 5]] * 2,
        [0.4, 0.0, 3 / 5, 1.55 / 2, 1 / 5],
        [0.4, 0.0, 3 / 5, 1.95 / 3, 1 / 5],
    ]
    assert states.continuous[:, -6:-1] == pytest.approx(np.array(expected))
    # Nobody wanted anything: what is believed (the time is not, at .4) costs 200 points each.
    assert states.continuous[:, -1].tolist() == [-200 / WORTH_SCALE, *[-400 / WORTH_SCALE] * 6]
    assert np.array_equal(states.continuous[:, :-6], transitions.states.continuous)
    assert states.discrete is transitions.states.discrete
    assert states.discrete_names == transitions.states.discrete_names


def test_proxies_stand_in_their_order() -> None:
    corpus, output = read(whole_call(), whole_call()[:3])
    transitions = transitions_of(corpus, output)
    other = track(TRACKERS.get("last_turn"), corpus, "last_turn")
    both, swapped = (
        augment(transitions, corpus, output, order) for order in ([output, other], [other, output])
    )
    assert both.continuous_names == swapped.continuous_names
    assert both.continuous_names[-11:-1] == tuple(f"proxy{i}.{name}" for i in (0, 1) for name in NAMES)
    width = len(transitions.states.continuous_names)
    first, second = slice(width, width + 5), slice(width + 5, width + 10)
    assert np.array_equal(both.continuous[:, first], swapped.continuous[:, second])
    assert np.array_equal(both.continuous[:, second], swapped.continuous[:, first])
    assert (both.continuous[:, first] != both.continuous[:, second]).any()


def test_rows_are_in_the_order_of_transitions() -> None:
    """Which is that of the sessions, not of the file."""
    short = [said(HELLO), said(OFFER), said(BYE)]
    corpus, output = read(b=whole_call(), a=short)
    transitions = transitions_of(corpus, output)
    states = augment(transitions, corpus, output, [output])
    assert transitions.sessions == ("a", "b")
    assert states.continuous[:2, -6:].tolist() == [[1.0, 1.0, 0.0, 0.0, 0.0, 0.0]] * 2
    assert states.continuous[2, [-6, -1]] == pytest.approx([0.7, -200 / WORTH_SCALE])


def test_the_worth_is_that_of_the_tracker_and_the_reward() -> None:
    """Not of the proxies; somebody's own reward has none."""
    corpus, output = read(whole_call())
    other = track(TRACKERS.get("last_turn"), corpus, "last_turn")
    transitions = transitions_of(corpus, output)
    plain = augment(transitions, corpus, output, [])
    assert np.array_equal(
        augment(transitions, corpus, output, [other]).continuous[:, -1], plain.continuous[:, -1]
    )
    cheap = augment(transitions, corpus, output, [], Reward.of(corpus.domain, incorrect=-50.0))
    assert cheap.continuous[:, -1] == pytest.approx(plain.continuous[:, -1] / 4)
    own = augment(transitions, corpus, output, [], lambda corpus, _: np.zeros(corpus.n_turns))
    assert own.continuous_names == transitions.states.continuous_names


def labelled_at(corpus: Corpus, turns: list[int]) -> Corpus:
    """Callers who want to leave from cmu, and said so at given turns."""
    slot, word = corpus.slots.index("from.desc"), corpus.vocabulary.ids(["cmu"])[0]
    columns = (np.array(turns), np.full(len(turns), slot), np.full(len(turns), word, dtype=np.int32))
    return replace(corpus, labels=LabelEvents(*columns, np.ones(len(turns), dtype=bool)))


@pytest.mark.parametrize("what", ["how it ends", "what is said later"])
def test_a_state_does_not_tell_the_future(what: str) -> None:
    """Two calls of three turns that only differ in the last one; their first decisions are the same."""
    last, turns = (BYE, [0, 3]) if what == "how it ends" else (ASK, [0, 5])
    corpus, output = read([said(HELLO), said(ASK), said(ASK)], [said(HELLO), said(ASK), said(last)])
    corpus = labelled_at(corpus, turns)
    transitions = transitions_of(corpus, output)
    states = augment(transitions, corpus, output, [])
    first = np.flatnonzero(transitions.first)
    if what != "how it ends":  # the first caller has said it already
        assert states.continuous[first[1], -1] == 0.0
    else:
        assert states.continuous[first[0], -1] == states.continuous[first[1], -1]


def test_what_the_tracker_cannot_see() -> None:
    """A hidden sign decides the reward, 10 or -10, and mostly makes the system choose action 1.

    What is done changes nothing, so that every policy is worth the mean: 0. A state without the sign credits
    action 1 with the luck; with a proxy that tells it, the value is right.
    """
    n_dialogs = 400
    lucky = np.arange(n_dialogs) % 2 == 0
    action = np.where(np.arange(n_dialogs) % 10 < 8, lucky, ~lucky).astype(int)
    states = states_of(np.zeros((n_dialogs, 1)), np.zeros((n_dialogs, 1)))
    reward = np.where(lucky, 10.0, -10.0)
    log = decisions(states, action, reward, np.arange(n_dialogs), 2)
    seen = replace(
        states, continuous=np.column_stack([np.zeros(n_dialogs), lucky]), continuous_names=("x0", "proxy")
    )
    case = EvaluationProblem(log, np.tile([0.0, 1.0], (n_dialogs, 1)), seen)
    credited = reward[action == 1].mean()
    assert credited == pytest.approx(6.0)
    for kind, settings in ((Lstd, EXACT_KERNELS), (Fqe, EXACT_TREES)):
        plain, augmented = (kind(settings=settings, augmented=more).estimate(case) for more in (False, True))
        assert plain.mean == pytest.approx(credited, abs=1e-6)
        assert augmented.mean == pytest.approx(0.0, abs=1e-6)
