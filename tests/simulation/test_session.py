"""A session for toolkits that own the loop: equal to the tracker on a stored corpus, turn by turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.formats import read_corpus
from extrinsic.corpus.formats.logs import write_acts
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import UsageError
from extrinsic.registry import TRACKERS
from extrinsic.simulation import BeliefState, Session, find_simulation
from extrinsic.trackers.protocol import LearnedTracker
from extrinsic.trackers.track import track
from extrinsic.trackers.tracking import Tracker
from tests.contents import hypotheses_content
from tests.real_data import ARCHIVE, needs_data
from tests.simulation.worlds import Allowed

WELCOME = [{"act": "welcomemsg", "slots": []}]
THAI = {"slu-hyp": [{"act": "inform", "slots": [["food", "thai"]]}], "score": 0.7}
PHONE = {"slu-hyp": [{"act": "request", "slots": [["slot", "phone"]]}], "score": 0.2}


def live_nbest(corpus: Corpus, turn: int) -> list[dict[str, Any]]:
    """The hypotheses of the live recogniser, as DSTC's JSON."""
    nbest = corpus.nbest
    return [
        {
            "slu-hyp": write_acts(corpus.vocabulary, nbest.acts, hypothesis),
            "score": float(nbest.score[hypothesis]),
        }
        for hypothesis in range(nbest.offsets[turn], nbest.offsets[turn + 1])
        if not nbest.batch[hypothesis]
    ]


def stored_beliefs(corpus: Corpus, output: TrackerOutput) -> Iterator[BeliefState]:
    """What the tracker wrote about each turn."""
    goals, methods = (
        list(map(dict, hypotheses_content(part, corpus.vocabulary)))
        for part in (output.given, output.given_method)
    )
    for turn, number in enumerate(corpus.turn_in_dialog.tolist()):
        of_turn = dict(zip(corpus.slots, goals[turn * len(corpus.slots) :], strict=False))
        requested = dict(zip(corpus.requestable, output.requested[turn].tolist(), strict=True))
        best = {slot: max(scores, key=scores.__getitem__) for slot, scores in of_turn.items() if scores}
        yield BeliefState(of_turn, requested, methods[turn], number + 1, best)


def count_differences(tracker: Tracker, corpus: Corpus, output: TrackerOutput) -> int:
    """How many turns differ: a session against the tracker's stored output, to the last bit."""
    session = Session(corpus.domain, tracker)
    differing = 0
    for turn, stored in enumerate(stored_beliefs(corpus, output)):
        if corpus.turn_in_dialog[turn] == 0:
            session.reset()
        system = write_acts(corpus.vocabulary, corpus.system, turn)
        beliefs = session.hear(system, live_nbest(corpus, turn), bool(corpus.restart[turn]))
        differing += beliefs != stored
    return differing


def some_dialogs(corpus: Corpus, n_dialogs: int) -> Corpus:
    """Dialogs evenly spread over a corpus."""
    return corpus.take(np.linspace(0, corpus.n_dialogs - 1, n_dialogs).astype(int))


@cache
def restaurant_calls(n_dialogs: int) -> Corpus:
    return some_dialogs(find_simulation("restaurants").simulate("noisy", "test").corpus, n_dialogs)


@cache
def real_calls(n_dialogs: int) -> Corpus:
    return some_dialogs(read_corpus(ARCHIVE, "dstc2_dev", format="dstc2"), n_dialogs)


@pytest.mark.parametrize("calls", [restaurant_calls, pytest.param(real_calls, marks=needs_data)])
@pytest.mark.parametrize("name", TRACKERS.names())
def test_a_session_is_the_tracker_on_a_stored_corpus(name: str, calls: Callable[[int], Corpus]) -> None:
    tracker, corpus = TRACKERS.get(name), calls(5)
    if isinstance(tracker, LearnedTracker):
        tracker = tracker.fit([calls(40)])
    assert count_differences(tracker, corpus, track(tracker, corpus, name)) == 0


def test_beliefs_are_plain() -> None:
    session = Session("restaurants", TRACKERS.get("focus"))
    beliefs = session.hear(WELCOME, [THAI, PHONE])
    assert beliefs.goals == {"food": {"thai": 0.7}, "pricerange": {}, "name": {}, "area": {}}
    assert beliefs.best("food") == ("thai", 0.7)
    assert beliefs.best("area") == (None, 0.0)
    assert beliefs.requested["phone"] == 0.2
    assert beliefs.method == {"byconstraints": 0.7, "none": pytest.approx(0.3)}
    session.reset()
    assert session.hear(WELCOME, []).goals["food"] == {}


def test_decisions_are_among_the_possible_and_depend_on_the_seed() -> None:
    def decisions(seed: int) -> list[str]:
        session, chosen = Session("restaurants", TRACKERS.get("focus"), Allowed(), seed=seed), []
        for _ in range(20):
            session.hear(WELCOME, [THAI])
            chosen.append(session.decide(["request", "confirm"]))
            session.reset()
        return chosen

    assert decisions(1) == decisions(1) != decisions(2)
    assert set(decisions(1)) == {"request", "confirm"}


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda session: session.decide(), "hear"),
        (lambda session: session.hear(WELCOME, [{"hyp": [], "score": 1.0}]), "N-best list has the wrong"),
        (lambda session: session.hear([("welcomemsg", [])], []), "system acts has the wrong form"),
        (lambda session: session.hear(WELCOME, [{"slu-hyp": [], "score": float("nan")}]), "finite"),
        (lambda session: session.hear(WELCOME, []) and session.decide(["comfirm"]), "did you mean 'confirm'"),
        (lambda session: session.hear(WELCOME, []) and session.decide([]), "nothing can be done"),
        (lambda _: Session("restaurants", TRACKERS.get("focus")).decide(), "no policy"),
        (lambda _: Session("restaurants", TRACKERS.get("logistic")), "fit"),
    ],
)
def test_what_a_session_refuses(use: Callable[[Session], Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        use(Session("restaurants", TRACKERS.get("focus"), Allowed()))
