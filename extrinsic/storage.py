"""Reading files with clear errors, writing them atomically; strict JSON; what identifies a result."""

from __future__ import annotations

import codecs
import hashlib
import io
import json
import os
import re
import secrets
import stat
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from extrinsic import __version__
from extrinsic.errors import InputError, OutputError, Problems

GZIP_MAGIC = b"\x1f\x8b"

UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What msgspec raises for data that is not JSON, or not of the expected type."""


LARGEST, HARMLESS, HIGHEST_RATIO = 1 << 30, 1 << 24, 100
"""Bytes that a compressed file may have when unpacked: a few kB of gzip can be made to unpack to any size.

Files of trackers and corpora unpack to at most 50 times their size; beyond a size that does no harm, one that
unpacks to more than 100 times its own was made to.
"""

PART = re.compile(r"\.(.+)\.([1-9][0-9]{0,8})-[0-9a-f]{8}\.part", re.DOTALL)
"""The name of a file that is being written: its own, the process that writes it, and chance."""

PADDING = re.compile(rb"\0*")
FIRST_BLOCK, LARGEST_BLOCK = 1 << 9, 1 << 18


def read_bytes(path: str | Path) -> bytes:
    """The content of a regular file, decompressed if its first bytes (not its name) mark it as gzip."""
    data = read_plain(path)
    if not data:
        raise InputError("the file is empty", path=str(path))
    return decompress(data, str(path)) if data.startswith(GZIP_MAGIC) else data


def read_plain(path: str | Path) -> bytes:
    """The content of a regular file as it is."""
    try:
        require_regular(os.stat(path).st_mode, str(path))  # noqa: PTH116 - as below
        with open(path, "rb") as file:  # noqa: PTH123 - thousands of small files: Path costs as much again
            return file.read()
    except FileNotFoundError:
        raise InputError("there is no such file", path=str(path)) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=str(path)) from None
    except ValueError as error:  # a name with a null byte
        raise InputError(f"cannot be read: {error}", path=repr(str(path))) from None


def require_regular(mode: int, path: str) -> None:
    """Refuse anything but a regular file: reading a pipe or a device waits for ever, or never ends."""
    if stat.S_ISDIR(mode):
        raise InputError("this is a directory", path=path, expected="a file")
    if not stat.S_ISREG(mode):
        kinds = {stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}
        kind = kinds.get(stat.S_IFMT(mode), "a socket")
        raise InputError(f"this is {kind}", path=path, expected="a regular file")


def decompress(data: bytes, path: str) -> bytes:
    """Gunzip, member after member, checking that nothing is cut off and the check sums hold."""
    unpacked = io.BytesIO()
    most = min(LARGEST, max(HARMLESS, HIGHEST_RATIO * len(data)))
    position, block = 0, FIRST_BLOCK
    stream = zlib.decompressobj(wbits=31)
    try:
        while position < len(data):
            # In blocks: what a member does not use is copied, and a file may have very many members.
            unpacked.write(stream.decompress(data[position : position + block]))
            if unpacked.tell() > most:
                raise InputError(
                    "the gzip data is too large: unpack the file if it is meant to be",
                    path=path,
                    expected=f"at most {most:,} bytes, unpacked",
                )
            position = min(position + block, len(data)) - len(stream.unused_data)
            block = min(2 * block, LARGEST_BLOCK)
            if stream.eof:
                # Padding with zeros after the last member is usual (tapes, tar) and means nothing.
                padding = PADDING.match(data, position)
                position = padding.end() if padding else position
                if position < len(data):
                    stream, block = zlib.decompressobj(wbits=31), FIRST_BLOCK
    except zlib.error as error:
        raise InputError(f"the gzip data is corrupt: {error}", path=path) from None
    if not stream.eof:
        raise InputError("the gzip data is cut off", path=path)
    return unpacked.getvalue()


def compress(data: bytes) -> bytes:
    """Gzip without a time stamp, so that equal content gives equal bytes."""
    return zlib.compress(data, 9, wbits=31)


def write_atomic(path: str | Path, data: bytes) -> None:
    """Write a file completely or not at all: to a temporary file, flushed to disk, then renamed.

    A name that ends in .gz is compressed. What exists there and is no regular file is left alone: a device
    would be replaced by a file.
    """
    path = Path(path)
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113 - Path's raise for long names
        kind = "a directory" if path.is_dir() else "a device or a pipe"
        raise OutputError(f"this is {kind}", path=str(path), expected="the name of a file")
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _clear_parts(path)
        # Opened like any other file, so that it gets the usual permissions.
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(compress(data) if path.suffix == ".gz" else data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_directory(path.parent)
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror or error}", path=str(path)) from error


def _clear_parts(path: Path) -> None:
    """Remove what writers of this file left that were killed: their processes exist no more."""
    for name in os.listdir(path.parent):  # noqa: PTH208 - names are enough
        part = PART.fullmatch(name)
        if part and part[1] == path.name and not _is_alive(int(part[2])):
            (path.parent / name).unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _sync_directory(path: Path) -> None:
    if os.name == "nt":  # Windows opens no directories, and needs none flushed
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def content_hash(*parts: bytes | str) -> str:
    """A hash of the parts, their order and their boundaries."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def sign(**parts: object) -> str:
    """`extrinsic:0.1.0|format:dstc2|...`: how a result was made; two are comparable if theirs are equal.

    Parts that are None are left out.
    """
    fields = {"extrinsic": __version__, **parts}
    texts = {name: str(value).replace("|", "%7C") for name, value in fields.items() if value is not None}
    return "|".join(f"{name}:{text}" for name, text in texts.items())


def encode_json(value: Any, indent: int = 0) -> bytes:
    """Strict JSON with a final newline; NaN and infinities are refused."""
    _refuse_non_finite(value)
    data = msgspec.json.encode(value)
    return (msgspec.json.format(data, indent=indent) if indent else data) + b"\n"


def _refuse_non_finite(value: Any) -> None:
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        raise ValueError(f"{value} cannot be written as JSON")
    if isinstance(value, dict):
        for item in value.values():
            _refuse_non_finite(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _refuse_non_finite(item)


class Repeated(dict[str, Any]):
    """A JSON object in which some keys occur more than once (`keys_repeated`)."""

    keys_repeated: tuple[str, ...] = ()


def decode_json(data: bytes, path: str) -> Any:
    """Decode strict JSON: every duplicate key, NaN and infinity is reported as a problem."""
    value = decode_clean(data)
    if value is not None:
        return value
    value = decode_loosely(data, path)
    problems = Problems(path)
    report_defects(value, "", problems)
    problems.raise_errors()
    return value


def decode_clean(data: bytes) -> Any | None:
    """The value if data is JSON in which no key is repeated, else None.

    Readers try this first. When it fails they read again with `decode_loosely` to report what is wrong.
    """
    try:
        value = msgspec.json.decode(data)
    except UNDECODABLE:
        return None
    return value if keeps_keys(data, value) else None


def has_keys(data: bytes, n_keys: int) -> bool:
    """Whether a JSON text contains exactly this many keys, so that no decoded key was repeated.

    Cheaper than `decode_clean` when the keys are counted already. Also False when a text contains colons,
    so a False has to be checked.
    """
    return data.count(b":") == n_keys


def keeps_keys(data: bytes, value: Any) -> bool:
    """Whether the value decoded from a JSON text still has every key of it, so that none was repeated.

    A decoder keeps one of several equal keys, so the value, encoded again, has fewer colons than the text
    it came from. Where the count cannot be trusted (an escaped colon) the keys themselves are compared.
    """
    if b"\\u003" not in data:
        return data.count(b":") == msgspec.json.encode(value).count(b":")
    repeated = False

    def look(pairs: list[tuple[str, Any]]) -> None:
        nonlocal repeated
        repeated = repeated or len({key for key, _ in pairs}) < len(pairs)

    json.loads(data, object_pairs_hook=look)
    return not repeated


def decode_loosely(data: bytes, path: str) -> Any:
    """Decode JSON with Python's own decoder: NaN allowed, objects with repeated keys as `Repeated`.

    Used to diagnose a file; only broken syntax is an error here.
    """
    if data.startswith(codecs.BOM_UTF8):
        raise InputError(
            "the file begins with a byte-order mark", path=path, expected="JSON in UTF-8 without one"
        )
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_keep_repeated)
        if b"\\u" in data:  # nothing else makes half a pair
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except UnicodeEncodeError as error:
        raise InputError(
            "a text contains half a surrogate pair", path=path, found=repr(error.object[error.start])
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(
            "this is not text",
            path=path,
            expected="JSON in UTF-8",
            found=f"byte {data[error.start]:#04x} at {error.start}",
        ) from None
    except json.JSONDecodeError as error:
        cut = error.pos >= len(data.decode("utf-8").rstrip())
        message = "the JSON ends too early" if cut else f"the JSON is malformed: {error.msg}"
        raise InputError(f"{message}, line {error.lineno} column {error.colno}", path=path) from None
    except RecursionError:
        raise InputError("the JSON is nested too deeply", path=path) from None
    except ValueError as error:  # a number of thousands of digits
        raise InputError(f"the JSON cannot be read: {error}", path=path) from None


def _keep_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    counts = Counter(key for key, _ in pairs)
    repeated = Repeated(value)
    repeated.keys_repeated = tuple(key for key in value if counts[key] > 1)
    return repeated


def report_defects(value: Any, location: str, problems: Problems) -> None:
    """Report repeated keys and numbers that are not finite, with their location."""
    if isinstance(value, dict):
        for key in getattr(value, "keys_repeated", ()):
            problems.add(f"the key {key!r} occurs more than once in {location or 'the outermost object'}")
        for key, item in value.items():
            report_defects(item, f"{location}.{key}" if location else key, problems)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            report_defects(item, f"{location}[{position}]", problems)
    elif isinstance(value, float) and (value != value or abs(value) == float("inf")):
        problems.add(f"not a finite number at {location}", found=str(value))
