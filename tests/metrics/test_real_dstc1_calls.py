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

from extrinsic.corpus.formats import DSTC1
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.metrics.scoring import score
from extrinsic.registry import TRACKERS
from extrinsic.trackers.track import track
from tests.metrics.reading import assert_same, keyed
from tests.oracles import dstc1
from tests.oracles.real_data import read_dstc1_train3, read_json
from tests.real_data import FOLDER

ARCHIVE = FOLDER / "dstc1" / "dstc1_train3.tar.gz"
DATASET = "train3"
N_CALLS, FEW = 687, 25
ON_ALL_CALLS = TRACKERS.names() if os.environ.get("EXTRINSIC_ALL_CALLS") else []

pytestmark = pytest.mark.skipif(
    not ARCHIVE.is_file(), reason="the real DSTC1 calls are not here: point EXTRINSIC_DATA at their folder"
)


@cache
def corpus_of(n_calls: int) -> Corpus:
    if n_calls == N_CALLS:
        return DSTC1.read_corpus(ARCHIVE, DATASET)
    return corpus_of(N_CALLS).take(list(range(n_calls)))


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


@pytest.mark.parametrize("name", TRACKERS.names())
def test_built_in_trackers(name: str, tmp_path: Path) -> None:
    corpus = corpus_of(N_CALLS if name in ON_ALL_CALLS else FEW)
    path = tmp_path / f"{name}.json"
    DSTC1.write_tracker(track(TRACKERS.get(name), corpus, name), corpus, path)
    written = json.loads(path.read_bytes())
    assert_equals_oracle(corpus, DSTC1.read_tracker(path, corpus), written)
