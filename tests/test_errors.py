"""Problems say where they are; errors carry all of them."""

from __future__ import annotations

import pickle
from dataclasses import astuple

import pytest

from extrinsic.errors import (
    ExtrinsicError,
    InputError,
    Problem,
    Problems,
    UsageError,
    did_you_mean,
    distinct_lines,
    shown,
)

WHOLE = Problem("wrong", "a.json", "call", 0, "food", expected="a number", found="text 'x'")


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (WHOLE, "a.json, session call, turn 0, slot food: wrong (expected a number, found text 'x')"),
        (Problem("wrong"), "wrong"),
        (Problem("wrong", turn=0), "turn 0: wrong"),
        (Problem("wrong", found=""), "wrong (found )"),
        (Problem("wrong", path="a", expected="b"), "a: wrong (expected b)"),
        (Problem("plain ünïcode 中"), "plain ünïcode 中"),
    ],
)
def test_a_problem_says_what_is_known(problem: Problem, text: str) -> None:
    assert str(problem) == text


def test_an_error_lists_every_problem() -> None:
    error = InputError([Problem("one"), Problem("two", path="b")])
    assert str(error) == "one\nb: two"
    assert [problem.message for problem in error.problems] == ["one", "two"]


def test_what_repeats_is_one_line_with_its_first_place_and_a_count() -> None:
    places = [(session, turn) for session in ("a", "b") for turn in range(3)]
    slot = [Problem("unknown slot", "x.json", *place, slot="fod", expected="food") for place in places]
    other = Problem("unknown slot", "x.json", "a", 1, slot="aera", expected="area")
    error = InputError([*slot[:2], other, *slot[2:]])
    assert str(error).splitlines() == [
        "x.json, session a, turn 0, slot fod: unknown slot (expected food) - and 5 more like it",
        "x.json, session a, turn 1, slot aera: unknown slot (expected area)",
    ]
    assert len(error.problems) == 7
    within = [Problem(f"hyps[{i}] is no number", turn=i) for i in range(3)]
    assert distinct_lines(within) == ["turn 0: hyps[0] is no number - and 2 more like it"]
    # Of sessions, each has to be mended; of turns, what was found is part of what is wrong.
    assert len(distinct_lines(Problem("no such dialog", session=name) for name in "abc")) == 3
    assert len(distinct_lines(Problem("too large", turn=i, found=str(i)) for i in range(3))) == 3


def test_errors_take_details_and_survive_being_sent_between_processes() -> None:
    assert UsageError("wrong", found="7").problems == (Problem("wrong", found="7"),)
    error = pickle.loads(pickle.dumps(InputError([Problem("one", turn=3), Problem("two")])))
    assert type(error) is InputError and isinstance(error, ExtrinsicError)
    assert error.problems == (Problem("one", turn=3), Problem("two"))


def test_the_collector_raises_only_for_errors() -> None:
    """Strict, it takes repairs for errors, but not notes."""
    problems = Problems("a.json")
    problems.add("mended", severity="repair")
    problems.add("by the way", severity="note")
    problems.raise_errors()
    assert not problems.has_errors
    problems.add("wrong", path="other.json")
    with pytest.raises(InputError) as caught:
        problems.raise_errors()
    found = [(p.path, p.severity) for p in caught.value.problems]
    assert found == [("a.json", "repair"), ("a.json", "note"), ("other.json", "error")]
    problems.strict()
    assert [problem.severity for problem in problems] == ["error", "note", "error"]
    assert problems.has_errors


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("dstc2_dve", ["dstc2_dev", "dstc2_train"], "did you mean 'dstc2_dev'?"),
        ("zzz", ["b", "a"], "available: a, b"),
        ("JGA", ["jga", "gca"], "did you mean 'jga'?"),
        ("zzz", [], "none is available"),
        ("zzz", [f"n{i:02}" for i in range(42)], "n38, n39 and 2 more"),
    ],
)
def test_did_you_mean(name: str, known: list[str], hint: str) -> None:
    assert did_you_mean(name, known).endswith(hint)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "boolean True"),
        (7, "number 7"),
        ("x", "text 'x'"),
        ("x" * 1000, "text '" + "x" * 79 + "... (1,002 characters)"),
        ({}, "object with 0 entries"),
        ([1], "array with 1 entry"),
    ],
)
def test_found_values_are_named_by_their_json_kind(value: object, text: str) -> None:
    assert shown(value) == text


def test_what_a_terminal_would_obey_is_escaped() -> None:
    problem = Problem(
        "a key \x1b]0;title\x07", path="a\nb: all is well", session="\u202egpj", found="x\x9b2J"
    )
    assert str(problem) == (
        "a\\nb: all is well, session \\u202egpj: a key \\x1b]0;title\\x07 (found x\\x9b2J)"
    )


def test_no_message_grows_without_bound() -> None:
    huge = "x" * 1_000_000
    problem = Problem(huge, huge, huge, 0, huge, huge, huge)
    assert len(str(problem)) < 5_000
    assert all(len(str(part)) < 1_100 for part in astuple(problem))
    assert "(1,000,000 characters)" in str(problem)
    assert len(did_you_mean(huge, [huge + str(number) for number in range(100)])) < 5_000
    assert len(str(InputError([Problem(huge)] * 3_000))) < 2_000_000
