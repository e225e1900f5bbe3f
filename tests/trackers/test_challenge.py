"""The challenge's own two trackers: our files are theirs."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.arrays import row_of_each
from extrinsic.corpus.formats import DSTC2
from extrinsic.corpus.hypotheses import Hypotheses
from extrinsic.registry import TRACKERS
from extrinsic.trackers.track import track
from tests.real_data import ARCHIVE, FOLDER, needs_data

pytestmark = needs_data

TOLERANCE = 1e-9


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


@pytest.mark.parametrize("part", ["dev", "train"])
@pytest.mark.parametrize("name", ["baseline", "focus"])
def test_our_file_is_theirs(name: str, part: str) -> None:
    """Every goal, method, request and joint list; focus has no joint lists."""
    corpus = DSTC2.read_corpus(ARCHIVE, f"dstc2_{part}")
    theirs = DSTC2.read_tracker(FOLDER / "dstc2" / "trackers" / f"{name}.{part}.json.gz", corpus)
    ours = track(TRACKERS.get(name), corpus, name)
    n_values = len(ours.vocabulary)
    assert n_different(ours.given, theirs.given, n_values) == 0
    assert n_different(ours.given_method, theirs.given_method, n_values) == 0
    assert np.abs(ours.requested - theirs.requested).max() <= TOLERANCE
    joint, other = ours.given_joint, theirs.given_joint
    assert np.array_equal(joint.given, other.given)
    assert np.array_equal(joint.offsets, other.offsets)
    assert np.array_equal(joint.assignment, other.assignment)
    assert np.allclose(joint.score, other.score, rtol=0.0, atol=TOLERANCE)
