"""Files that are no good JSON, or JSON of another shape; and good JSON in an unusual spelling."""

from __future__ import annotations

import copy
import gzip
import json
from typing import Any

import pytest

from tests.builders import Json
from tests.cli.bench import Bench, every_format
from tests.running import assert_refused


class TestBytes:
    @every_format
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "the file is empty"),
            (b'{"sessions": [{"session-id": "one", ', "the JSON ends too early, line 1 column"),
            (b'{"sessions" [', "malformed"),
            (b"\x00\x01\x02\xff\xfe", "not text"),
            ('{"session-id": "café"}'.encode("latin-1"), "byte 0xe9"),
            (gzip.compress(b'{"sessions": []}', mtime=0)[:-5], "the gzip data is cut off"),
            (gzip.compress(b'{"sessions": []}', mtime=0)[:-5] + b"x" * 5, "the gzip data is corrupt"),
            (b"\x1f\x8b\x08 this is no gzip", "gzip"),
            (b"[" * 100_000, "nested too deeply"),
            (b'{"a": 1, "a": 2}', "'a' occurs more than once"),
            (b"null", "found null"),
            (b'"text"', "wrong kind"),
        ],
    )
    def test_what_cannot_be_read(self, bench: Bench, form: str, content: bytes, message: str) -> None:
        if form == "trippy" and content == b'{"a": 1, "a": 2}':
            content = b'[{"a": 1, "a": 2}]'
        assert_refused(bench.check(form, content), "spoilt.json", message)

    @every_format
    def test_a_missing_file(self, bench: Bench, form: str) -> None:
        assert_refused(bench.check_path(form, bench.root / "nowhere.json"), "nowhere.json", "no such file")

    @every_format
    def test_a_directory_where_a_file_is_expected(self, bench: Bench, form: str) -> None:
        assert_refused(bench.check_path(form, bench.root), str(bench.root), "this is a directory")

    @every_format
    def test_a_name_no_file_can_have(self, bench: Bench, form: str) -> None:
        assert_refused(bench.check_path(form, bench.root / ("x" * 300)), "xxx")


NESTING = {
    "dstc1": [
        (),
        ("sessions",),
        ("sessions", 0),
        ("sessions", 0, "session-id"),
        ("sessions", 0, "turns"),
        ("sessions", 0, "turns", 0),
        ("sessions", 0, "turns", 0, "route"),
        ("sessions", 0, "turns", 0, "route", "hyps"),
        ("sessions", 0, "turns", 0, "route", "hyps", 0),
        ("sessions", 0, "turns", 0, "route", "hyps", 0, "slots"),
        ("sessions", 0, "turns", 0, "joint"),
    ],
    "dstc2": [
        (),
        ("sessions",),
        ("sessions", 0),
        ("sessions", 0, "session-id"),
        ("sessions", 0, "turns"),
        ("sessions", 0, "turns", 0),
        ("sessions", 0, "turns", 0, "goal-labels"),
        ("sessions", 0, "turns", 0, "goal-labels", "food"),
        ("sessions", 0, "turns", 0, "method-label"),
        ("sessions", 0, "turns", 0, "requested-slots"),
        ("sessions", 0, "turns", 0, "goal-labels-joint"),
        ("sessions", 0, "turns", 0, "goal-labels-joint", 0),
        ("sessions", 0, "turns", 0, "goal-labels-joint", 0, "slots"),
        ("sessions", 0, "turns", 0, "goal-labels-joint", 0, "slots", "food"),
    ],
    "state-sets": [
        (),
        ("PMUL0001.json",),
        ("PMUL0001.json", "0"),
        ("PMUL0001.json", "0", "gt"),
        ("PMUL0001.json", "0", "pr"),
        ("PMUL0001.json", "0", "gt", "hotel"),
        ("PMUL0001.json", "0", "gt", "hotel", "area"),
    ],
}


def replaced(value: Json, keys: tuple[Any, ...], by: Json) -> Json:
    if not keys:
        return by
    spoilt = copy.deepcopy(value)
    node = spoilt
    for key in keys[:-1]:
        node = node[key]
    node[keys[-1]] = by
    return spoilt


@pytest.mark.parametrize("by", [7, None, [[7]], {"x": {"y": 7}}], ids=["number", "null", "array", "object"])
@pytest.mark.parametrize(
    ("form", "keys"), [(form, keys) for form, found in NESTING.items() for keys in found]
)
def test_wrong_nesting_at_every_level(bench: Bench, form: str, keys: tuple[Any, ...], by: Json) -> None:
    outcome = bench.check(form, replaced(bench.good(form), keys, by))
    place = {"dstc1": "session one, turn 0", "dstc2": "session one, turn 0", "state-sets": "PMUL0001.json"}
    # Below a turn the turn is named; above it whatever is known.
    depth = {"dstc1": 4, "dstc2": 4, "state-sets": 1}[form]
    assert_refused(outcome, "spoilt.json", *([place[form]] if len(keys) >= depth else []))


@pytest.mark.parametrize(
    ("form", "old", "new", "place"),
    [
        ("dstc1", '"session-id": "one"', '"session-id": "one", "session-id": "one"', "'session-id'"),
        ("dstc1", '{"route": "61d"}', '{"route": "61d", "route": "61c"}', "session one, turn 0, slot route"),
        ("dstc1", '"score": 0.25', '"score": 0.25, "score": 0.3', "session one, turn 0, slot route"),
        ("dstc2", '"thai": 0.75', '"thai": 0.75, "thai": 0.5', "session one, turn 0, slot food"),
        ("dstc2", '"phone": 0.25', '"phone": 0.25, "phone": 0.25', "session one, turn 0"),
        ("dstc2", '"dataset": "dstc2_dev"', '"dataset": "dstc2_dev", "dataset": "x"', "'dataset'"),
        ("dstc2", '"food": "greek"', '"food": "greek", "food": "th:ai"', "session one, turn 0, slot joint"),
        ("state-sets", '"area": "south"', '"area": "south", "area": "north"', "turn 1"),
    ],
)
def test_duplicate_keys(bench: Bench, form: str, old: str, new: str, place: str) -> None:
    text = json.dumps(bench.good(form))
    assert old in text
    assert_refused(bench.check(form, text.replace(old, new, 1).encode()), "more than once", place)


class TestEscapes:
    """Good JSON in an unusual spelling is still good."""

    @pytest.mark.parametrize("escape", ["\\u003a", "\\u003A", "\\u003c", "\\u0041", "\\/", ":", "é"])
    @pytest.mark.parametrize(
        ("form", "old"),
        [("dstc1", "61d"), ("dstc2", "greek"), ("state-sets", "south"), ("state-sets", "hotel")],
    )
    def test_in_a_tracker_file(self, bench: Bench, form: str, old: str, escape: str) -> None:
        text = json.dumps(bench.good(form)).replace(old, f"x{escape}y")
        outcome = bench.check(form, text.encode())
        assert outcome.code == 0, outcome.text

    @pytest.mark.parametrize("escape", ["\\u003a", "\\u003c", ":"])
    @pytest.mark.parametrize(
        ("form", "name"),
        [
            (form, name)
            for form, names in {
                "dstc1": ("dstc.log.json", "dstc.labels.json"),
                "dstc2": ("log.json", "label.json"),
            }.items()
            for name in names
        ],
    )
    def test_in_a_corpus(self, bench: Bench, form: str, name: str, escape: str) -> None:
        path = next(bench.written[form].corpus.rglob(f"one/{name}"))
        path.write_text(path.read_text().replace('"session-id": ', f'"asr": "a{escape}b", "session-id": ', 1))
        outcome = bench.check(form, bench.good(form))
        assert outcome.code == 0, outcome.text
