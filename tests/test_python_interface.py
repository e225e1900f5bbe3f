"""The package as it is imported: `extrinsic.read_corpus`, `extrinsic.score`."""

from __future__ import annotations

import sys
from dataclasses import FrozenInstanceError
from pathlib import Path
from types import SimpleNamespace

import pytest

import extrinsic
from extrinsic.errors import UsageError
from extrinsic.registry import TRACKERS
from extrinsic.simulation import read_simulation
from extrinsic.trackers.track import track
from tests.builders import Written, write_dstc1, write_state_sets
from tests.running import run
from tests.samples import small_dstc1, small_state_sets


@pytest.fixture
def bus(tmp_path: Path) -> Written:
    return write_dstc1(tmp_path, small_dstc1())


@pytest.fixture
def states(tmp_path: Path) -> Path:
    return write_state_sets(tmp_path, small_state_sets())


def test_python(bus: Written) -> None:
    corpus = extrinsic.read_corpus(bus.corpus, bus.dataset, format="dstc1")
    tracker = extrinsic.read_tracker(bus.tracker, corpus)
    scores = extrinsic.score(corpus, tracker, metrics=["accuracy"], components=["route"], schedules=[1])
    assert isinstance(scores, extrinsic.Scores)
    assert [(row.metric, row.n, row.value) for row in scores.rows] == [("accuracy", 5, 4 / 5)]
    options = ["--metric", "accuracy", "--component", "route", "--schedule", 1, "--json"]
    printed = run("score", "--format", "dstc1", "--corpus", bus.corpus, bus.tracker, *options)
    assert scores.as_rows() == printed.json()["rows"]
    with pytest.raises(FrozenInstanceError):
        scores.rows[0].value = 1.0  # type: ignore[misc]
    with pytest.raises(UsageError, match="together with a tracker"):
        extrinsic.score(corpus)


def test_python_with_state_sets(states: Path) -> None:
    scores = extrinsic.score(extrinsic.read_states(states), metrics=["jga", "slot_f1"])
    assert [row.value for row in scores.rows] == [2 / 3, pytest.approx(1 / 3)]


def test_dataframes_need_pandas(states: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = extrinsic.score(extrinsic.read_states(states), metrics=["jga"])
    monkeypatch.setitem(sys.modules, "pandas", None)  # as if it were not installed
    with pytest.raises(UsageError, match="pip install pandas"):
        scores.to_dataframe()


def test_dataframes_with_pandas(states: Path) -> None:
    pytest.importorskip("pandas")
    scores = extrinsic.score(extrinsic.read_states(states), metrics=["jga"])
    frame = scores.to_dataframe()
    assert list(frame.columns) == list(scores.as_rows()[0])


def test_to_dataframe_hands_the_rows_to_pandas(states: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=list))
    scores = extrinsic.score(extrinsic.read_states(states), metrics="jga")
    assert scores.to_dataframe() == scores.as_rows()


def test_one_policy_in_three_calls() -> None:
    """The example of the README, smaller: learned on ds4's training dialogs, valued on its test dialogs."""
    policy = extrinsic.learn("ds4", "hwu", "one_step")
    values = extrinsic.value(policy, "ds4", ["observed", "lstd", "live"], n_live=50, seed=7)
    played = extrinsic.play(policy, "ds4", n_dialogs=50, seed=7)
    assert list(values) == ["observed", "lstd", "live"]
    assert values["live"].mean == pytest.approx(played.returns.mean())
    assert (values["live"].diagnostics["success"], values["live"].n) == (played.completed.mean(), 50)
    assert values["lstd"].low < values["lstd"].mean < values["lstd"].high
    assert "on_policy_gap" in values["lstd"].diagnostics
    assert policy.diagnostics["kernels"] > 10


def test_the_package_of_estimators_is_still_one() -> None:
    """`extrinsic.value` is a function and a package."""
    from extrinsic.value import estimators
    from extrinsic.value.estimators import OBSERVED

    assert callable(extrinsic.value)
    assert estimators.OBSERVED is OBSERVED


def test_a_policy_is_not_valued_on_what_it_learned_from() -> None:
    policy = extrinsic.learn("ds4", "baseline", "imitation")
    with pytest.raises(UsageError, match="must not be valued on what it learned from"):
        extrinsic.value(policy, policy.train)
    with pytest.raises(UsageError, match="no simulator"):
        test = read_simulation().simulate("ds4", "test").corpus
        extrinsic.value(policy, test, "live")
    with pytest.raises(UsageError, match="there is no dataset 'ds9'"):
        extrinsic.play(policy, "ds9")
    with pytest.raises(UsageError, match="did you mean 'one_step'"):
        extrinsic.learn("ds4", "baseline", "one_stp")


def test_a_tracker_from_a_file() -> None:
    """Its output is given for both sides; live it cannot track."""
    simulation = read_simulation()
    train, test = (simulation.simulate("ds4", split).corpus for split in ("train", "test"))
    outputs = [track(TRACKERS.get("focus"), corpus, "mine") for corpus in (train, test)]
    policy = extrinsic.learn(train, outputs[0], "imitation")
    same = extrinsic.value(extrinsic.learn(train, "focus", "imitation"), test, "lstd")
    assert extrinsic.value(policy, test, "lstd", output=outputs[1])["lstd"].mean == same["lstd"].mean
    with pytest.raises(UsageError, match="came from a file"):
        extrinsic.value(policy, test)
    with pytest.raises(UsageError, match="cannot track live"):
        extrinsic.play(policy, "ds4")
