"""Stages and their results: records named by what determines them, content-addressed, checked, written whole.

One that is damaged, or has another key than its name, counts as missing and is computed again.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Generic, Protocol, TypeVar

import msgspec
import numpy as np

import extrinsic
from extrinsic.errors import InputError
from extrinsic.records import decode_record, encode_record, is_whole
from extrinsic.storage import content_hash, encode_json, read_plain, write_atomic

LIBRARIES = ("numpy", "scipy", "scikit-learn")
ROOT = Path(extrinsic.__file__).parent
NOT_IN_KEYS = ("verdict", "report", "cli", "configs")
"""Folders that no score, policy or value depends on: work on them computes none of these again."""

V = TypeVar("V", covariant=True)
T = TypeVar("T")


class StageKey(msgspec.Struct, frozen=True):
    """The name of a result: the kind of its stage, and a hash of everything that determines it."""

    kind: Annotated[str, msgspec.Meta(pattern=r"\A[a-z_]+\Z")]
    hash: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{32,}\Z")]

    def __str__(self) -> str:
        return f"{self.kind}-{self.hash}"


@dataclass(frozen=True, eq=False)
class Result(Generic[V]):
    """What a stage computed: a struct of plain values, and arrays by name."""

    values: V
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)

    def encode(self, key: StageKey) -> bytes:
        return encode_record(str(key), self.values, self.arrays)

    @staticmethod
    def decode(data: bytes, key: StageKey, kind: type[T]) -> Result[T]:
        """The result of a key; kind: the struct of its values."""
        try:
            return Result(*decode_record(data, str(key), kind, str(key)))
        except InputError as error:
            (problem,) = error.problems
            damaged = f"a stored result is damaged: {key.kind}-{key.hash[:32]}; run the study again"
            raise InputError(f"{damaged} ({problem.message})") from None


class Task(Protocol):
    """A stage of a study, to be computed by any process."""

    @property
    def key(self) -> StageKey:
        """The name of its result: a hash of inputs, settings, and the code that computes it."""
        ...

    @property
    def label(self) -> str:
        """Shown as progress."""
        ...

    def run(self) -> Result[msgspec.Struct]: ...


def stage_key(kind: str, *parts: bytes | str) -> StageKey:
    """The key of what these parts and the code of this version determine."""
    return StageKey(kind, content_hash(kind, code_version(), *parts))


def encoded(settings: msgspec.Struct) -> bytes:
    """Settings as bytes, to be hashed into a key."""
    return encode_json(msgspec.to_builtins(settings))


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
        return is_whole(data, str(key))

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


@cache
def code_version() -> str:
    """A hash of the package's sources and of the libraries' versions, part of the key of every result."""
    paths = sorted(
        path
        for path in ROOT.rglob("*")
        if path.suffix in (".py", ".toml") and path.relative_to(ROOT).parts[0] not in NOT_IN_KEYS
    )
    sources = [part for path in paths for part in (str(path.relative_to(ROOT)), path.read_bytes())]
    return content_hash(*sources, *(f"{name} {version(name)}" for name in LIBRARIES))


def versions() -> dict[str, str]:
    """The versions of everything that a number can depend on."""
    return {
        "extrinsic": extrinsic.__version__,
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }
