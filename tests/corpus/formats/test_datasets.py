"""A corpus is read where it lies, directory or archive, and nothing outside it; which sessions it has."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extrinsic.corpus.formats.datasets import Archive, Directory, find_dataset, open_tree
from extrinsic.errors import InputError
from tests.builders import write_archive


def test_directory_and_archive_hold_the_same(tmp_path: Path) -> None:
    members = {"config/a.list": b"1", "config/b.list": b"2", "config/deeper/c.list": b"3", "data/x": b"4"}
    for name, data in members.items():
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    for tree in (
        open_tree(tmp_path / "tree"),
        open_tree(write_archive(tmp_path / "a.tar.gz", members)),
        open_tree(
            write_archive(tmp_path / "b.tar.gz", {f"./{name}": data for name, data in members.items()})
        ),
    ):
        assert list(tree.names("config")) == ["config/a.list", "config/b.list"]
        assert list(tree.names("nowhere")) == []
        assert "data/x" in tree
        assert "config" not in tree
        assert tree.read("data/x") == b"4"


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "a/.."])
def test_a_member_that_points_outside_is_refused(tmp_path: Path, name: str) -> None:
    path = write_archive(tmp_path / "a.tar.gz", {"good": b"1", name: b"2", f"{name}y/../z": b"3"})
    with pytest.raises(InputError) as caught:
        open_tree(path)
    assert len(caught.value.problems) == 2  # every one of them
    assert repr(name) in str(caught.value)


def test_links_are_no_files(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        link = tarfile.TarInfo("x")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    assert "x" not in open_tree(tmp_path / "a.tar")


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    archive = write_archive(tmp_path / "a.tar.gz", {"x": b"1", "empty": b""})
    with pytest.raises(InputError, match=r"a\.tar\.gz:y: there is no such file"):
        Archive(archive).read("y")
    with pytest.raises(InputError, match=r"a\.tar\.gz:empty: the file is empty"):
        Archive(archive).read("empty")
    with pytest.raises(InputError, match="no such file"):
        Directory(tmp_path).read("y")


@pytest.mark.parametrize("content", [b"no archive", b'{"json": 1}' * 100, os.urandom(2000)])
def test_what_is_no_archive(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.tar").write_bytes(content)
    with pytest.raises(InputError, match="not a tar archive"):
        open_tree(tmp_path / "x.tar")


def make_tar() -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in ("one", "ü" * 120):  # the second needs an extended header
            member = tarfile.TarInfo(name)
            member.size = 700
            archive.addfile(member, io.BytesIO(b"x" * 700))
    return stream.getvalue()


TAR = make_tar()


@given(st.integers(0, len(TAR) - 1), st.binary(min_size=1, max_size=8), st.booleans())
def test_a_damaged_archive_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, position: int, noise: bytes, cut: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.tar"
    path.write_bytes(TAR[:position] + (b"" if cut else noise + TAR[position + len(noise) :]))
    try:
        tree = open_tree(path)
        for name in tree.names(""):
            assert len(tree.read(name)) > 0
    except InputError as error:
        assert str(path) in str(error)


def with_size(size: bytes) -> bytes:
    """A tar whose second header claims another size, with a check sum that holds."""
    data = bytearray(make_tar())
    header = data[1536:2048]
    header[124:136] = size
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    data[1536:2048] = header
    return bytes(data)


@pytest.mark.parametrize(
    "size", [b"-0000003000\0", b"\xff" * 10 + b"\xf4\x00", b"\x80" + b"\0" * 3 + b"\x7f" * 8]
)
def test_a_size_that_leads_nowhere_is_refused(tmp_path: Path, size: bytes) -> None:
    """Below 0, the next header is one that was read already: for ever."""
    (tmp_path / "a.tar").write_bytes(with_size(size))
    with pytest.raises(InputError, match=r"a\.tar: this is not a tar archive"):
        open_tree(tmp_path / "a.tar")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "corpus" / "config").mkdir(parents=True)
    (tmp_path / "corpus" / "config" / "train4.sessions").write_text("a/one\n\n b/two/ \n")
    return tmp_path / "corpus"


def test_lines_are_stripped_and_empty_ones_skipped(corpus: Path) -> None:
    """The only dataset needs no name."""
    for name in ("train4", None):
        dataset = find_dataset(corpus, name, "sessions")
        assert (dataset.name, dataset.directories) == ("train4", ("a/one", "b/two"))


ONE = b"a/one\n"


@pytest.mark.parametrize(
    ("lists", "dataset", "said"),
    [
        ({"config/test4": ONE}, None, ["choose one", "test4, train4"]),
        ({}, "trian4", ["no dataset 'trian4'; did you mean 'train4'"]),
        ({"config/train4": b"\n\n"}, "train4", ["empty"]),
        ({"config/train4": b"\xff\n"}, "train4", ["not text"]),
        ({"scripts/config/train4": ONE}, "train4", ["two lists of sessions"]),
        (
            {"config/train4": b"a/one\n../x\na/one\n/etc\n"},
            "train4",
            [
                "line 2 points out of the corpus",
                "line 3 repeats line 1",
                "line 4 points out of the corpus",
            ],
        ),
    ],
)
def test_lists_that_cannot_be_used(
    corpus: Path, lists: dict[str, bytes], dataset: str | None, said: list[str]
) -> None:
    """Every bad line is reported."""
    for name, content in lists.items():
        path = corpus / f"{name}.sessions"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        find_dataset(corpus, dataset, "sessions")
    assert all(part in str(caught.value) for part in said), caught.value


def test_the_lists_may_lie_beside_the_data_folder(corpus: Path) -> None:
    """As the challenges' own scripts have it: pointed at `data`, lists in `../scripts/config`."""
    (corpus / "data").mkdir()
    assert find_dataset(corpus / "data", "train4", "sessions").directories == ("a/one", "b/two")
