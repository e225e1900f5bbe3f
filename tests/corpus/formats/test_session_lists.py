"""Which sessions a dataset has: found by name, and every bad line reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from extrinsic.corpus.formats.datasets import find_dataset
from extrinsic.errors import InputError


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "corpus" / "config").mkdir(parents=True)
    (tmp_path / "corpus" / "config" / "train4.sessions").write_text("a/one\n\n b/two/ \n")
    return tmp_path / "corpus"


def test_lines_are_stripped_and_empty_ones_skipped(corpus: Path) -> None:
    dataset = find_dataset(corpus, "train4", "sessions")
    assert dataset.directories == ("a/one", "b/two")


def test_the_only_dataset_needs_no_name(corpus: Path) -> None:
    assert find_dataset(corpus, None, "sessions").name == "train4"


def test_of_several_one_must_be_named(corpus: Path) -> None:
    (corpus / "config" / "test4.sessions").write_text("a/one\n")
    with pytest.raises(InputError, match=r"choose one.*test4, train4"):
        find_dataset(corpus, None, "sessions")


def test_a_wrong_name_gets_a_suggestion(corpus: Path) -> None:
    with pytest.raises(InputError, match="no dataset 'trian4'; did you mean 'train4'"):
        find_dataset(corpus, "trian4", "sessions")


def test_the_lists_may_lie_beside_the_data_folder(corpus: Path) -> None:
    """As the challenges' own scripts have it: pointed at `data`, lists in `../scripts/config`."""
    (corpus / "data").mkdir()
    assert find_dataset(corpus / "data", "train4", "sessions").directories == ("a/one", "b/two")


def test_no_list_at_all(tmp_path: Path) -> None:
    (tmp_path / "x" / "y").mkdir(parents=True)
    with pytest.raises(InputError, match=r"config/<dataset>\.flist"):
        find_dataset(tmp_path / "x" / "y", None, "flist")


def test_every_bad_line_is_reported(corpus: Path) -> None:
    (corpus / "config" / "train4.sessions").write_text("a/one\n../x\na/one\n/etc\n")
    with pytest.raises(InputError) as caught:
        find_dataset(corpus, "train4", "sessions")
    text = str(caught.value)
    assert "line 2 points out of the corpus" in text
    assert "line 3 repeats line 1" in text
    assert "line 4 points out of the corpus" in text


@pytest.mark.parametrize(("content", "message"), [(b"\n\n", "empty"), (b"\xff\n", "not text")])
def test_lists_that_are_none(corpus: Path, content: bytes, message: str) -> None:
    (corpus / "config" / "train4.sessions").write_bytes(content)
    with pytest.raises(InputError, match=message):
        find_dataset(corpus, "train4", "sessions")


def test_two_lists_of_one_name_are_refused(corpus: Path) -> None:
    (corpus / "scripts" / "config").mkdir(parents=True)
    (corpus / "scripts" / "config" / "train4.sessions").write_text("a/one\n")
    with pytest.raises(InputError, match="two lists of sessions"):
        find_dataset(corpus, "train4", "sessions")
