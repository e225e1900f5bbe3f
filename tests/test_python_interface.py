"""The package as it is imported: `extrinsic.read_corpus`, `extrinsic.score`."""

from __future__ import annotations

import sys
from dataclasses import FrozenInstanceError
from pathlib import Path
from types import SimpleNamespace

import pytest

import extrinsic
from extrinsic.errors import UsageError
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
