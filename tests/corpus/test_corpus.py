"""The corpus in columns: segments, conditions, taking dialogs."""

from __future__ import annotations

from pathlib import Path

import pytest

from extrinsic.corpus.formats import DSTC1, DSTC2
from extrinsic.errors import UsageError
from tests.builders import write_dstc1, write_dstc2
from tests.contents import corpus_content
from tests.samples import small_dstc1, small_dstc2


def test_segments_end_at_restarts_and_at_the_end_of_a_dialog(tmp_path: Path) -> None:
    corpus = DSTC1.read_corpus(write_dstc1(tmp_path, small_dstc1()).corpus)
    assert corpus.offsets.tolist() == [0, 2, 5]
    assert corpus.restart.tolist() == [False, False, False, True, False]
    assert corpus.segment_end.tolist() == [2, 2, 3, 5, 5]
    assert corpus.turn_in_dialog.tolist() == [0, 1, 0, 1, 2]
    assert corpus.dialog_of_turn.tolist() == [0, 0, 1, 1, 1]


def test_dialogs_by_condition(tmp_path: Path) -> None:
    corpus = DSTC2.read_corpus(write_dstc2(tmp_path, small_dstc2()).corpus)
    by_directory = {name: found.tolist() for name, found in corpus.dialogs_by("directory").items()}
    assert by_directory == {"Mar13_S0A0": [0, 1], "Mar13_S1A1": [2]}
    assert {k: v.tolist() for k, v in corpus.dialogs_by("dialog-manager").items()} == {"0": [0, 1], "1": [2]}
    with pytest.raises(UsageError, match="did you mean 'dialog-manager'"):
        corpus.dialogs_by("dialog-manger")


def test_outcomes_come_from_the_callers_feedback(tmp_path: Path) -> None:
    corpus = DSTC2.read_corpus(write_dstc2(tmp_path, small_dstc2()).corpus)
    assert corpus.outcomes["success"][:2] == (1.0, 0.0)
    assert corpus.outcomes["success"][2] != corpus.outcomes["success"][2]  # nobody asked: NaN


def test_taking_dialogs_in_another_order_and_back(tmp_path: Path) -> None:
    corpus = DSTC2.read_corpus(write_dstc2(tmp_path, small_dstc2()).corpus)
    turned = corpus.take([2, 0, 1])
    assert turned.sessions == ("three", "one", "two")
    assert corpus_content(turned.take([1, 2, 0])) == corpus_content(corpus)
    assert corpus_content(turned) != corpus_content(corpus)


def test_taking_no_dialog_at_all(tmp_path: Path) -> None:
    for corpus in (
        DSTC1.read_corpus(write_dstc1(tmp_path / "1", small_dstc1()).corpus),
        DSTC2.read_corpus(write_dstc2(tmp_path / "2", small_dstc2()).corpus),
    ):
        none = corpus.take([])
        assert (none.n_dialogs, none.n_turns) == (0, 0)
        assert none.segment_end.tolist() == []
