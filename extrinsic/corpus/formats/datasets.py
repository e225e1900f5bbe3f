"""The files of a corpus, in a directory or a tar archive read in place, and its lists of sessions."""

import io
import os
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
import numpy.typing as npt

from extrinsic.errors import InputError, Problems, did_you_mean
from extrinsic.storage import read_bytes


class Directory:
    """Files below a directory, by their path relative to it with forward slashes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __contains__(self, name: str) -> bool:
        # Path.is_file raises where a name is too long; here that only means that it does not exist.
        return os.path.isfile(self.place(name))  # noqa: PTH113

    def read(self, name: str) -> bytes:
        return read_bytes(self.place(name))

    def place(self, name: str) -> str:
        """The name of a file for messages."""
        return f"{self.path}/{name}"

    def names(self, folder: str) -> Iterator[str]:
        """Names of the files directly in a folder."""
        directory = self.path / folder
        if directory.is_dir():
            yield from (f"{folder}/{entry.name}" for entry in sorted(directory.iterdir()) if entry.is_file())


class Archive:
    """Members of a tar archive, compressed or not, held in memory and never unpacked to disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._data = read_bytes(path)
        self._members: dict[str, tuple[int, int]] = {}
        members = _index_plainly(self._data)
        problems = Problems(str(path))
        for name, begin, size in _index_fully(self._data, path) if members is None else members:
            parts = name.split("/")
            if name.startswith("/") or ".." in parts:
                problems.add(
                    f"the archive's member {name!r} points out of the archive", expected="a relative name"
                )
            plain = "/".join(part for part in parts if part not in ("", "."))
            if size is not None and plain in self._members:
                problems.add("the archive has two members of this name", path=self.place(plain))
            elif size is not None:
                self._members[plain] = (begin, size)
        problems.raise_errors()

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def read(self, name: str) -> bytes:
        if name not in self._members:
            raise InputError("there is no such file in the archive", path=self.place(name))
        begin, size = self._members[name]
        if size == 0:
            raise InputError("the file is empty", path=self.place(name))
        return self._data[begin : begin + size]

    def place(self, name: str) -> str:
        return f"{self.path}:{name}"

    def names(self, folder: str) -> Iterator[str]:
        yield from sorted(name for name in self._members if name.rpartition("/")[0] == folder)


Member = tuple[str, int, int | None]
"""Name, offset of its content, size; None for anything but a regular file."""

BLOCK = 512


def _index_plainly(data: bytes) -> list[Member] | None:
    """The regular members of a tar in which every header is plain, else None.

    A corpus is thousands of small files: for DSTC2's 4,239 headers tarfile takes .09 s, as much as
    gunzipping the archive, and this function .01 s. Anything out of the ordinary is left to tarfile.
    """
    begins: list[int] = []
    lengths: list[int] = []
    position = 0
    try:
        while data[position : position + 1] not in (b"", b"\0"):
            length = int(data[position + 124 : position + 136].rstrip(b"\0 "), 8)
            if length < 0:  # the next header would be one that was read already
                return None
            position += BLOCK
            begins.append(position)
            lengths.append(length)
            position += -(-length // BLOCK) * BLOCK
        if position > len(data):
            return None
        blocks = np.frombuffer(data, dtype=np.uint8, count=position).reshape(-1, BLOCK)
        headers = blocks[np.array(begins, dtype=np.int64) // BLOCK - 1]
        if not _are_plain(headers):
            return None
        names = [bytes(name).decode("ascii") for name in headers[:, :100].copy().view("S100")[:, 0]]
    except ValueError:  # a size, a check sum or a name that is not plain
        return None
    return list(zip(names, begins, lengths, strict=True))


def _are_plain(headers: npt.NDArray[np.uint8]) -> bool:
    """Whether (n, BLOCK) headers are of regular files with short names, and their check sums hold."""
    checksum = headers[:, 148:156]
    stated_sums = [int(bytes(text).strip(b"\0 "), 8) for text in checksum.copy().view("S8")[:, 0]]
    # A header's check sum is computed with the check-sum field itself as blanks.
    blanks = checksum.shape[1] * ord(" ")
    sums = headers.sum(axis=1, dtype=np.int64) - checksum.sum(axis=1, dtype=np.int64) + blanks
    magic = np.frombuffer(b"ustar", dtype=np.uint8)
    return bool(
        np.isin(headers[:, 156], np.frombuffer(b"0\0", dtype=np.uint8)).all()
        and (headers[:, 345] == 0).all()
        and (headers[:, 257:262] == magic).all()
        and np.array_equal(sums, stated_sums)
    )


def _index_fully(data: bytes, path: Path) -> list[Member]:
    """The members of any tar, by tarfile."""
    members: list[Member] = []
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for member in archive:
                # With a size below 0 tarfile reads the same headers again, for ever.
                if member.size < 0 or not 0 < member.offset_data <= len(data):
                    raise tarfile.TarError(f"the size of {member.name!r} is {member.size}")
                # A sparse file is stored in pieces: nobody distributes a corpus that way.
                is_file = member.isreg() and not member.issparse()
                members.append((member.name, member.offset_data, member.size if is_file else None))
    except (tarfile.TarError, EOFError, ValueError, OverflowError, RecursionError) as error:
        # ValueError and the others: numbers that are none, headers about headers about headers.
        raise InputError(
            f"this is not a tar archive: {error}", path=str(path), expected="a directory or a .tar.gz"
        ) from None
    return members


Tree = Directory | Archive


def open_tree(path: str | Path) -> Tree:
    """Open a directory, or anything else as a tar archive."""
    path = Path(path)
    # Path.is_dir raises where a name is too long; reading it then reports that.
    if os.path.isdir(path):  # noqa: PTH112
        return Directory(path)
    return Archive(path)


LIST_FOLDERS = ("config", "scripts/config")


@dataclass(frozen=True)
class Dataset:
    """A named list of sessions in a tree; `lists` is the tree with the list, `folder` its folder there."""

    name: str
    tree: Tree
    lists: Tree
    folder: str
    directories: tuple[str, ...]

    def session_folder(self, file: str) -> str | None:
        """The folder of the sessions: the root or `data`, where the first of them is found."""
        for directory in self.directories:
            for folder in ("", "data/"):
                if f"{folder}{directory}/{file}" in self.tree:
                    return folder
        return None


def find_dataset(path: str | Path, dataset: str | None, extension: str) -> Dataset:
    """Read the list `<dataset>.<extension>` of a corpus; without a name, the only one there is."""
    tree = open_tree(path)
    lists, list_files = tree, _lists(tree, extension)
    if not list_files and isinstance(tree, Directory):
        # The challenges' own scripts are pointed at the data folder beside the one with the lists.
        lists = Directory(tree.path.resolve().parent)
        list_files = _lists(lists, extension)
    if not list_files:
        raise InputError(
            "no list of sessions found",
            path=str(path),
            expected=" or ".join(f"{folder}/{dataset or '<dataset>'}.{extension}" for folder in LIST_FOLDERS),
        )
    if dataset is None:
        if len(list_files) > 1:
            names = ", ".join(sorted(list_files))
            raise InputError("there are several datasets; choose one", path=str(path), found=names)
        dataset = next(iter(list_files))
    if dataset not in list_files:
        raise InputError(
            f"there is no dataset {dataset!r}; {did_you_mean(dataset, list_files)}", path=str(path)
        )
    name = list_files[dataset]
    return Dataset(dataset, tree, lists, str(PurePosixPath(name).parent), _read_list(lists, name))


def _lists(tree: Tree, extension: str) -> dict[str, str]:
    list_files: dict[str, str] = {}
    for folder in LIST_FOLDERS:
        for name in tree.names(folder):
            if name.endswith(f".{extension}"):
                dataset = PurePosixPath(name).name.removesuffix(f".{extension}")
                if list_files.setdefault(dataset, name) != name:
                    raise InputError(
                        f"the dataset {dataset!r} has two lists of sessions",
                        path=tree.place(name),
                        found=f"{list_files[dataset]} and {name}",
                    )
    return list_files


def _read_list(tree: Tree, name: str) -> tuple[str, ...]:
    path = tree.place(name)
    try:
        lines = tree.read(name).decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise InputError("this is not text", path=path, expected="one session path a line") from None
    problems = Problems(path)
    line_of: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        directory = line.strip().rstrip("/")
        if not directory:
            continue
        if directory in line_of:
            problems.add(f"line {number} repeats line {line_of[directory]}", session=directory)
        if PurePosixPath(directory).is_absolute() or ".." in PurePosixPath(directory).parts:
            problems.add(f"line {number} points out of the corpus", found=directory)
        line_of.setdefault(directory, number)
    if not line_of:
        problems.add("the list of sessions is empty")
    problems.raise_errors()
    return tuple(line_of)
