"""Files in memory -> corpora and trackers, through the real readers; and rows that can be compared."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.formats import DSTC1, DSTC2, STATE_SETS
from extrinsic.corpus.state_sets import StateSets
from extrinsic.corpus.tracker_output import TrackerOutput
from tests.builders import Dstc1Files, Dstc2Files, StateSetFiles, write_dstc1, write_dstc2, write_state_sets

Key = tuple[str, str, int, str | None]


def read_dstc1(files: Dstc1Files) -> tuple[Corpus, TrackerOutput]:
    with tempfile.TemporaryDirectory() as folder:
        written = write_dstc1(Path(folder), files)
        corpus = DSTC1.read_corpus(written.corpus, files.dataset)
        return corpus, DSTC1.read_tracker(written.tracker, corpus)


def read_dstc2(files: Dstc2Files) -> tuple[Corpus, TrackerOutput]:
    with tempfile.TemporaryDirectory() as folder:
        written = write_dstc2(Path(folder), files)
        corpus = DSTC2.read_corpus(written.corpus, files.dataset)
        return corpus, DSTC2.read_tracker(written.tracker, corpus)


def read_states(files: StateSetFiles) -> StateSets:
    with tempfile.TemporaryDirectory() as folder:
        return STATE_SETS.read(write_state_sets(Path(folder), files))


def keyed(rows: Iterable[Any]) -> dict[Key, tuple[int, float | None]]:
    """Rows of ours or of an oracle by what they measure."""
    return {(row.component, row.metric, row.schedule, row.label_scheme): (row.n, row.value) for row in rows}


def assert_close(found: Mapping[Any, Any], expected: Mapping[Any, Any], tolerance: float = 1e-12) -> None:
    """The same values by the same keys; None is one."""
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        other = found[key]
        assert (other is None) == (value is None), (key, other, value)
        assert value is None or abs(other - value) <= tolerance, (key, other, value)


def assert_same(ours: dict[Key, Any], theirs: dict[Key, Any], tolerance: float = 1e-12) -> None:
    """The same numbers of items, and the same values."""
    assert {key: n for key, (n, _) in ours.items()} == {key: n for key, (n, _) in theirs.items()}
    assert_close(*({key: value for key, (_, value) in of.items()} for of in (ours, theirs)), tolerance)
