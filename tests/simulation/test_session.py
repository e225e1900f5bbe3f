"""A session for toolkits that own the loop: equal to the tracker on a stored corpus, turn by turn."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from extrinsic.arrays import Floats
from extrinsic.corpus.formats import read_corpus
from extrinsic.corpus.model import Corpus
from extrinsic.errors import UsageError
from extrinsic.registry import TRACKERS
from extrinsic.simulation import Moment, Session, find_simulation
from extrinsic.trackers.protocol import LearnedTracker
from extrinsic.trackers.track import track
from tests.real_data import ARCHIVE, needs_data
from tests.simulation.sessions import count_differences, live_nbest, some_dialogs

WELCOME = [{"act": "welcomemsg", "slots": []}]
THAI = {"slu-hyp": [{"act": "inform", "slots": [["food", "thai"]]}], "score": 0.7}
PHONE = {"slu-hyp": [{"act": "request", "slots": [["slot", "phone"]]}], "score": 0.2}


@cache
def restaurant_calls(n_dialogs: int) -> Corpus:
    return some_dialogs(find_simulation("restaurants").simulate("noisy", "test").corpus, n_dialogs)


@pytest.mark.parametrize("name", TRACKERS.names())
def test_a_session_is_the_tracker_on_a_stored_corpus(name: str) -> None:
    tracker, corpus = TRACKERS.get(name), restaurant_calls(6)
    if isinstance(tracker, LearnedTracker):
        tracker = tracker.fit([restaurant_calls(40)])
    assert count_differences(tracker, corpus, track(tracker, corpus, name))[0] == 0


@needs_data
@pytest.mark.parametrize("name", TRACKERS.names())
def test_a_session_is_the_tracker_on_real_calls(name: str) -> None:
    tracker, corpus = TRACKERS.get(name), some_dialogs(_dev(), 3)
    if isinstance(tracker, LearnedTracker):
        tracker = tracker.fit([some_dialogs(_dev(), 40)])
    assert count_differences(tracker, corpus, track(tracker, corpus, name))[0] == 0


@cache
def _dev() -> Corpus:
    return some_dialogs(read_corpus(ARCHIVE, "dstc2_dev", format="dstc2"), 60)


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


class Weights:
    """Draws the possible acts with equal chances."""

    def probabilities(self, moment: Moment) -> Floats:
        return np.asarray(moment.allowed / moment.allowed.sum(axis=1, keepdims=True))


def test_decisions_are_among_the_possible_and_depend_on_the_seed() -> None:
    def decisions(seed: int) -> list[str]:
        session, chosen = Session("restaurants", TRACKERS.get("focus"), Weights(), seed=seed), []
        for _ in range(20):
            session.hear(WELCOME, [THAI])
            chosen.append(session.decide(["request", "confirm"]))
            session.reset()
        return chosen

    assert decisions(1) == decisions(1) != decisions(2)
    assert set(decisions(1)) == {"request", "confirm"}


def test_what_a_session_refuses() -> None:
    session = Session("restaurants", TRACKERS.get("focus"), Weights())
    with pytest.raises(UsageError, match="hear"):
        session.decide()
    with pytest.raises(UsageError, match="N-best list has the wrong form"):
        session.hear(WELCOME, [{"hyp": [], "score": 1.0}])
    with pytest.raises(UsageError, match="system acts has the wrong form"):
        session.hear([("welcomemsg", [])], [])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="finite"):
        session.hear(WELCOME, [{"slu-hyp": [], "score": float("nan")}])
    session.hear(WELCOME, [THAI])
    with pytest.raises(UsageError, match="did you mean 'confirm'"):
        session.decide(["comfirm"])
    with pytest.raises(UsageError, match="nothing can be done"):
        session.decide([])
    with pytest.raises(UsageError, match="no policy"):
        Session("restaurants", TRACKERS.get("focus")).decide()
    with pytest.raises(UsageError, match="fit"):
        Session("restaurants", TRACKERS.get("logistic"))


def test_a_stored_list_has_only_live_hypotheses() -> None:
    corpus = restaurant_calls(6)
    assert len(live_nbest(corpus, 0)) == np.diff(corpus.nbest.offsets)[0]
