"""The corpus in columns: segments, conditions, taking dialogs, folds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extrinsic.corpus.corpus import fold_of_sessions
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


SESSIONS = tuple(f"call-{number}" for number in range(23))


def test_sizes_differ_by_at_most_one_and_the_seed_decides() -> None:
    folds = fold_of_sessions(SESSIONS, 5).tolist()
    assert [folds.count(fold) for fold in range(5)] == [5, 5, 5, 4, 4]
    one, again, other = (fold_of_sessions(SESSIONS, 2, seed).tolist() for seed in (1, 1, 2))
    assert one == again != other


@given(st.permutations(range(len(SESSIONS))), st.integers(0, 3))
def test_the_order_of_sessions_does_not(order: list[int], seed: int) -> None:
    shuffled = [SESSIONS[place] for place in order]
    folds = fold_of_sessions(SESSIONS, 4, seed)
    assert fold_of_sessions(shuffled, 4, seed).tolist() == folds[order].tolist()


@pytest.mark.parametrize(
    ("n_sessions", "n_folds", "said"),
    [
        *[(3, n_folds, "between 2 and the number of dialogs .* 2 to 3") for n_folds in (4, 1, 0, -1)],
        *[(n_sessions, 5, rf"at least two, .* \(found {n_sessions}\)") for n_sessions in (0, 1)],
    ],
)
def test_an_impossible_number_of_folds_is_refused(n_sessions: int, n_folds: int, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        fold_of_sessions(SESSIONS[:n_sessions], n_folds)
