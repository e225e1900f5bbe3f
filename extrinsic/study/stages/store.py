"""Results of stages as files named by what determines them: content-addressed, checked, written whole.

A file is a line with its kind, its key and a check sum over both and the rest, and then, compressed, plain
values and arrays. One that is damaged, or has another key than its name, counts as missing and is computed
again.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Generic, Protocol, TypeVar

import msgspec
import numpy as np

from extrinsic.errors import InputError
from extrinsic.storage import read_plain, write_atomic

MAGIC = b"extrinsic stage 2"
FASTEST = 1

V = TypeVar("V", covariant=True)
T = TypeVar("T")


class StageKey(msgspec.Struct, frozen=True):
    """The name of a result: the kind of its stage, and a hash of everything that determines it."""

    kind: Annotated[str, msgspec.Meta(pattern=r"\A[a-z_]+\Z")]
    hash: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{32,}\Z")]


@dataclass(frozen=True, eq=False)
class Result(Generic[V]):
    """What a stage computed: a struct of plain values, and arrays by name."""

    values: V
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)

    def encode(self, key: StageKey) -> bytes:
        arrays = {
            name: (array.dtype.str, array.shape, np.ascontiguousarray(array).tobytes())
            for name, array in self.arrays.items()
        }
        body = zlib.compress(msgspec.msgpack.encode((self.values, arrays)), FASTEST)
        return _head(key, body) + b"\n" + body

    @staticmethod
    def decode(data: bytes, key: StageKey, kind: type[T]) -> Result[T]:
        """The result of a key; kind: the struct of its values."""
        damaged = f"a stored result is damaged: {key.kind}-{key.hash[:32]}; run the study again"
        if not is_whole(data, key):
            raise InputError(damaged)
        stored = tuple[kind, dict[str, tuple[str, tuple[int, ...], bytes]]]  # type: ignore[valid-type]
        try:
            values, arrays = msgspec.msgpack.decode(zlib.decompress(data.partition(b"\n")[2]), type=stored)
            return Result(
                values,
                {
                    name: np.frombuffer(raw, dtype=np.dtype(dtype)).reshape(shape)
                    for name, (dtype, shape, raw) in arrays.items()
                },
            )
        except (msgspec.MsgspecError, zlib.error, ValueError, TypeError) as error:
            # Its check sum holds, so somebody wrote it: a dtype that is none, a shape that does not fit.
            raise InputError(f"{damaged} ({error})") from None


def _head(key: StageKey, body: bytes) -> bytes:
    digest = hashlib.sha256()
    for part in (key.kind.encode(), key.hash.encode(), body):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return b" ".join((MAGIC, key.kind.encode(), key.hash.encode(), digest.hexdigest().encode()))


def is_whole(data: bytes, key: StageKey) -> bool:
    """Whether data is the undamaged result of this key."""
    head, _, body = data.partition(b"\n")
    return head == _head(key, body)


def plain(value: float | np.floating | np.ndarray) -> float | None:
    """A number as it is stored: None for one that is not finite."""
    return float(value) if np.isfinite(value) else None


class Results(Protocol):
    """Where a stage reads the results of earlier stages."""

    def read(self, key: StageKey) -> bytes: ...


class Store:
    """The stages of a directory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, key: StageKey) -> Path:
        return self.folder / f"{key.kind}-{key.hash[:32]}"

    def holds(self, key: StageKey) -> bool:
        """Whether the result is stored and undamaged."""
        try:
            data = read_plain(self.path(key))
        except InputError:
            return False
        return is_whole(data, key)

    def read(self, key: StageKey) -> bytes:
        path = self.path(key)
        try:
            return read_plain(path)
        except InputError as error:
            (problem,) = error.problems
            raise InputError(
                f"a result of this run cannot be read: {problem.message}; run it again", path=str(path)
            ) from None

    def write(self, key: StageKey, data: bytes) -> None:
        write_atomic(self.path(key), data)

    def loaded(self, keys: Iterable[StageKey]) -> LoadedResults:
        """Some results in memory, for a process that may not see this directory."""
        return LoadedResults({key: self.read(key) for key in keys})


@dataclass(frozen=True)
class LoadedResults:
    """Results in memory, sent to another machine with the stage that needs them."""

    data: Mapping[StageKey, bytes]

    def read(self, key: StageKey) -> bytes:
        return self.data[key]
