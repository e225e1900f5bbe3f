"""Files that would never end, unpack to anything, or are no files at all."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extrinsic import storage
from extrinsic.errors import MOST_ERRORS, InputError, OutputError
from extrinsic.storage import decompress, read_bytes, write_atomic
from extrinsic.tables import plain_cell, text_cell
from tests.running import assert_refused, run


def test_very_many_gzip_members() -> None:
    """Unpacked in time that grows with their number, not with its square: 48 s once, for so many."""
    member = gzip.compress(b"ab")
    assert decompress((member + b"\0\0") * 100_000, "x") == b"ab" * 100_000


@given(st.lists(st.binary(max_size=3000), min_size=1, max_size=4), st.integers(0, 5))
def test_members_and_padding(parts: list[bytes], zeros: int) -> None:
    packed = b"".join(gzip.compress(part) + b"\0" * zeros for part in parts)
    assert decompress(packed, "x") == b"".join(parts)


def test_data_that_unpacks_to_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "LARGEST", 1 << 20)
    (tmp_path / "x.gz").write_bytes(gzip.compress(bytes(1 << 22)))
    with pytest.raises(InputError, match=r"x\.gz: the gzip data is too large.*1,048,576 bytes"):
        read_bytes(tmp_path / "x.gz")


def test_a_small_file_that_unpacks_to_a_large_one(tmp_path: Path) -> None:
    """194 kB that hold 100 million entries took a minute."""
    (tmp_path / "x.json.gz").write_bytes(gzip.compress(b"[" + b"0," * (1 << 24) + b"0]"))
    outcome = run("validate", "--format", "trippy", tmp_path / "x.json.gz")
    assert_refused(outcome, "x.json.gz", "the gzip data is too large", "at most 16,777,216 bytes")
    harmless = b"[" + b"0," * 1000 + b"0]"
    assert decompress(gzip.compress(harmless), "x") == harmless


@pytest.mark.parametrize("form", ["trippy", "state-sets", "trade", "simpletod"])
def test_a_file_of_mistakes_is_not_read_to_its_end(tmp_path: Path, form: str) -> None:
    """Each of a million mistakes has a message of its own: they took 6 GB."""
    path = tmp_path / "x.json"
    path.write_bytes(b"[" + b"0," * 20_000 + b"0]" if form == "trippy" else _many_dialogs(20_000))
    outcome = run("validate", "--json", "--format", form, path)
    assert outcome.code == 2
    (row,) = outcome.json()["rows"]
    assert row["errors"] == MOST_ERRORS + 1
    assert row["problems"][-1]["message"] == f"not read any further after {MOST_ERRORS:,} errors"


def _many_dialogs(number: int) -> bytes:
    return b"{" + b",".join(b'"%d": 0' % dialog for dialog in range(number)) + b"}"


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    """A pipe that nobody writes to blocks, a device never ends."""
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(InputError, match=r"this is a pipe \(expected a regular file"):
        read_bytes(tmp_path / "pipe.json")
    assert_refused(run("validate", "--format", "state-sets", "/dev/zero"), "/dev/zero", "a device")
    assert_refused(run("validate", "--format", "dstc2", "--corpus", tmp_path / "pipe.json"), "a pipe")
    assert_refused(run("run", tmp_path / "pipe.json"), "pipe.json: this is a pipe")
    assert_refused(run("play", "/dev/zero", "--tracker", "focus", "--world", "ds1"), "a device")


def test_a_device_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match="pipe: this is a device or a pipe"):
        write_atomic(tmp_path / "pipe", b"x")
    assert list(tmp_path.iterdir()) == [tmp_path / "pipe"]


@given(st.text(st.sampled_from("=+-@'\t\rab1."), max_size=6))
def test_no_cell_is_a_formula_and_every_text_comes_back(text: str) -> None:
    cell = text_cell(text)
    assert plain_cell(cell) == text
    if cell.startswith(("=", "+", "-", "@")):
        float(cell)  # a number is none
