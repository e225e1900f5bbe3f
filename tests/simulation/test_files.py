"""A simulated corpus on disk is the one in memory: the same columns, the same scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from extrinsic.corpus.formats import DSTC1
from extrinsic.corpus.model import Corpus
from extrinsic.metrics.scoring import score
from extrinsic.registry import TRACKERS
from extrinsic.simulation import Play
from extrinsic.trackers.track import track
from tests.contents import corpus_content, hypotheses_content
from tests.metrics.reading import assert_same, keyed
from tests.simulation.worlds import expert_play, world


@pytest.fixture(scope="module", params=["usual", "everything"])
def played(request: pytest.FixtureRequest) -> Play:
    """As Lee has it, and with the calls that he leaves out."""
    everything = world({"noise": 1.5}, {"starts_over": 0.2}, no_connection=0.2)
    return expert_play(world() if request.param == "usual" else everything, 40, 31)


@pytest.fixture(scope="module")
def folder(played: Play, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("corpus")
    DSTC1.write_corpus(played.corpus, root)
    return root


@pytest.fixture(scope="module")
def read(folder: Path) -> Corpus:
    return DSTC1.read_corpus(folder, "live")


def test_the_same_corpus_comes_back(played: Play, read: Corpus) -> None:
    assert corpus_content(read) == corpus_content(played.corpus)
    assert read.format == played.corpus.format
    assert read.domain == played.corpus.domain


def test_the_same_propensities_come_back(played: Play, read: Corpus) -> None:
    assert read.propensities is not None
    assert np.array_equal(read.propensities, played.corpus.propensities, equal_nan=True)


def test_the_same_evidence_comes_back(played: Play, read: Corpus) -> None:
    ours, theirs = played.corpus.evidence, read.evidence
    for name in (
        "offsets",
        "informed",
        "affirmed",
        "top",
        "denied",
        "rejected",
        "rank",
        "explicit",
        "requested",
    ):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name


@pytest.mark.parametrize("name", ["focus", "baseline", "hwu"])
def test_the_same_scores_in_memory_and_through_files(
    played: Play, read: Corpus, name: str, tmp_path: Path
) -> None:
    output = track(TRACKERS.get(name), played.corpus, name)
    DSTC1.write_tracker(output, played.corpus, tmp_path / f"{name}.json")
    again = DSTC1.read_tracker(tmp_path / f"{name}.json", read)
    given, given_again = (
        hypotheses_content(of.given, corpus.vocabulary)
        for of, corpus in ((output, played.corpus), (again, read))
    )
    assert given == given_again
    assert not again.problems
    assert_same(keyed(score(read, again).rows), keyed(score(played.corpus, output).rows), tolerance=0.0)
    # And the tracker run on the files believes the same.
    rerun = track(TRACKERS.get(name), read, name)
    assert hypotheses_content(rerun.given, read.vocabulary) == given
