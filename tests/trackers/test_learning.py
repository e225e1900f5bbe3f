"""Learned trackers: what they may see, what they make of it, and that it never depends on chance."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from extrinsic.corpus.corpus import Corpus, fold_of_sessions
from extrinsic.corpus.labels import LabelEvents
from extrinsic.errors import UsageError
from extrinsic.registry import TRACKERS
from extrinsic.simulation import BusSimulation
from extrinsic.trackers import learned
from extrinsic.trackers.learned import FEATURES, Logistic, examples_of
from extrinsic.trackers.track import track
from tests.builders import act, heard
from tests.corpus.bus_calls import bus_corpus
from tests.trackers.calls import LEARNED, bus_turn, noisy_calls, ready, restaurant_calls

every_learned = pytest.mark.parametrize("name", LEARNED)


def with_wrong_labels(corpus: Corpus, dialog: int) -> Corpus:
    """The same corpus with every label of a dialog turned round."""
    labels = corpus.labels
    assert isinstance(labels, LabelEvents)
    own = corpus.dialog_of_turn[labels.turn] == dialog
    return replace(corpus, labels=replace(labels, correct=labels.correct ^ own))


@every_learned
def test_no_model_sees_the_dialogs_it_tracks(name: str) -> None:
    """Cross-fitted: other labels of a dialog change other folds, and never its own."""
    corpus = noisy_calls(30, seed=7)
    before, after = (
        track(TRACKERS.get(name), part, name, folds=3) for part in (corpus, with_wrong_labels(corpus, 4))
    )
    fold = fold_of_sessions(corpus.sessions, 3)
    for dialog in range(corpus.n_dialogs):
        one, other = (output.take([dialog]).given for output in (before, after))
        if fold[dialog] == fold[4]:
            assert np.array_equal(one.score, other.score)
    assert not np.array_equal(before.given.score, after.given.score)


@every_learned
def test_what_is_learned_does_not_depend_on_the_order_of_dialogs(name: str) -> None:
    corpus = noisy_calls(20, seed=8)
    order = np.random.default_rng(0).permutation(20)
    one, other = (track(TRACKERS.get(name), part, name, folds=2) for part in (corpus, corpus.take(order)))
    assert np.array_equal(one.take(order).given.score, other.given.score)


@every_learned
def test_training_dialogs_teach(name: str) -> None:
    """Beside what was heard: right values have to come out on top more often than by the last mention."""
    corpus = noisy_calls(60, seed=9)
    right = {tracker: track(ready(tracker), corpus, tracker).beliefs for tracker in (name, "last_mention")}
    accuracy = {tracker: beliefs.correct[beliefs.top].mean() for tracker, beliefs in right.items()}
    assert accuracy[name] > accuracy["last_mention"]
    assert accuracy[name] > 0.85


@every_learned
def test_training_twice_gives_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when there are more examples than are used."""
    monkeypatch.setattr(learned, "MOST_ROWS", 200)
    corpus, train = noisy_calls(5, seed=10), noisy_calls(30, seed=11)
    one, other = (track(TRACKERS.get(name), corpus, name, train=[train]) for _ in range(2))
    assert np.array_equal(one.given.score, other.given.score)


@every_learned
def test_examples_that_are_all_alike(name: str) -> None:
    """Nothing was ever right: one of each kind is added, and a value has 1 of n + 2."""
    said = [heard(0.9, act("inform", ("food", "thai")))]
    corpus = restaurant_calls(*([([act("welcomemsg")], said)] for _ in range(4)))
    found = track(TRACKERS.get(name), corpus, name, folds=2).given.score
    share = 1 / 4
    assert found == pytest.approx(share / (1 - share) / (1 + share / (1 - share)))


@every_learned
def test_nothing_to_learn_from(name: str) -> None:
    silent = bus_corpus(*([bus_turn(act("hello"), [])] for _ in range(3)))
    with pytest.raises(UsageError, match="nothing to learn from"):
        track(TRACKERS.get(name), silent, name, folds=3)


def test_features_of_a_call() -> None:
    """What is known of thai after a yes of .5 and a no of .2 to its confirmation."""
    thai = act("inform", ("food", "thai"))
    corpus = restaurant_calls(
        [
            (
                [act("request", ("slot", "food"))],
                [heard(0.6, thai), heard(0.3, act("inform", ("food", "greek")))],
            ),
            ([act("expl-conf", ("food", "thai"))], [heard(0.5, act("affirm")), heard(0.2, act("negate"))]),
        ]
    )
    rows = examples_of(corpus).rows
    first, last = (dict(zip(FEATURES, rows[number], strict=True)) for number in (0, 2))
    assert first["requested now"] == 1
    assert last == pytest.approx(
        {
            "highest": 0.6,
            "sum": 1.1,
            "count": 2,
            "focus": 0.5 + 0.5 * 0.6,
            "since": 1,
            "affirmed": 0.5,
            "denied": 0.2,
            "top count": 2,
            "best rank": 1,
            "explicit": 1,
            "implicit": 0,
            "informed now": 0.5,
            "affirmed now": 0.5,
            "denied now": 0.2,
            "rejected now": 0.2,
            "top now": 0.5,
            "rank now": 1,
            "explicit now": 1,
            "implicit now": 0,
            "requested now": 0,
            "slot informed now": 0.5,
            "share of sum": 1.1 / 1.4,
            "best other focus": 0.15,
            "best other highest": 0.3,
            "candidates": 2,
        }
    )


def test_listing_trackers_imports_no_learning_library() -> None:
    script = (
        "import sys\nfrom extrinsic.registry import TRACKERS\n[TRACKERS.get(n) for n in TRACKERS.names()]\n"
        "print([n for n in ('scipy', 'sklearn', 'joblib') if n in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_the_examples_of_many_dialogs_are_those_of_each() -> None:
    """Many candidates in some of more than a hundred dialogs: these are tracked apart, but not here."""
    corpus = BusSimulation.read(seed=11).simulate("letsgo", "test").corpus.take(np.arange(150))
    whole = examples_of(corpus)
    for dialog in range(corpus.n_dialogs):
        alone, chosen = examples_of(corpus.take(np.array([dialog]))), whole.dialog == dialog
        assert np.array_equal(whole.rows[chosen], alone.rows)
        assert np.array_equal(whole.right[chosen], alone.right)


def test_training_on_a_part_is_training_on_its_dialogs() -> None:
    corpus = BusSimulation.read(seed=11).simulate("ds4", "train").corpus
    parts = [np.arange(0, corpus.n_dialogs, 2), np.arange(1, 40)]
    for tracker in (Logistic(), Logistic(share=0.3, features="now", seed=4)):
        fitted = tracker.fit_parts(corpus, parts)
        for part, one in zip(parts, fitted, strict=True):
            alone = tracker.fit([corpus.take(part)])
            assert np.array_equal(one.model.weights, alone.model.weights)  # type: ignore[attr-defined]
            assert one.model.constant == alone.model.constant  # type: ignore[attr-defined]
