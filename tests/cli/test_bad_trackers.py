"""Bad tracker files: exit code 2, no traceback, and the place named. One test for each kind of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.builders import Json, write_json
from tests.cli.bench import Bench, belief_formats
from tests.running import Outcome, assert_refused, run


class TestSessions:
    def spoil(self, bench: Bench, form: str, change: Callable[[list[Json]], None]) -> Outcome:
        file = bench.good(form)
        change(file["sessions"])
        return bench.check(form, file)

    @belief_formats
    def test_missing(self, bench: Bench, form: str) -> None:
        assert_refused(
            self.spoil(bench, form, lambda s: s.pop(0)), "session one: a session of the corpus is missing"
        )

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
        assert_refused(outcome, "session one: the session occurs 2 times")

    @belief_formats
    def test_turn_counts_that_differ(self, bench: Bench, form: str) -> None:
        outcome = self.spoil(bench, form, lambda s: s[0]["turns"].pop())
        assert_refused(outcome, "session one", "expected 2 turns, found 1")

    @belief_formats
    def test_none_at_all(self, bench: Bench, form: str) -> None:
        assert_refused(self.spoil(bench, form, lambda s: s.clear()), "the file has no sessions")

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
    pytest.param(10**400, "is not finite", id="a whole number no float can hold"),
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
        file = json.loads(json.dumps(bench.good("dstc2")))  # turns that are alike are not the same object
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
            ("route", {"from.desc": "cmu"}, "contains another slot"),
            ("route", {"route": "61c", "from.desc": "cmu"}, "contains another slot"),
            ("time", {"time": "7"}, "unknown slot"),
            ("joint", {"place": "x"}, "unknown slot"),
            ("route", {"route": ["61c"]}, "wrong kind"),
            ("route", {"route": None}, "wrong kind"),
            ("route", {"route": True}, "wrong kind"),
            ("joint", {"route": False}, "wrong kind"),
            ("route", {"route": float("nan")}, "slots.route'"),
            ("time", {"time.hour": float("inf")}, "slots.time.hour'"),
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


def test_all_problems_of_all_sessions_come_at_once(bench: Bench) -> None:
    file = bench.good("dstc2")
    for session in file["sessions"]:
        for turn in session["turns"]:
            turn["goal-labels"] = {"fod": {"thai": "x"}}
    outcome = bench.check("dstc2", file)
    assert_refused(outcome, "10 errors")
    # Two kinds, each in five turns: a line each, at its first place.
    lines = outcome.output.splitlines()[1:]
    assert [line.partition(":")[0].strip() for line in lines] == ["session one, turn 0, slot fod"] * 2
    assert all(line.endswith("and 4 more like it") for line in lines)
    assert "did you mean 'food'?" in outcome.output and "found text 'x'" in outcome.output


def test_half_a_character_can_be_reported_as_json(bench: Bench) -> None:
    path = write_json(bench.root / "x.json", {"sessions": [{"session-id": "\ud800", "turns": []}]})
    corpus = bench.written["dstc1"].corpus
    outcome = run("validate", "--format", "dstc1", "--corpus", corpus, "--json", path)
    assert_refused(outcome)
    assert outcome.json()["rows"][0]["errors"] > 0
