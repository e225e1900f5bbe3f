"""Live play: what it refuses, whose callers, numbers by identity; sessions where others own the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from extrinsic.arrays import Floats
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.formats import read_corpus
from extrinsic.corpus.formats.logs import write_acts
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import UsageError
from extrinsic.registry import TRACKERS
from extrinsic.simulation import BeliefState, ExpertTracker, Moment, Session, find_simulation, play
from extrinsic.simulation.chance import Chance
from extrinsic.trackers.protocol import LearnedTracker
from extrinsic.trackers.track import track
from extrinsic.trackers.tracking import Tracker
from tests.contents import hypotheses_content
from tests.real_data import ARCHIVE, needs_data
from tests.simulation.worlds import PREDICATES, Allowed, Always, first_lists


class Faulty:
    """A policy that always requests, but for what is done to its probabilities."""

    def __init__(self, spoil: Any) -> None:
        self.spoil = spoil

    def probabilities(self, moment: Moment) -> Floats:
        return np.asarray(self.spoil(Always("request").probabilities(moment)))


def all_on(name: str) -> Any:
    return lambda chances: np.eye(len(PREDICATES))[[PREDICATES.index(name)] * len(chances)]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (all_on("next_bus"), "not allowed"),
        (all_on("hello"), "not allowed"),
        (all_on("restart"), "not allowed"),
        (lambda chances: chances[:, :-1], "wrong shape"),
        (lambda chances: chances[:-1], "wrong shape"),
        (lambda chances: chances[0], "wrong shape"),
        (lambda chances: chances * np.nan, "sum to 1"),
        (lambda chances: chances * 0.5, "sum to 1"),
        (lambda chances: 2.0 * chances - np.eye(chances.shape[1])[0], "at least 0"),
    ],
)
def test_a_faulty_policy_is_refused(spoil: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        play(Faulty(spoil), ExpertTracker(), 5, 1)


@pytest.mark.parametrize(
    ("tracker", "n_dialogs", "rng", "message"),
    [
        (ExpertTracker(), 0, 1, "at least one dialog"),
        (ExpertTracker(), 5, Chance.of(3, "x"), "another number of dialogs"),
        (TRACKERS.get("logistic"), 5, 1, r"cannot track; call tracker.fit\(\[corpus\]\) first"),
        (object(), 5, 1, "cannot track$"),
    ],
)
def test_what_cannot_be_played_is_refused(tracker: Any, n_dialogs: int, rng: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        play(Allowed(), tracker, n_dialogs, rng)


def test_a_generator_gives_callers_by_its_state() -> None:
    def answers(rng: np.random.Generator) -> list[Any]:
        return first_lists(play(Allowed(), ExpertTracker(), 20, rng))

    first, again = np.random.default_rng(3), np.random.default_rng(3)
    assert answers(first) == answers(again) != answers(np.random.default_rng(4))
    assert answers(first) != answers(np.random.default_rng(3))  # the first has moved on


N = 20_000
SMALLEST_P = 1e-6
"""Of some forty p-values; a generator with a flaw has far smaller ones."""


def test_dialogs_draw_uniform_numbers() -> None:
    draws = Chance.of(N, "uniform").uniform("a purpose", 0)
    assert draws.shape == (N,)
    assert ((draws >= 0) & (draws < 1)).all()
    assert stats.kstest(draws, "uniform").pvalue > SMALLEST_P
    assert len(np.unique(draws)) == N


@pytest.mark.parametrize("bins", [2, 10, 256])
def test_positions_draw_uniform_numbers(bins: int) -> None:
    """Of one dialog, over positions and turns."""
    chance = Chance.of(1, "positions")
    draws = np.concatenate([chance.uniform("x", turn, (1000,)).ravel() for turn in range(20)])
    counts = np.bincount((draws * bins).astype(int), minlength=bins)
    assert stats.chisquare(counts).pvalue > SMALLEST_P


def test_neighbouring_dialogs_positions_turns_purposes_and_seeds_are_independent() -> None:
    """Correlations of 20,000 pairs: their standard deviation is .007."""
    chance = Chance.of(N, 1, "ds1")
    columns = [
        chance.uniform("a", 0),
        chance.uniform("b", 0),
        chance.uniform("a", 1),
        np.roll(chance.uniform("a", 0), 1),
        *chance.uniform("c", 0, (3,)).T,
        Chance.of(N, 2, "ds1").uniform("a", 0),
        Chance.of(N, 1, "ds2").uniform("a", 0),
    ]
    for (i, first), (j, second) in combinations(enumerate(columns), 2):
        assert abs(np.corrcoef(first, second)[0, 1]) < 0.035, (i, j)
        joint, *_ = np.histogram2d(first, second, bins=8, range=[[0, 1], [0, 1]])
        assert stats.chisquare(joint.ravel()).pvalue > SMALLEST_P, (i, j)


def test_a_dialog_keeps_its_dice_however_many_there_are() -> None:
    few, many = Chance.of(3, 7, "x"), Chance.of(1000, 7, "x")
    chosen = np.array([7, 2, 2])
    for chance, dialogs in ((few, np.arange(3)), (many.take(chosen), chosen)):
        assert np.array_equal(chance.key, many.key[dialogs])
        assert np.array_equal(chance.uniform("p", 4, (2, 3)), many.uniform("p", 4, (2, 3))[dialogs])


def test_the_same_position_has_the_same_number() -> None:
    chance = Chance.of(2, "x")
    all_positions = chance.uniform("p", 3, (50,))
    positions = np.array([[4, 4, 49], [0, 7, 4]])
    found = chance.uniform_at("p", 3, positions)
    assert np.array_equal(found, np.take_along_axis(all_positions, positions, axis=1))
    assert found[0, 0] != found[1, 2]  # another dialog


def test_numbers_are_those_of_every_machine() -> None:
    """Golden values: a change here changes every corpus ever simulated."""
    chance = Chance.of(2, 2014, "ds1", "train")
    assert chance.uniform("policy", 3).tolist() == [0.9919789057860563, 0.28999585949295825]


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
