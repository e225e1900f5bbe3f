"""Trackers with parameters: what is typed is made; populations fill their space with distinct ones."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from extrinsic.errors import UsageError
from extrinsic.registry import TRACKERS
from extrinsic.simulation import Session
from extrinsic.trackers.populations import FAMILIES, canonical_name, population, read_form
from extrinsic.trackers.track import track
from tests.trackers.calls import noisy_calls


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("focus(discount=0.62)", "focus(discount=0.62)"),
        (" mixture( hwu ,focus,weight = .3 )", "mixture(hwu, focus, weight=0.3)"),
        ("window(size=3)", "window"),
        ("focus(discount=0.9, trust=0.5)", "focus(trust=0.5, discount=0.9)"),
        ("delayed(mixture(hwu,vote,weight=.5),turns=1)", "delayed(mixture(hwu, vote, weight=0.5), turns=1)"),
        ("delayed(logistic(share=0.5, seed=3), turns=2)", "delayed(logistic(share=0.5, seed=3), turns=2)"),
        ("recalibrated(hwu, temperature=2.0)", "recalibrated(hwu, temperature=2)"),
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
        ("recalibrated(hwu, temperature=0)", ["temperature is out of range", "from 0.1 to 10"]),
        ("focus(", ["is not a tracker"]),
    ],
)
def test_bad_forms_are_refused(typed: str, parts: list[str]) -> None:
    with pytest.raises(UsageError) as raised:
        TRACKERS.get(typed)
    for part in parts:
        assert part in str(raised.value)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name in TRACKERS.names()])
def test_a_family_with_its_defaults_is_the_tracker_of_its_name(name: str) -> None:
    corpus, train = noisy_calls(6, seed=4), [noisy_calls(20, seed=5)]
    default = {option.name: option.default for option in FAMILIES[name].options.values()}
    made = FAMILIES[name].make([], default)
    given, expected = (track(tracker, corpus, "x", train).given for tracker in (made, TRACKERS.get(name)))
    assert given.score.tobytes() == expected.score.tobytes()


def test_a_mixture_learns_if_a_part_does() -> None:
    corpus, train = noisy_calls(5, seed=6), [noisy_calls(25, seed=7)]
    at = []
    for name in ("mixture(logistic, focus, weight=0.4)", "logistic", "focus"):
        beliefs = track(TRACKERS.get(name), corpus, name, train).beliefs
        items = np.repeat(np.arange(len(beliefs)), np.diff(beliefs.offsets)).tolist()
        keys = zip(items, beliefs.value.tolist(), strict=True)
        at.append(dict(zip(keys, beliefs.score.tolist(), strict=True)))
    mixed, first, second = at
    for key, score in mixed.items():
        if key[1]:
            assert score == pytest.approx(0.4 * first.get(key, 0.0) + 0.6 * second.get(key, 0.0))


def test_learned_members_differ_by_what_they_say() -> None:
    corpus, train = noisy_calls(8, seed=8), [noisy_calls(40, seed=9)]
    names = ("random_forest", "random_forest(seed=1)", "random_forest(share=0.3)", "random_forest(leaf=50)")
    names += ("random_forest(features=now)", "logistic", "logistic(penalty=100)")
    scores = {track(TRACKERS.get(name), corpus, name, train).given.score.tobytes() for name in names}
    assert len(scores) == len(names)


def test_a_session_takes_a_member() -> None:
    session = Session("restaurants", TRACKERS.get("recalibrated(focus, temperature=0.5)"))
    said = [{"score": 0.6, "slu-hyp": [{"act": "inform", "slots": [["food", "thai"]]}]}]
    beliefs = session.hear([{"act": "welcomemsg", "slots": []}], said)
    assert beliefs.best("food") == ("thai", pytest.approx(0.36 / (0.36 + 0.16)))


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


def test_members_are_distinct_and_say_what_they_are() -> None:
    names = population(240)
    assert len(set(names)) == 240
    assert all(canonical_name(name) == name for name in names if "(" in name)
    counts = {name: sum(read_form(member).name == name for member in names) for name in FAMILIES}
    assert {count for name, count in counts.items() if name != "recalibrated"} == {12}
    for name in names[:40]:
        assert TRACKERS.get(name) is not None


def test_a_larger_population_begins_with_the_smaller_one_in_any_process() -> None:
    assert population(90)[:50] == population(50)
    assert population(50, seed=1) != population(50)
    code = "from extrinsic.trackers.populations import population; print(population(30))"
    environment = {**os.environ, "PYTHONHASHSEED": "77"}
    other = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert other.stdout.strip() == str(population(30))


def test_members_stay_what_they_were() -> None:
    """Names are identities: a study made with them before must find the same trackers."""
    names = population(40, seed=5)
    assert (names[0], names[14]) == (
        "focus(threshold=0.15, discount=0.99)",
        "bayes(confusion=0, change=0.02)",
    )


def test_the_space_is_filled() -> None:
    """Of 128 points of a Sobol sequence every quarter of an axis gets its share."""
    names = population(128, families=["bayes"])
    confusion = [read_form(name).settings.get("confusion", 0.0) for name in names]
    counts, _ = np.histogram(confusion, bins=4, range=(-0.01, 0.61))
    assert counts.min() >= 25


def test_a_population_larger_than_its_space_says_how_many_there_are() -> None:
    assert len(set(population(54, families=["delayed"]))) == 54
    with pytest.raises(UsageError, match="delayed has 54 distinct members"):
        population(55, families=["delayed"])
    with pytest.raises(UsageError, match="did you mean 'bayes'"):
        population(5, families=["bays"])


def test_recalibrated_members_say_so() -> None:
    assert TRACKERS.get("recalibrated(hwu, temperature=0.5)").recalibrated_from == "hwu"
    assert TRACKERS.get("recalibrated(logistic, temperature=2)").recalibrated_from == "logistic"
    assert TRACKERS.get("hwu(trust=0.5)").recalibrated_from is None
