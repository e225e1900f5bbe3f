"""Records: the same again, the same bytes, and nothing but plain values and arrays of numbers."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pytest

from extrinsic import records
from extrinsic.errors import InputError, UsageError
from extrinsic.records import decode_record, encode_record, is_whole, require_shapes


class Values(msgspec.Struct):
    name: str
    numbers: tuple[float, ...]


VALUES = Values("a", (1.5, float("inf")))
ARRAYS = {
    "x": np.arange(6.0).reshape(2, 3),
    "on": np.array([True, False]),
    "none": np.zeros((0, 4), np.int32),
}


def test_what_was_written_is_read() -> None:
    data = encode_record("score 1", VALUES, ARRAYS)
    values, arrays = decode_record(data, "score 1", Values, "here")
    assert values == VALUES
    for name, array in ARRAYS.items():
        assert (arrays[name].dtype, arrays[name].shape) == (array.dtype, array.shape)
        assert np.array_equal(arrays[name], array)
    assert encode_record("score 1", values, arrays) == data
    assert is_whole(data, "score 1") and not is_whole(data, "score 2") and not is_whole(data[:-1], "score 1")


def written(*stored: Any) -> bytes:
    """A record with these arrays as they are stored, and a check sum that holds."""
    body = zlib.compress(msgspec.msgpack.encode((VALUES, {"x": stored})))
    return records._head("score", body) + b"\n" + body


@pytest.mark.parametrize(
    "data",
    [
        encode_record("score", {"name": 3}, {}),
        *[written(kind, (1,), bytes(8)) for kind in ("|O", "<U2", "nothing", "f8,i4", "<M8[s]")],
        *[written("<f8", shape, bytes(16)) for shape in ((3,), (-1,), (2, 2), ("a",))],
        records._head("score", b"no zlib") + b"\nno zlib",
    ],
)
def test_what_is_no_record_although_its_check_sum_holds(data: bytes) -> None:
    with pytest.raises(InputError, match="here: not what it should be"):
        decode_record(data, "score", Values, "here")


@dataclass
class Part:
    centers: Any
    weights: Any


def test_shapes_fit_together() -> None:
    require_shapes(Part(np.zeros((3, 2)), np.zeros(3)), centers="kernels numbers", weights="kernels")
    for weights in (np.zeros(4), np.zeros((3, 1))):
        with pytest.raises(UsageError, match="weights of Part has the wrong shape"):
            require_shapes(Part(np.zeros((3, 2)), weights), centers="kernels numbers", weights="kernels")
