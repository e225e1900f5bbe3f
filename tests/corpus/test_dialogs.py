"""Who is in which part depends on who they are, never on their order."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extrinsic.corpus.dialogs import fold_of_sessions
from extrinsic.corpus.formats import DSTC2
from extrinsic.corpus.model import Corpus
from extrinsic.errors import UsageError
from tests.builders import (
    ONTOLOGY,
    Dstc2Files,
    dstc2_label_turn,
    dstc2_labels,
    log,
    log_turn,
    tracker,
    write_dstc2,
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Twenty calls of one turn."""
    names = [f"call-{number}" for number in range(20)]
    files = Dstc2Files(
        "dstc2_dev",
        {f"a/{name}": log(name, [log_turn(0, [], [])]) for name in names},
        {f"a/{name}": dstc2_labels(name, [dstc2_label_turn({})]) for name in names},
        tracker("dstc2_dev", {}),
        ONTOLOGY,
    )
    root: Path = tmp_path_factory.mktemp("splits")
    return DSTC2.read_corpus(write_dstc2(root, files).corpus)


def test_the_seed_decides(corpus: Corpus) -> None:
    folds = [fold_of_sessions(corpus.sessions, 2, seed).tolist() for seed in (1, 1, 2)]
    assert folds[0] == folds[1] != folds[2]


@settings(max_examples=20)
@given(st.permutations(range(20)), st.integers(0, 3))
def test_the_order_of_the_corpus_does_not(corpus: Corpus, order: list[int], seed: int) -> None:
    shuffled = corpus.take(order)
    folds = dict(zip(corpus.sessions, fold_of_sessions(corpus.sessions, 4, seed), strict=True))
    assert folds == dict(zip(shuffled.sessions, fold_of_sessions(shuffled.sessions, 4, seed), strict=True))


def test_fold_sizes_differ_by_at_most_one(corpus: Corpus) -> None:
    folds = fold_of_sessions(corpus.sessions, 3).tolist()
    assert sorted(folds.count(fold) for fold in range(3)) == [6, 7, 7]


def test_folds_of_sessions() -> None:
    """Whatever place a session has; those of a corpus are those of its sessions."""
    sessions = tuple(f"call-{i}" for i in range(23))
    fold = dict(zip(sessions, fold_of_sessions(sessions, 5).tolist(), strict=True))
    assert fold == dict(zip(sessions[::-1], fold_of_sessions(sessions[::-1], 5).tolist(), strict=True))
    sizes = [list(fold.values()).count(number) for number in range(5)]
    assert sizes == [5, 5, 5, 4, 4]


@pytest.mark.parametrize(("n_sessions", "n_folds"), [(3, 4), (3, 1), (3, 0), (3, -1)])
def test_an_impossible_number_of_folds_of_sessions(n_sessions: int, n_folds: int) -> None:
    with pytest.raises(UsageError, match=f"between 2 and the number of dialogs .* 2 to {n_sessions}"):
        fold_of_sessions(tuple("abc"[:n_sessions]), n_folds)


@pytest.mark.parametrize("n_folds", [1, 21])
def test_an_impossible_number_of_folds_is_refused(corpus: Corpus, n_folds: int) -> None:
    with pytest.raises(UsageError, match="2 to 20"):
        fold_of_sessions(corpus.sessions, n_folds)


def test_one_dialog_cannot_be_divided() -> None:
    """Once it said: expected 2 to 1, found 5."""
    for sessions in ([], ["only"]):
        with pytest.raises(
            UsageError, match=rf"needs at least two, to be cross-fitted \(found {len(sessions)}\)"
        ):
            fold_of_sessions(sessions, 5)
