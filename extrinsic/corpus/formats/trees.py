"""A corpus as it lies on disk: a directory, or the tar archive it was distributed as, read in place."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

from extrinsic.errors import InputError, Problems
from extrinsic.storage import read_bytes


class Directory:
    """Files below a directory, by their path relative to it with forward slashes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __contains__(self, name: str) -> bool:
        return (self.path / name).is_file()

    def read(self, name: str) -> bytes:
        return read_bytes(self.path / name)

    def place(self, name: str) -> str:
        """How to name a file in a message."""
        return str(self.path / name)

    def names(self, folder: str) -> Iterator[str]:
        """Names of the files directly in a folder."""
        where = self.path / folder
        if where.is_dir():
            yield from (f"{folder}/{entry.name}" for entry in sorted(where.iterdir()) if entry.is_file())


class Archive:
    """Members of a tar archive, compressed or not, held in memory and never unpacked to disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._data = read_bytes(path)
        self._members: dict[str, tuple[int, int]] = {}
        problems = Problems(str(path))
        try:
            with tarfile.open(fileobj=io.BytesIO(self._data), mode="r:") as archive:
                for member in archive:
                    self._add(member, problems)
        except (tarfile.TarError, EOFError) as error:
            raise InputError(
                f"this is no tar archive: {error}", path=str(path), expected="a directory or a .tar.gz"
            ) from None
        problems.raise_errors()

    def _add(self, member: tarfile.TarInfo, problems: Problems) -> None:
        parts = member.name.split("/")
        if member.name.startswith("/") or ".." in parts:
            problems.add(
                f"the archive's member {member.name!r} points out of the archive", expected="a relative name"
            )
        elif member.isreg():
            self._members["/".join(part for part in parts if part not in ("", "."))] = (
                member.offset_data,
                member.size,
            )

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def read(self, name: str) -> bytes:
        if name not in self._members:
            raise InputError("the archive has no such member", path=self.place(name))
        begin, size = self._members[name]
        if size == 0:
            raise InputError("the file is empty", path=self.place(name))
        return self._data[begin : begin + size]

    def place(self, name: str) -> str:
        return f"{self.path}:{name}"

    def names(self, folder: str) -> Iterator[str]:
        yield from sorted(name for name in self._members if name.rpartition("/")[0] == folder)


Tree = Directory | Archive


def open_tree(path: str | Path) -> Tree:
    """A directory as it is, anything else as a tar archive."""
    path = Path(path)
    if path.is_dir():
        return Directory(path)
    return Archive(path)
