"""Bad input: exit code 2, no traceback, and the place named. One test for each kind of it."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.builders import (
    Json,
    Written,
    small_dstc1,
    small_dstc2,
    small_state_sets,
    write_archive,
    write_dstc1,
    write_dstc2,
    write_json,
)
from tests.running import Outcome, assert_refused, run

FORMATS = ("dstc1", "dstc2", "state-sets", "trade", "trippy", "simpletod")
BELIEFS = FORMATS[:2]


@dataclass(frozen=True)
class Bench:
    """Both corpora on disk, and a tracker file of each format to spoil."""

    root: Path
    written: dict[str, Written]

    def good(self, form: str) -> Json:
        files = {"dstc1": small_dstc1, "dstc2": small_dstc2}
        return copy.deepcopy(files[form]().tracker if form in files else small_state_sets().states)

    def check(self, form: str, content: bytes | Json) -> Outcome:
        """Validate a file with this content."""
        path = self.root / "spoilt.json"
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return self.check_path(form, path)

    def check_path(self, form: str, path: Path) -> Outcome:
        corpus = ["--corpus", self.written[form].corpus] if form in BELIEFS else []
        return run("validate", "--format", form, *corpus, path)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(
        tmp_path,
        {
            "dstc1": write_dstc1(tmp_path / "dstc1", small_dstc1()),
            "dstc2": write_dstc2(tmp_path / "dstc2", small_dstc2()),
        },
    )


every_format = pytest.mark.parametrize("form", FORMATS)
belief_formats = pytest.mark.parametrize("form", BELIEFS)


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
            (gzip.compress(b'{"sessions": []}')[:-5], "the gzip data is cut off"),
            (gzip.compress(b'{"sessions": []}')[:-5] + b"x" * 5, "the gzip data is corrupt"),
            (b"\x1f\x8b\x08 this is no gzip", "gzip"),
            (b"[" * 100_000, "nested too deeply"),
            (b'{"a": 1, "a": 2}', "'a' stands more than once"),
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


class TestSessions:
    def spoil(self, bench: Bench, form: str, change: Callable[[list[Json]], None]) -> Outcome:
        file = bench.good(form)
        change(file["sessions"])
        return bench.check(form, file)

    @belief_formats
    def test_missing(self, bench: Bench, form: str) -> None:
        assert_refused(self.spoil(bench, form, lambda s: s.pop(0)), "not in the file: one")

    @belief_formats
    def test_extra(self, bench: Bench, form: str) -> None:
        outcome = self.spoil(bench, form, lambda s: s.append({"session-id": "four", "turns": []}))
        assert_refused(outcome, "not in the corpus", "four")

    @belief_formats
    def test_out_of_order(self, bench: Bench, form: str) -> None:
        outcome = self.spoil(bench, form, lambda s: s.reverse())
        assert_refused(outcome, "out of order, first at position 0", "expected one")

    @belief_formats
    def test_twice(self, bench: Bench, form: str) -> None:
        outcome = self.spoil(bench, form, lambda s: s.append(s[0]))
        assert_refused(outcome, "session one: the session stands 2 times")

    @belief_formats
    def test_turn_counts_that_differ(self, bench: Bench, form: str) -> None:
        outcome = self.spoil(bench, form, lambda s: s[0]["turns"].pop())
        assert_refused(outcome, "session one", "expected 2 turns, found 1")

    @belief_formats
    def test_none_at_all(self, bench: Bench, form: str) -> None:
        assert_refused(self.spoil(bench, form, lambda s: s.clear()), "expected one, two")

    @belief_formats
    def test_another_corpus(self, bench: Bench, form: str) -> None:
        file = bench.good(form)
        for session in file["sessions"]:
            session["session-id"] = f"voip-{session['session-id']}"
        assert_refused(bench.check(form, file), "another corpus", "expected one, two", "found voip-one")

    @belief_formats
    def test_another_dataset(self, bench: Bench, form: str) -> None:
        outcome = bench.check(form, {**bench.good(form), "dataset": "dstc9"})
        assert_refused(outcome, "another dataset", "'dstc9'")

    @belief_formats
    def test_all_of_it_at_once(self, bench: Bench, form: str) -> None:
        file = {**bench.good(form), "dataset": "dstc9", "extra": 1, "wall-time": "long"}
        file["sessions"][0]["turns"].pop()
        file["sessions"][1]["session-id"] = "four"
        outcome = bench.check(form, file)
        for place in ("'dstc9'", "'extra'", "wall-time", "expected 2 turns", "four", "two"):
            assert_refused(outcome, place)


BAD_SCORES = [
    ("0.5", "found text '0.5'"),
    (True, "found boolean True"),
    (None, "found null"),
    ([0.5], "found array with 1 entry"),
    (float("nan"), "found nan"),
    (float("inf"), "found inf"),
    (float("-inf"), "found -inf"),
    pytest.param(10**400, "the score", id="a whole number no float can hold"),
]


class TestScores:
    @pytest.mark.parametrize(("score", "found"), BAD_SCORES)
    def test_dstc1(self, bench: Bench, score: Any, found: str) -> None:
        file = bench.good("dstc1")
        file["sessions"][0]["turns"][1]["route"]["hyps"][0]["score"] = score
        assert_refused(bench.check("dstc1", file), "session one, turn 1, slot route", found)

    @pytest.mark.parametrize(("score", "found"), BAD_SCORES)
    @pytest.mark.parametrize(
        ("keys", "slot"),
        [
            (("goal-labels", "food", "thai"), "slot food"),
            (("method-label", "none"), "slot method"),
            (("requested-slots", "phone"), "slot phone"),
            (("goal-labels-joint", 0, "score"), "slot joint"),
        ],
    )
    def test_dstc2(self, bench: Bench, keys: tuple[Any, ...], slot: str, score: Any, found: str) -> None:
        file = bench.good("dstc2")
        node = file["sessions"][2]["turns"][1]
        for key in keys[:-1]:
            node = node[key]
        node[keys[-1]] = score
        assert_refused(bench.check("dstc2", file), f"session three, turn 1, {slot}", found)

    @belief_formats
    def test_an_overflowing_exponent(self, bench: Bench, form: str) -> None:
        text = json.dumps(bench.good(form)).replace("0.75", "1e999")
        assert_refused(bench.check(form, text.encode()), "session one, turn", "not finite")

    @belief_formats
    def test_more_digits_than_python_takes(self, bench: Bench, form: str) -> None:
        text = json.dumps(bench.good(form)).replace("0.75", "9" * 5000)
        assert_refused(bench.check(form, text.encode()), "spoilt.json")


class TestNames:
    def test_an_unknown_slot_in_dstc1(self, bench: Bench) -> None:
        file = bench.good("dstc1")
        file["sessions"][1]["turns"][0]["from.dsc"] = {"hyps": []}
        assert_refused(bench.check("dstc1", file), "session two, turn 0", "did you mean 'from.desc'?")

    @pytest.mark.parametrize(
        ("slot", "pairs", "message"),
        [
            ("route", {"rout": "61c"}, "did you mean 'route'?"),
            ("route", {"from.desc": "cmu"}, "speaks of another slot"),
            ("route", {"route": "61c", "from.desc": "cmu"}, "speaks of another slot"),
            ("time", {"time": "7"}, "unknown slot"),
            ("joint", {"place": "x"}, "unknown slot"),
            ("route", {"route": ["61c"]}, "wrong kind"),
            ("route", {"route": None}, "wrong kind"),
            ("route", {"route": True}, "wrong kind"),
            ("joint", {"route": False}, "wrong kind"),
            ("route", [], "wrong kind"),
        ],
    )
    def test_pairs_of_dstc1(self, bench: Bench, slot: str, pairs: Any, message: str) -> None:
        file = bench.good("dstc1")
        file["sessions"][0]["turns"][1][slot] = {"hyps": [{"slots": pairs, "score": 0.5}]}
        assert_refused(bench.check("dstc1", file), f"session one, turn 1, slot {slot}", message)

    @pytest.mark.parametrize(
        ("key", "value", "place"),
        [
            ("goal-labels", {"fod": {"thai": 0.5}}, "did you mean 'food'?"),
            ("goal-labels-joint", [{"slots": {"fod": "thai"}, "score": 0.5}], "did you mean 'food'?"),
            ("requested-slots", {"fone": 0.5}, "did you mean 'phone'?"),
            ("method-label", {"byconstraint": 0.5}, "did you mean 'byconstraints'?"),
            ("goal-label", {}, "did you mean 'goal-labels'?"),
        ],
    )
    def test_unknown_names_in_dstc2(self, bench: Bench, key: str, value: Any, place: str) -> None:
        file = bench.good("dstc2")
        file["sessions"][1]["turns"][0][key] = value
        assert_refused(bench.check("dstc2", file), "session two, turn 0", place)

    @belief_formats
    def test_half_a_character(self, bench: Bench, form: str) -> None:
        """JSON can spell a lone surrogate, but nothing can print it."""
        text = json.dumps(bench.good(form))
        for old in ('"one"', '"thai"' if form == "dstc2" else '"61d"'):
            assert_refused(bench.check(form, text.replace(old, '"\\ud800"').encode()), "spoilt.json")


NESTING = {
    "dstc1": [
        (), ("sessions",), ("sessions", 0), ("sessions", 0, "session-id"), ("sessions", 0, "turns"),
        ("sessions", 0, "turns", 0), ("sessions", 0, "turns", 0, "route"),
        ("sessions", 0, "turns", 0, "route", "hyps"), ("sessions", 0, "turns", 0, "route", "hyps", 0),
        ("sessions", 0, "turns", 0, "route", "hyps", 0, "slots"), ("sessions", 0, "turns", 0, "joint"),
    ],
    "dstc2": [
        (), ("sessions",), ("sessions", 0), ("sessions", 0, "session-id"), ("sessions", 0, "turns"),
        ("sessions", 0, "turns", 0), ("sessions", 0, "turns", 0, "goal-labels"),
        ("sessions", 0, "turns", 0, "goal-labels", "food"), ("sessions", 0, "turns", 0, "method-label"),
        ("sessions", 0, "turns", 0, "requested-slots"), ("sessions", 0, "turns", 0, "goal-labels-joint"),
        ("sessions", 0, "turns", 0, "goal-labels-joint", 0),
        ("sessions", 0, "turns", 0, "goal-labels-joint", 0, "slots"),
        ("sessions", 0, "turns", 0, "goal-labels-joint", 0, "slots", "food"),
    ],
    "state-sets": [
        (), ("PMUL0001.json",), ("PMUL0001.json", "0"), ("PMUL0001.json", "0", "gt"),
        ("PMUL0001.json", "0", "pr"), ("PMUL0001.json", "0", "gt", "hotel"),
        ("PMUL0001.json", "0", "gt", "hotel", "area"),
    ],
}  # fmt: skip


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
        [(form, name) for form, names in
         {"dstc1": ("dstc.log.json", "dstc.labels.json"), "dstc2": ("log.json", "label.json")}.items()
         for name in names],
    )  # fmt: skip
    def test_in_a_corpus(self, bench: Bench, form: str, name: str, escape: str) -> None:
        path = next(bench.written[form].corpus.rglob(f"one/{name}"))
        path.write_text(path.read_text().replace('"session-id": ', f'"asr": "a{escape}b", "session-id": ', 1))
        outcome = bench.check(form, bench.good(form))
        assert outcome.code == 0, outcome.text


class TestCorpus:
    def test_a_wrong_dataset_name(self, bench: Bench) -> None:
        outcome = run("validate", "--format", "dstc2", "--corpus", bench.written["dstc2"].corpus,
                      "--dataset", "dstc2_dve")  # fmt: skip
        assert_refused(outcome, "'dstc2_dve'", "did you mean 'dstc2_dev'?")

    @pytest.mark.parametrize("path", ["nowhere", "tracker.json"])
    def test_what_is_no_corpus(self, bench: Bench, path: str) -> None:
        outcome = run("validate", "--format", "dstc2", "--corpus", bench.root / "dstc2" / path)
        assert_refused(outcome, path)

    @pytest.mark.parametrize(
        ("form", "name"), [("dstc1", "dstc.labels.json"), ("dstc1", "dstc.log.json"), ("dstc2", "label.json")]
    )
    def test_a_missing_file(self, bench: Bench, form: str, name: str) -> None:
        for path in bench.written[form].corpus.rglob(f"*/{name}"):
            if path.parent.name != "two":
                path.unlink()
        outcome = bench.check(form, bench.good(form))
        assert_refused(outcome, f"one/{name}", "there is no such file")
        assert f"two/{name}" not in outcome.text
        assert form == "dstc1" or f"three/{name}" in outcome.text

    @pytest.mark.parametrize("name", ["../evil.json", "/etc/evil.json", "data/../../evil.json"])
    def test_an_archive_that_points_outside(self, bench: Bench, name: str) -> None:
        path = write_archive(bench.root / "evil.tar.gz", {"data/x/log.json": b"{}", name: b"{}"})
        assert_refused(run("validate", "--format", "dstc2", "--corpus", path), "evil.tar.gz", repr(name))
        assert not list(bench.root.parent.rglob("evil.json"))

    def test_an_archive_that_is_cut_off(self, bench: Bench) -> None:
        written = write_dstc2(bench.root, small_dstc2(), archive=True)
        written.corpus.write_bytes(written.corpus.read_bytes()[:-50])
        outcome = run("validate", "--format", "dstc2", "--corpus", written.corpus)
        assert_refused(outcome, "corpus.tar.gz", "cut off")

    def test_two_sessions_with_one_id(self, bench: Bench) -> None:
        files = small_dstc1()
        files.logs["calls/two"]["session-id"] = "one"
        written = write_dstc1(bench.root / "same", files)
        assert_refused(run("validate", "--format", "dstc1", "--corpus", written.corpus), "session one")

    def test_a_line_of_the_list_that_is_no_path(self, bench: Bench) -> None:
        (bench.written["dstc1"].corpus / "config" / "train4.sessions").write_text("x" * 300 + "\n")
        assert_refused(bench.check("dstc1", bench.good("dstc1")), "xxx")

    @pytest.mark.parametrize(
        ("old", "new", "place"),
        [
            ('"turn-index": 1', '"turn-index": 2', "turn 1: the turn index is out of order"),
            ('"turn-index": 1', '"turn-index": true', "turn 1: the turn index"),
            ('"turn-index": 1, ', "", "turn 1: the turn lacks 'turn-index'"),
            ('"restart": false', '"restart": 0', "turn 1: 'restart' has the wrong kind"),
            ('"score": 0.6', '"score": NaN', "turn 0: the score of hypothesis 0 of input.live"),
            ('"score": 0.6', '"score": 1' + "0" * 400, "turn 0: the score of hypothesis 0 of input.live"),
            ('"act": "hello"', '"act": 7', "turn 0"),
            ('["route", "61d"]', '["route"]', "turn 0"),
            ('["route", "61d"]', '["route", true]', "turn 0"),
            ('["route", "61d"]', '["route", {"a": 1}]', "turn 0"),
            ('"session-id": "one"', '"session-id": 1', "the session id"),
            ('"turns": [', '"turns": [], "x": [', "no turns"),
            ('"session-id"', '"x": {"a": 1, "a": 2}, "session-id"', "'a'"),
            ('"session-id"', '"x": [NaN], "session-id"', "x"),
        ],
    )
    def test_a_log_with_a_mistake(self, bench: Bench, old: str, new: str, place: str) -> None:
        path = bench.written["dstc1"].corpus / "calls" / "one" / "dstc.log.json"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1))
        assert_refused(bench.check("dstc1", bench.good("dstc1")), "calls/one/dstc.log.json", place)

    @pytest.mark.parametrize(
        ("content", "place"),
        [
            (b"", "the file is empty"),
            (b'{"turns": [', "ends too early"),
            (b"\x1f\x8b\x08 no gzip", "gzip"),
            (b'{"turns": []}', "expected 2 turns, found 0"),
            (b'{"turn": []}', "lacks 'turns'"),
            (b'{"turns": [{"slu-labels": []}, {"slu-labels": 7}]}', "turn 1"),
            (b'{"turns": [{"slu-labels": []}, {"slu-labels": [{"slots": {}, "label": 1}]}]}', "turn 1"),
            ('{"turns": [], "name": "é"}'.encode("latin-1"), "byte 0xe9"),
        ],
    )  # fmt: skip
    def test_a_label_file_with_a_mistake(self, bench: Bench, content: bytes, place: str) -> None:
        path = bench.written["dstc1"].corpus / "calls" / "one" / "dstc.labels.json"
        path.write_bytes(content)
        outcome = bench.check("dstc1", bench.good("dstc1"))
        assert_refused(outcome, "calls/one/dstc.labels.json", place)

    def test_a_domain_file_with_a_mistake(self, bench: Bench) -> None:
        (bench.root / "own.toml").write_text('name = "x"\nslot = []\n')
        outcome = run("validate", "--format", "dstc1", "--corpus", bench.written["dstc1"].corpus,
                      "--domain", bench.root / "own.toml")  # fmt: skip
        assert_refused(
            outcome, "own.toml: line 2, key slot: unknown; did you mean 'slots'?", "key predicates"
        )

    def test_an_unknown_domain(self, bench: Bench) -> None:
        outcome = run("validate", "--format", "dstc1", "--corpus", bench.written["dstc1"].corpus,
                      "--domain", "buss")  # fmt: skip
        assert_refused(outcome, "did you mean 'bus'?")


def test_all_problems_of_all_sessions_come_at_once(bench: Bench) -> None:
    file = bench.good("dstc2")
    for session in file["sessions"]:
        for turn in session["turns"]:
            turn["goal-labels"] = {"fod": {"thai": "x"}}
    outcome = bench.check("dstc2", file)
    assert_refused(outcome, "10 errors")
    assert outcome.output.count("did you mean 'food'?") == outcome.output.count("found text 'x'") == 5


def test_half_a_character_can_be_reported_as_json(bench: Bench) -> None:
    path = write_json(bench.root / "x.json", {"sessions": [{"session-id": "\ud800", "turns": []}]})
    corpus = bench.written["dstc1"].corpus
    outcome = run("validate", "--format", "dstc1", "--corpus", corpus, "--json", path)
    assert_refused(outcome)
    assert outcome.json()["rows"][0]["errors"] > 0
