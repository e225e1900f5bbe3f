"""Files are read with a clear word when they cannot be, hostile ones too, and written whole or not at all."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extrinsic import storage
from extrinsic.errors import MOST_ERRORS, InputError, OutputError
from extrinsic.storage import (
    compress,
    content_hash,
    decode_clean,
    decode_json,
    decompress,
    encode_json,
    read_bytes,
    write_atomic,
)
from extrinsic.tables import plain_cell, text_cell
from tests.running import assert_refused, run

TEXT = b'{"a": 1}' * 50

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.text(max_size=5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([":", '":', "a:b", "\\u003a"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3) | st.sampled_from([":", "a"]), inner, max_size=3)
    ),
    max_leaves=8,
)


def problems_of(data: bytes) -> list[str]:
    with pytest.raises(InputError) as caught:
        decode_json(data, "x.json")
    assert {problem.path for problem in caught.value.problems} == {"x.json"}
    return [str(problem) for problem in caught.value.problems]


class TestReading:
    def test_plain_and_gzip_give_the_same(self, tmp_path: Path) -> None:
        """Told by the first bytes: the name of the gzip file says nothing."""
        (tmp_path / "plain").write_bytes(TEXT)
        (tmp_path / "packed.json").write_bytes(gzip.compress(TEXT))
        assert read_bytes(tmp_path / "plain") == read_bytes(tmp_path / "packed.json") == TEXT

    @pytest.mark.parametrize(
        ("content", "message"),
        [(None, "no such file"), (b"", "the file is empty"), (gzip.compress(TEXT, mtime=0)[:-20], "cut off")],
    )
    def test_what_cannot_be_read(self, tmp_path: Path, content: bytes | None, message: str) -> None:
        path = tmp_path / "x"
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(InputError, match=f"{path}.*{message}"):
            read_bytes(path)


class TestGzip:
    @pytest.mark.parametrize("kept", [1, 5, 12, 30, -1])
    def test_a_cut_stream_is_named(self, kept: int) -> None:
        with pytest.raises(InputError, match=r"x\.gz.*cut off"):
            decompress(gzip.compress(os.urandom(200))[:kept], "x.gz")

    def test_a_cut_second_member_is_noticed(self) -> None:
        with pytest.raises(InputError, match="cut off"):
            decompress(gzip.compress(b"one") + gzip.compress(b"two")[:-4], "x.gz")

    @given(st.binary(max_size=100), st.integers(0, 200), st.integers(1, 255))
    def test_damage_is_never_passed_on(self, content: bytes, position: int, change: int) -> None:
        """A flipped byte either is refused, or lies where it changes nothing (name, time, system)."""
        data = bytearray(gzip.compress(content))
        data[position % len(data)] ^= change
        with suppress(InputError):
            assert decompress(bytes(data), "x") == content

    def test_equal_content_gives_equal_bytes(self) -> None:
        packed = compress(TEXT)
        assert packed[4:8] == b"\0\0\0\0"  # the time stamp of RFC 1952
        assert packed == compress(TEXT)
        assert gzip.decompress(packed) == TEXT


class TestWriting:
    def test_folders_are_made_and_gz_is_packed(self, tmp_path: Path) -> None:
        path = tmp_path / "a" / "b" / "x.json.gz"
        write_atomic(path, TEXT)
        assert path.read_bytes()[:2] == b"\x1f\x8b"
        assert read_bytes(path) == TEXT

    def test_only_the_file_is_left(self, tmp_path: Path) -> None:
        write_atomic(tmp_path / "x", b"old")
        write_atomic(tmp_path / "x", b"new")
        assert [path.name for path in tmp_path.iterdir()] == ["x"]
        assert (tmp_path / "x").read_bytes() == b"new"

    @pytest.mark.parametrize("step", ["fsync", "fdopen", "replace"])
    @pytest.mark.parametrize(
        ("failure", "raised"),
        [(OSError("the disk is full"), OutputError), (KeyboardInterrupt(), KeyboardInterrupt)],
    )
    def test_a_failure_leaves_the_old_file_and_nothing_else(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        step: str,
        failure: BaseException,
        raised: type[BaseException],
    ) -> None:
        write_atomic(tmp_path / "x", b"old")

        def fail(*arguments: object, **options: object) -> None:
            raise failure

        monkeypatch.setattr(os, step, fail)
        with pytest.raises(raised, match=r"cannot be written: the disk is full|^$"):
            write_atomic(tmp_path / "x", b"new")
        assert [path.name for path in tmp_path.iterdir()] == ["x"]
        assert (tmp_path / "x").read_bytes() == b"old"

    def test_what_stands_there_is_always_whole(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Just before it is put in place the new content is complete, under another name, on disk."""
        synced: list[int] = []
        seen: list[bytes] = []
        replace, fsync = os.replace, os.fsync

        def look(source: str, target: Path) -> None:
            assert Path(source) != target
            assert len(synced) == 1
            seen.append(Path(source).read_bytes())
            replace(source, target)

        monkeypatch.setattr(os, "fsync", lambda handle: (synced.append(handle), fsync(handle)))
        monkeypatch.setattr(os, "replace", look)
        write_atomic(tmp_path / "x", TEXT)
        assert seen == [TEXT]
        assert len(synced) == 2  # the folder too, or the new name may be lost

    @pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
    def test_permissions_follow_the_umask(self, tmp_path: Path, mask: int, mode: int) -> None:
        before = os.umask(mask)
        try:
            write_atomic(tmp_path / "x", TEXT)
            assert os.umask(mask) == mask  # and the mask is left as it was
        finally:
            os.umask(before)
        assert (tmp_path / "x").stat().st_mode & 0o777 == mode


class TestStrictJson:
    @given(json_values)
    def test_what_is_written_is_read_back(self, value: Any) -> None:
        data = encode_json(value)
        assert data.endswith(b"\n")
        assert decode_json(data, "x") == value

    @given(json_values, st.booleans())
    def test_python_and_we_agree_on_good_json(self, value: Any, escape: bool) -> None:
        assert decode_json(json.dumps(value, ensure_ascii=escape).encode(), "x") == value

    def test_every_repeated_key_is_reported_with_its_path(self) -> None:
        found = problems_of(b'{"a": {"b": [0, {"c": 1, "c": 2}]}, "d": 1, "d": {"e": 1, "e": 1}}')
        assert [text for text in found if "'c' occurs more than once in a.b[1]" in text]
        assert [text for text in found if "'d' occurs more than once in the outermost object" in text]
        assert [text for text in found if "'e' occurs more than once in d" in text]
        assert len(found) == 3

    @pytest.mark.parametrize(
        ("data", "value"),
        [
            (b'{"a": "10\\u003a30", "b:": ":"}', {"a": "10:30", "b:": ":"}),
            (b'{"a": "\\u003cb\\u003e"}', {"a": "<b>"}),
            (b" [null, 2.5e3] ", [None, 2500.0]),
        ],
    )
    def test_colons_and_escapes_are_no_defect(self, data: bytes, value: Any) -> None:
        assert decode_json(data, "x") == value

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b'{"a": "x:y", "a": "xy"}', "more than once"),  # colons in text must not hide the lost key
            (b'{"a": "\\u003a", "a": ":"}', "more than once"),  # nor escaped ones, which count in one text
            (b'{"a\\u003ab": 1, "a:b": 2}', "more than once"),  # the same key, spelt in two ways
            (b'{"\\u0061": 1, "a": 2}', "more than once"),
            (b'{"a": {":": 1}, "a": {"::": 1}}', "more than once"),
            *[
                (f'{{"a": [1, {{"b": {number}}}]}}'.encode(), "not a finite number at a[1].b")
                for number in ("NaN", "Infinity", "-Infinity", "1e999", "-1e999")
            ],
            (b'{"a": [1, 2', "ends too early, line 1 column 12"),
            (b'{"a":\n\n', "ends too early"),
            (b'{"a": 1}}', "malformed: Extra data, line 1 column 9"),
            (b"{'a': 1}", "line 1 column 2"),
            (b'{"a": 01}', "malformed"),
            (b"\xff\xfe\x00", "not text"),
            (b'{"a": "\xe9"}', "byte 0xe9 at 7"),
            (b"\xef\xbb\xbf{}", "byte-order mark"),
            (b"[" * 100_000, "nested too deeply"),
            # JSON allows these, and Python does not: refused in words, whoever stumbles over them.
            (b'{"a": ' + b"9" * 5000 + b"}", ""),
            (b'{"a": "\\ud800"}', ""),
        ],
    )
    def test_what_is_refused_is_placed(self, data: bytes, message: str) -> None:
        (text,) = problems_of(data)
        assert message in text
        assert message != "more than once" or decode_clean(data) is None

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), [1, {"a": (float("-inf"),)}]])
    def test_no_nan_is_written(self, value: Any) -> None:
        with pytest.raises(ValueError, match="cannot be written"):
            encode_json(value)


class TestContentHash:
    def test_where_parts_end_matters(self) -> None:
        different = {content_hash("ab", "c"), content_hash("a", "bc"), content_hash("abc")}
        assert len(different | {content_hash("abc", ""), content_hash("", "abc"), content_hash()}) == 6

    def test_the_hash_is_fixed(self) -> None:
        """Stored results are found by it: sha256 of the length in 8 bytes, then the part."""
        assert content_hash(b"") == "af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc"


def test_parts_of_killed_writers_are_removed(tmp_path: Path) -> None:
    """Those of this file only, and not of a process that lives: it may be writing."""
    killed = subprocess.Popen(["true"])
    killed.wait()
    alive = f".x.json.{os.getpid()}-0123abcd.part"
    other = f".y.json.{killed.pid}-0123abcd.part"
    for name in (f".x.json.{killed.pid}-0123abcd.part", alive, other):
        (tmp_path / name).touch()
    write_atomic(tmp_path / "x.json", b"1")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([alive, other, "x.json"])


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
