"""Records: plain values and arrays by name in one checked file, which no reading turns into code.

A record is a line with its name and a check sum over that and the rest, and then, compressed, plain values
and the arrays (type, shape, bytes). Stored results of studies and saved policies are records.
"""

from __future__ import annotations

import hashlib
import math
import zlib
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import msgspec
import numpy as np

from extrinsic.errors import InputError, UsageError

MAGIC = b"extrinsic record 1"
FASTEST = 1
LARGEST = 1 << 32
"""Bytes that a record may have when unpacked: a small file can be made to unpack to any size."""

NUMBERS = "biuf"
"""The kinds of arrays that a record may hold: truth values and numbers, nothing that points elsewhere."""

T = TypeVar("T")

_Size = Annotated[int, msgspec.Meta(ge=0)]
_Stored = dict[str, tuple[str, tuple[_Size, ...], bytes]]


def encode_record(name: str, values: object, arrays: Mapping[str, np.ndarray]) -> bytes:
    """The bytes of a record; equal records give equal bytes."""
    stored = {
        key: (array.dtype.str, array.shape, np.ascontiguousarray(array).tobytes())
        for key, array in arrays.items()
    }
    body = zlib.compress(msgspec.msgpack.encode((values, stored)), FASTEST)
    return _head(name, body) + b"\n" + body


def is_record(data: bytes) -> bool:
    """Whether this begins as a record, whole or not."""
    return data.startswith(MAGIC + b" ")


def is_whole(data: bytes, name: str) -> bool:
    """Whether data is the undamaged record of this name."""
    head, _, body = data.partition(b"\n")
    return head == _head(name, body)


def decode_record(data: bytes, name: str, kind: type[T], path: str) -> tuple[T, dict[str, np.ndarray]]:
    """The values of a record, of the type `kind`, and its arrays; InputError for anything else."""
    if not is_whole(data, name):
        raise InputError("damaged, or changed after it was written: the check sum does not hold", path=path)
    try:
        unpacked = zlib.decompressobj().decompress(data.partition(b"\n")[2], LARGEST)
        record = tuple[kind, _Stored]  # type: ignore[valid-type]
        values, stored = msgspec.msgpack.decode(unpacked, type=record)
        return values, {key: _array(*parts) for key, parts in stored.items()}
    except (msgspec.MsgspecError, zlib.error, ValueError, TypeError, RecursionError) as error:
        # Its check sum holds, so somebody wrote it: a type that is none, a shape that does not fit.
        raise InputError(f"not what it should be: {error}", path=path) from None


def _head(name: str, body: bytes) -> bytes:
    digest = hashlib.sha256()
    for part in (name.encode(), body):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return b" ".join((MAGIC, name.encode(), digest.hexdigest().encode()))


def _array(kind: str, shape: tuple[int, ...], raw: bytes) -> np.ndarray:
    dtype = np.dtype(kind)
    if dtype.kind not in NUMBERS or math.prod(shape) * dtype.itemsize != len(raw):
        raise ValueError(f"an array of {kind!r} with the shape {shape} in {len(raw):,} bytes")
    return np.frombuffer(raw, dtype=dtype).reshape(shape)


def require_shapes(part: object, **shapes: str) -> None:
    """Raise UsageError unless the arrays of a dataclass have shapes that fit together.

    shapes: by field, a word for every dimension; the same word is the same size: `centers="kernels numbers"`.
    """
    sizes: dict[str, int] = {}
    for name, words in shapes.items():
        array: Any = getattr(part, name)
        dimensions = words.split()
        fits = array.ndim == len(dimensions) and all(
            sizes.setdefault(word, size) == size for word, size in zip(dimensions, array.shape, strict=True)
        )
        if not fits:
            known = ", ".join(f"{word} {sizes[word]}" for word in dimensions if word in sizes)
            raise UsageError(
                f"{name} of {type(part).__name__} has the wrong shape",
                expected=f"({', '.join(dimensions)})" + (f" with {known}" if known else ""),
                found=str(array.shape),
            )
