"""Scores on the real calls of DSTC1's train3 equal the plain oracle's: every metric, schedule, component.

The system's own belief is scored on all 687 calls, the built-in trackers on the first 25; with
EXTRINSIC_ALL_CALLS=1 all of them on all calls (five minutes or so).
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.formats import DSTC1
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.metrics.scoring import score
from extrinsic.registry import TRACKERS
from extrinsic.trackers.track import track
from tests.metrics.reading import assert_same, keyed
from tests.oracles import dstc1
from tests.oracles.real_data import read_dstc1_train3, read_json
from tests.real_data import BUS_CALLS, FOLDER, needs_bus_calls, read_bus_calls
from tests.running import run

DATASET = "train3"
N_CALLS, FEW = 687, 25
ON_ALL_CALLS = TRACKERS.names() if os.environ.get("EXTRINSIC_ALL_CALLS") else []

pytestmark = needs_bus_calls


@cache
def corpus_of(n_calls: int) -> Corpus:
    whole = read_bus_calls(DATASET)
    return whole if n_calls == N_CALLS else whole.take(list(range(n_calls)))


def assert_equals_oracle(corpus: Corpus, output: TrackerOutput, written: Any) -> None:
    logs, labels = (of_calls[: corpus.n_dialogs] for of_calls in read_dstc1_train3())
    theirs = keyed(dstc1.score(logs, labels, written, DATASET))
    # Eleven components, three schedules, sixteen metrics.
    assert len(theirs) == 11 * 3 * 16
    assert_same(keyed(score(corpus, output).rows), theirs, tolerance=1e-9)


def test_the_systems_own_belief() -> None:
    path = FOLDER / "dstc1" / "att.train3.json.gz"
    corpus = corpus_of(N_CALLS)
    assert_equals_oracle(corpus, DSTC1.read_tracker(path, corpus), read_json(path))


def joint_figures(corpus: Corpus, output: TrackerOutput) -> tuple[float | None, ...]:
    """Accuracy at every turn and at the end, and L2 at every turn."""
    rows = score(corpus, output).rows
    joint = {(row.metric, row.schedule): row.value for row in rows if row.component == "joint"}
    return joint["accuracy", 1], joint["accuracy", 3], joint["l2", 1]


def test_figures_of_another_program() -> None:
    corpus = corpus_of(N_CALLS)
    att = DSTC1.read_tracker(FOLDER / "dstc1" / "att.train3.json.gz", corpus)
    assert joint_figures(corpus, att) == pytest.approx((0.649, 0.640, 0.558), abs=0.0006)
    baseline = track(TRACKERS.get("baseline"), corpus, "baseline")
    assert joint_figures(corpus, baseline) == pytest.approx((0.614, 0.632, 0.717), abs=0.0006)


def test_a_file_without_joint(tmp_path: Path) -> None:
    """Every joint belief is None, and whoever validates or scores the file reads it."""
    dataset = "train3_plain_b"
    corpus, whole = read_bus_calls(dataset), FOLDER / "dstc1" / f"att.{dataset}.json.gz"
    assert joint_figures(corpus, DSTC1.read_tracker(whole, corpus))[0] == pytest.approx(0.762, abs=0.0006)
    bare = tmp_path / "bare.json"
    written = read_json(whole)
    for session in written["sessions"]:
        for turn in session["turns"]:
            turn.pop("joint", None)
    bare.write_text(json.dumps(written))
    none_is_right = corpus.truth.none.reshape(corpus.n_turns, -1).all(axis=1).mean()
    assert joint_figures(corpus, DSTC1.read_tracker(bare, corpus))[0] == pytest.approx(none_is_right)
    for command in ("validate", "score"):
        arguments = (command, "--format", "dstc1", "--corpus", BUS_CALLS, "--dataset", dataset)
        for path, has_none in ((whole, False), (bare, True)):
            outcome = run(*arguments, path)
            assert outcome.code == 0, outcome.text
            assert ("the file has no joint hypotheses" in outcome.text) == has_none
            assert str(path) in outcome.text or not has_none


@pytest.mark.parametrize("name", TRACKERS.names())
def test_built_in_trackers(name: str, tmp_path: Path) -> None:
    corpus = corpus_of(N_CALLS if name in ON_ALL_CALLS else FEW)
    path = tmp_path / f"{name}.json"
    DSTC1.write_tracker(track(TRACKERS.get(name), corpus, name), corpus, path)
    written = json.loads(path.read_bytes())
    assert_equals_oracle(corpus, DSTC1.read_tracker(path, corpus), written)
