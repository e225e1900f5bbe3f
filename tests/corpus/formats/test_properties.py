"""What must hold for every corpus and tracker file of DSTC1 and DSTC2, whatever is in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.formats import DSTC1, DSTC2, BeliefFormat
from extrinsic.corpus.tracker_output import TrackerOutput
from tests.builders import Written, only_sessions, write_dstc1, write_dstc2
from tests.contents import corpus_content, output_content, rows
from tests.oracles.dstc1 import Truth, pair_set
from tests.strategies import dstc1_files, dstc2_files

Case = tuple[BeliefFormat, Callable[..., Written], st.SearchStrategy[Any]]
CASES: list[Any] = [
    pytest.param((DSTC1, write_dstc1, dstc1_files()), id="dstc1"),
    pytest.param((DSTC2, write_dstc2, dstc2_files()), id="dstc2"),
]
each_format = pytest.mark.parametrize("case", CASES)


def read(form: BeliefFormat, written: Written) -> tuple[Corpus, TrackerOutput]:
    corpus = form.read_corpus(written.corpus)
    return corpus, form.read_tracker(written.tracker, corpus)


@each_format
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_what_is_written_is_read_back(case: Case, data: st.DataObject) -> None:
    form, write, files = case
    with TemporaryDirectory() as folder:
        root = Path(folder)
        corpus, output = read(form, write(root, data.draw(files)))
        form.write_corpus(corpus, root / "again")
        form.write_tracker(output, corpus, root / "again.json.gz")
        corpus_again, output_again = read(
            form, Written(root / "again", root / "again.json.gz", corpus.dataset)
        )
    assert corpus_content(corpus_again) == corpus_content(corpus)
    assert output_content(output_again, corpus_again) == output_content(output, corpus)
    assert [str(p).partition(": ")[2] for p in output_again.problems] == [
        str(p).partition(": ")[2] for p in output.problems
    ]


@each_format
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_taking_dialogs_commutes_with_reading(case: Case, data: st.DataObject) -> None:
    """read(all).take(k) is read(only k), in any order, also with everything that is derived."""
    form, write, strategy = case
    files = data.draw(strategy)
    dialogs = st.integers(0, len(files.logs) - 1)
    chosen = data.draw(st.lists(dialogs, min_size=1, max_size=3, unique=True))
    with TemporaryDirectory() as folder:
        corpus, output = read(form, write(Path(folder) / "all", files))
        part, part_output = read(form, write(Path(folder) / "part", only_sessions(files, chosen)))
    taken = corpus.take(chosen)
    assert corpus_content(taken) == corpus_content(part)
    taken_output = output.take(np.array(chosen))
    assert output_content(taken_output, taken) == output_content(part_output, part)
    given_only = taken_output.marginals(taken), part_output.marginals(part)
    assert given_only[0].score.tolist() == given_only[1].score.tolist()
    assert given_only[0].correct.tolist() == given_only[1].correct.tolist()


@settings(max_examples=15, deadline=None)
@given(files=dstc2_files())
def test_an_archive_reads_like_the_directory(files: Any) -> None:
    with TemporaryDirectory() as folder:
        one = read(DSTC2, write_dstc2(Path(folder) / "one", files))
        (Path(folder) / "two").mkdir()
        two = read(DSTC2, write_dstc2(Path(folder) / "two", files, archive=True))
    assert corpus_content(one[0]) == corpus_content(two[0])
    assert output_content(one[1], one[0]) == output_content(two[1], two[0])
    assert one[0].signature == two[0].signature


@settings(max_examples=20, deadline=None)
@given(files=dstc1_files())
def test_dstc1_correctness_by_the_oracles_labels(files: Any) -> None:
    """Whether each hypothesis is right, also None, where the labels are gone through turn by turn."""
    with TemporaryDirectory() as folder:
        corpus, output = read(DSTC1, write_dstc1(Path(folder), files))
    expected, expected_joint = [], []
    for session, directory in zip(files.tracker["sessions"], files.logs, strict=True):
        truth = Truth()
        for turn, logged, labelled in zip(
            session["turns"], files.logs[directory]["turns"], files.labels[directory]["turns"], strict=True
        ):
            truth = Truth() if logged.get("restart") else truth
            truth.add(labelled)
            for slot in corpus.slots:
                listed = [pair_set(found["slots"]) for found in turn.get(slot, {"hyps": []})["hyps"]]
                expected.append({pairs: truth.is_right(slot, pairs) for pairs in [*listed, None]})
            listed = [pair_set(found["slots"]) for found in turn.get("joint", {"hyps": []})["hyps"]]
            expected_joint.append({pairs: truth.is_right_jointly(pairs) for pairs in [*listed, None]})
    beliefs, joint = output.beliefs, output.joint
    for item, rights in enumerate(rows(beliefs.offsets, beliefs.value, beliefs.correct)):
        slot = corpus.slots[item % len(corpus.slots)]
        found = {pairs_of(corpus, slot, value) if value else None: correct for value, correct in rights}
        assert found == expected[item]
    for turn, rights in enumerate(rows(joint.offsets, joint.assignment.tolist(), joint.none, joint.correct)):
        found = {}
        for values, none, correct in rights:
            parts = zip(corpus.slots, values, strict=True)
            pairs = frozenset().union(*(pairs_of(corpus, slot, value) for slot, value in parts))
            found[None if none else pairs] = correct
        assert found == expected_joint[turn]


def pairs_of(corpus: Corpus, slot: str, identity: int) -> frozenset[tuple[str, str]]:
    value = corpus.vocabulary.value(identity)
    return frozenset() if value is None else frozenset([(slot, value)] if isinstance(value, str) else value)
