"""The challenge's own two trackers: our files are theirs."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from extrinsic.arrays import row_of_each
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.formats import DSTC2
from extrinsic.corpus.hypotheses import Hypotheses
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.registry import TRACKERS
from extrinsic.trackers.track import track
from tests.real_data import ARCHIVE, FOLDER, needs_data

pytestmark = needs_data

PARTS = [("baseline", "dev"), ("focus", "dev"), ("baseline", "train"), ("focus", "train")]
TOLERANCE = 1e-9


@cache
def corpus_of(part: str) -> Corpus:
    return DSTC2.read_corpus(ARCHIVE, f"dstc2_{part}")


@cache
def outputs(name: str, part: str) -> tuple[TrackerOutput, TrackerOutput]:
    """Ours and theirs."""
    corpus = corpus_of(part)
    theirs = DSTC2.read_tracker(FOLDER / "dstc2" / "trackers" / f"{name}.{part}.json.gz", corpus)
    return track(TRACKERS.get(name), corpus, name), theirs


def n_different(ours: Hypotheses, theirs: Hypotheses, n_values: int) -> int:
    """Items that hold a value whose scores differ; a score of 0 is as good as none."""
    tables = []
    for found in (ours, theirs):
        keys = row_of_each(found.offsets) * n_values + found.value
        tables.append(dict(zip(keys.tolist(), found.score.tolist(), strict=True)))
    wrong = {
        key // n_values
        for key in tables[0].keys() | tables[1].keys()
        if abs(tables[0].get(key, 0.0) - tables[1].get(key, 0.0)) > TOLERANCE
    }
    return len(wrong)


@pytest.mark.parametrize(("name", "part"), PARTS)
def test_every_goal_is_theirs(name: str, part: str) -> None:
    ours, theirs = outputs(name, part)
    assert n_different(ours.given, theirs.given, len(ours.vocabulary)) == 0


@pytest.mark.parametrize(("name", "part"), PARTS)
def test_every_method_and_request_is_theirs(name: str, part: str) -> None:
    ours, theirs = outputs(name, part)
    assert n_different(ours.given_method, theirs.given_method, len(ours.vocabulary)) == 0
    assert np.abs(ours.requested - theirs.requested).max() <= TOLERANCE


@pytest.mark.parametrize(("name", "part"), PARTS)
def test_every_joint_list_is_theirs(name: str, part: str) -> None:
    """Focus has none."""
    ours, theirs = (output.given_joint for output in outputs(name, part))
    assert np.array_equal(ours.given, theirs.given)
    assert np.array_equal(ours.offsets, theirs.offsets)
    assert np.array_equal(ours.assignment, theirs.assignment)
    assert np.allclose(ours.score, theirs.score, rtol=0.0, atol=TOLERANCE)
