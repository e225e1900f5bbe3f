"""Printed forms of trackers with parameters: what is typed is what is made, and bad ones are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from extrinsic.corpus.model import Corpus
from extrinsic.errors import UsageError
from extrinsic.registry import TRACKERS
from extrinsic.simulation import Session
from extrinsic.trackers.families import FAMILIES
from extrinsic.trackers.forms import canonical_name, read_form
from extrinsic.trackers.track import track
from tests.trackers.calls import noisy_calls, restaurant_calls, scores_of
from tests.trackers.test_by_hand import CALL


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("focus(discount=0.62)", "focus(discount=0.62)"),
        (" mixture( hwu ,focus,weight = .3 )", "mixture(hwu, focus, weight=0.3)"),
        ("window(size=3)", "window"),
        ("focus(discount=0.9, trust=0.5)", "focus(trust=0.5, discount=0.9)"),
        ("dosed(mixture(hwu,vote,weight=.5),wrong=.1)", "dosed(mixture(hwu, vote, weight=0.5), wrong=0.1)"),
        ("delayed(logistic(share=0.5, seed=3), turns=2)", "delayed(logistic(share=0.5, seed=3), turns=2)"),
        ("dosed(hwu, wrong=-1)", "dosed(hwu, wrong=-1)"),
    ],
)
def test_a_form_is_printed_in_one_way(typed: str, printed: str) -> None:
    assert canonical_name(typed) == printed
    assert str(read_form(printed)) == printed


@pytest.mark.parametrize(
    ("typed", "parts"),
    [
        ("focus(discont=1)", ["discont", "did you mean 'discount'"]),
        ("focus(discount=2)", ["discount is out of range", "above 0 to 1", "found 2"]),
        ("focus(discount=0)", ["discount is out of range"]),
        ("focus(discount=nan)", ["discount is out of range", "found nan"]),
        ("focus(discount=1, discount=1)", ["occurs twice"]),
        ("window(size=2.5)", ["a whole number", "2.5"]),
        ("mixture(hwu, weight=0.5)", ["two trackers", "found hwu"]),
        ("mixture(hwu, focus)", ["needs a value for 'weight'"]),
        ("fokus(discount=0.3)", ["did you mean 'focus'"]),
        ("hwu_original(trust=0.3)", ["takes no parameters"]),
        ("logistic(features=al)", ["did you mean 'all'"]),
        ("focus(", ["is not a tracker"]),
        ("mixture(dosed(hwu, wrong=0.1), focus, weight=0.5)", ["errors are placed last"]),
        ("dosed(hwu, wrong=1.5)", ["wrong is out of range", "-1 to 1", "1.5"]),
        ("dosed(hwu, temperature=0)", ["temperature is out of range"]),
        ("dosed(hwu, turns=lat)", ["did you mean 'late'"]),
    ],
)
def test_bad_forms_are_refused(typed: str, parts: list[str]) -> None:
    with pytest.raises(UsageError) as raised:
        TRACKERS.get(typed)
    for part in parts:
        assert part in str(raised.value)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name in TRACKERS.names()])
def test_a_family_with_its_defaults_is_the_tracker_of_its_name(name: str) -> None:
    family = FAMILIES[name]
    corpus, train = noisy_calls(6, seed=4), [noisy_calls(20, seed=5)]
    default = {parameter.name: parameter.default for parameter in family.all_parameters}
    made = family.make([], default)  # type: ignore[arg-type]
    given, expected = (track(tracker, corpus, "x", train).given for tracker in (made, TRACKERS.get(name)))
    assert given.score.tobytes() == expected.score.tobytes()


def by_hand(name: str) -> np.ndarray:
    """(4, 2) the scores of thai and greek at the turns of CALL."""
    corpus = restaurant_calls(CALL)
    beliefs = scores_of(track(TRACKERS.get(name), corpus, name), corpus)
    return np.array([[turn["food"].get(food, 0.0) for food in ("thai", "greek")] for turn in beliefs])


def test_tuning_by_hand() -> None:
    """CALL informs thai .6 greek .3; thai .5 greek .1, no .2 to thai; greek .8; thai .4."""
    # Half of every score: .3 .15; then thai .25 + (1 - .25 - .05 - .1) .3, greek .05 + .7 * .15.
    np.testing.assert_allclose(by_hand("yarbus(trust=0.5)")[:2], [(0.3, 0.15), (0.43, 0.155)])
    # Below .25 nothing is heard: neither greek's .1 nor the no of .2.
    np.testing.assert_allclose(by_hand("yarbus(threshold=0.25)")[:2], [(0.6, 0.3), (0.8, 0.15)])
    # Half of the memory: thai .5 + (1 - .6 - .2) .3, greek .1 + .4 * .15.
    np.testing.assert_allclose(by_hand("yarbus(discount=0.5)")[:2], [(0.6, 0.3), (0.56, 0.16)])
    # Ranks below the threshold do not count: 1 / 1.5 alone.
    np.testing.assert_allclose(by_hand("rank_only(threshold=0.35)")[0], (1 / 1.5, 0.0))


def test_mixtures_and_delays_by_hand() -> None:
    mixed, hwu, vote = (by_hand(name) for name in ("mixture(hwu, vote, weight=0.3)", "hwu", "vote"))
    np.testing.assert_allclose(mixed, 0.3 * hwu + 0.7 * vote)
    corpus = restaurant_calls(CALL)
    late = scores_of(track(TRACKERS.get("delayed(hwu, turns=2)"), corpus, "x"), corpus)
    assert [turn.get("food") for turn in late[:2]] == [None, None]
    assert (late[2]["food"]["thai"], late[3]["food"]["greek"]) == pytest.approx((hwu[0][0], hwu[1][1]))


def test_a_mixture_learns_if_a_part_does() -> None:
    corpus, train = noisy_calls(5, seed=6), [noisy_calls(25, seed=7)]
    mixed, first, second = (
        track(TRACKERS.get(name), corpus, name, train).beliefs
        for name in ("mixture(logistic, focus, weight=0.4)", "logistic", "focus")
    )
    at = {}
    for name, beliefs in (("mixed", mixed), ("first", first), ("second", second)):
        item = [i for i in range(len(beliefs)) for _ in range(*beliefs.offsets[i : i + 2])]
        at[name] = dict(
            zip(zip(item, beliefs.value.tolist(), strict=True), beliefs.score.tolist(), strict=True)
        )
    for key, score in at["mixed"].items():
        if key[1]:
            expected = 0.4 * at["first"].get(key, 0.0) + 0.6 * at["second"].get(key, 0.0)
            assert score == pytest.approx(expected)


def test_learned_members_differ_by_what_they_say() -> None:
    corpus, train = noisy_calls(8, seed=8), [noisy_calls(40, seed=9)]
    names = ("random_forest", "random_forest(seed=1)", "random_forest(share=0.3)", "random_forest(leaf=50)")
    names += ("random_forest(features=now)", "logistic", "logistic(penalty=100)")
    scores = {track(TRACKERS.get(name), corpus, name, train).given.score.tobytes() for name in names}
    assert len(scores) == len(names)


def test_a_session_takes_a_member() -> None:
    session = Session("restaurants", TRACKERS.get("dosed(focus, temperature=0.5)"))
    heard = [{"score": 0.6, "slu-hyp": [{"act": "inform", "slots": [["food", "thai"]]}]}]
    beliefs = session.hear([{"act": "welcomemsg", "slots": []}], heard)
    assert beliefs.best("food") == ("thai", pytest.approx(0.36 / (0.36 + 0.16)))
    session = Session("restaurants", TRACKERS.get("dosed(focus, wrong=0.5)"))
    with pytest.raises(UsageError, match="nothing says here what is right"):
        session.hear([{"act": "welcomemsg", "slots": []}], heard)


def test_a_form_is_one_object_until_its_part_is_registered_anew() -> None:
    assert TRACKERS.get("focus(discount=0.9)") is TRACKERS.get("focus( discount=.9 )")
    form = "delayed(mine, turns=1)"
    try:
        TRACKERS.register("mine", TRACKERS.get("hwu"), "hwu")
        before = TRACKERS.get(form)
        assert TRACKERS.get(form) is before
        TRACKERS.unregister("mine")
        TRACKERS.register("mine", TRACKERS.get("vote"), "vote")
        assert TRACKERS.get(form).tracker is TRACKERS.get("vote")
    finally:
        TRACKERS.unregister("mine")


MEMBERS = ("focus(trust=0.8, threshold=0.1, discount=0.9)", "mixture(bayes_low, window, weight=0.4)")
MEMBERS += ("delayed(hwu, turns=2)", "mixture(delayed(vote, turns=1), yarbus(consent=0.5), weight=0.7)")


@pytest.mark.parametrize("name", MEMBERS)
def test_members_track_a_dialog_alone_as_among_many_and_forget_at_a_restart(name: str) -> None:
    corpus, tracker = noisy_calls(30, n_turns=6, seed=2), TRACKERS.get(name)
    whole = track(tracker, corpus, name)
    alone = track(tracker, corpus.take([17]), name)
    assert whole.take([17]).given.score.tobytes() == alone.given.score.tobytes()
    assert (np.add.reduceat(whole.beliefs.score, whole.beliefs.offsets[:-1]) <= 1.0 + 1e-9).all()
    restart = corpus.restart.copy()
    restart[corpus.offsets[:-1] + 3] = True
    anew = track(tracker, replace(corpus, restart=restart), name)
    n_slots = len(corpus.slots)
    first = (corpus.offsets[:-1] + 3)[:, None] * n_slots + np.arange(n_slots)
    told = anew.given.take(first.ravel())
    own = track(tracker, _from_turn_three(corpus), name)
    begin = own.offsets[:-1][:, None] * n_slots + np.arange(n_slots)
    assert told.score.tobytes() == own.given.take(begin.ravel()).score.tobytes()


def _from_turn_three(corpus: Corpus) -> Corpus:
    """The second halves of calls of six turns, as calls of their own."""
    halves = replace(
        corpus,
        offsets=np.arange(0, corpus.n_turns + 1, 3),
        sessions=tuple(f"half-{number}" for number in range(2 * corpus.n_dialogs)),
        directories=tuple(f"calls/half-{number}" for number in range(2 * corpus.n_dialogs)),
        conditions={},
        outcomes={},
    )
    return halves.take(list(range(1, 2 * corpus.n_dialogs, 2)))
