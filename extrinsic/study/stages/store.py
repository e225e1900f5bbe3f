"""Results of stages as files named by what determines them: content-addressed, checked, written whole.

A file is a line that says what it is with a check sum of the rest, and then, compressed, plain values and
arrays. One that is damaged counts as not there: it is computed again.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from extrinsic.errors import InputError
from extrinsic.storage import write_atomic

MAGIC = b"extrinsic stage 1 "
FASTEST = 1


@dataclass(frozen=True, eq=False)
class Result:
    """What a stage computed: plain values, as JSON could hold them, and arrays by name."""

    values: dict[str, Any]
    arrays: dict[str, np.ndarray] = field(default_factory=dict)

    def encode(self) -> bytes:
        arrays = {
            name: (array.dtype.str, array.shape, np.ascontiguousarray(array).tobytes())
            for name, array in self.arrays.items()
        }
        body = zlib.compress(msgspec.msgpack.encode((self.values, arrays)), FASTEST)
        return MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body

    @staticmethod
    def decode(data: bytes) -> Result:
        head, _, body = data.partition(b"\n")
        if head != MAGIC + hashlib.sha256(body).hexdigest().encode():
            raise ValueError("the check sum does not fit")
        values, arrays = msgspec.msgpack.decode(zlib.decompress(body))
        return Result(
            values,
            {
                name: np.frombuffer(raw, dtype=np.dtype(kind)).reshape(shape)
                for name, (kind, shape, raw) in arrays.items()
            },
        )


def plain(value: Any) -> float | None:
    """A number as it is stored: None for one that is not."""
    return float(value) if np.isfinite(value) else None


class Store:
    """The stages of a directory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, kind: str, key: str) -> Path:
        return self.folder / f"{kind}-{key[:32]}"

    def holds(self, kind: str, key: str) -> bool:
        """Whether the result is there and whole."""
        try:
            data = self.path(kind, key).read_bytes()
        except OSError:
            return False
        head, _, body = data.partition(b"\n")
        return head == MAGIC + hashlib.sha256(body).hexdigest().encode()

    def read(self, kind: str, key: str) -> bytes:
        path = self.path(kind, key)
        try:
            return path.read_bytes()
        except OSError as error:
            raise InputError(
                f"a result of this run cannot be read: {error.strerror}; run it again", path=str(path)
            ) from None

    def write(self, kind: str, key: str, data: bytes) -> None:
        write_atomic(self.path(kind, key), data)
