"""TOML into structures; each mistake with its line and key."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from extrinsic.errors import InputError, UsageError
from extrinsic.typed_files import (
    TomlProblems,
    check_table,
    check_tree,
    line_of,
    parse_toml,
    read_toml,
    read_tree,
)


class Part(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    weight: float = 1.0


class Whole(msgspec.Struct, forbid_unknown_fields=True):
    title: str
    part: Part
    parts: tuple[Part, ...] = ()
    groups: dict[str, tuple[str, ...]] = {}


GOOD = """title = "t"

[part]
name = "one"
weight = 2

[[parts]]
name = "first"

[[parts]]
name = "second"
weight = 0.5

[groups]
left = ["a", "b"]
"""


def complaints(text: str, kind: type[msgspec.Struct] = Whole) -> list[str]:
    with pytest.raises(InputError) as caught:
        parse_toml(text.encode(), kind, "x.toml")
    assert all(problem.path == "x.toml" for problem in caught.value.problems)
    return [str(problem) for problem in caught.value.problems]


def test_a_good_file_becomes_the_structure(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(GOOD)
    whole = read_toml(tmp_path / "x.toml", Whole)
    assert whole == Whole("t", Part("one", 2.0), (Part("first"), Part("second", 0.5)), {"left": ("a", "b")})


@pytest.mark.parametrize(
    ("old", "new", "line", "key"),
    [
        ('title = "t"', "title = 7", 1, "title"),
        ("weight = 2", 'weight = "heavy"', 5, "part.weight"),
        ("weight = 2", "wieght = 2", 5, "part.wieght"),
        ("weight = 0.5", "weight = []", 12, "parts[1].weight"),
        ('name = "second"', "name = false", 11, "parts[1].name"),
        ('[part]\nname = "one"', "[part]", 3, "part.name"),
        ('left = ["a", "b"]', "left = 3", 15, "groups.left"),
        ('left = ["a", "b"]', 'left = ["a", 3]', 15, "groups.left"),
    ],
)
def test_a_mistake_is_placed_by_line_and_key(old: str, new: str, line: int, key: str) -> None:
    (text,) = complaints(GOOD.replace(old, new, 1))
    assert f"line {line}, key {key}" in text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"title = \n", "malformed"),
        (b'title = "a"\ntitle = "b"\n', "line 2"),
        (b"\xff\xfe", "not text"),
        (b"\xef\xbb\xbftitle = 1", "byte-order mark"),
        (b"a = " + b"[" * 5000 + b"]" * 5000, "nested"),
        (b"a = " + b"9" * 5000, "digits"),
    ],
)
def test_what_is_no_toml(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_toml(data, Whole, "x.toml")


def test_lines_of_dotted_and_inline_keys() -> None:
    text = 'a.b = 1\n[c]\nd = {e = 1,\n     f = 2}\n["g h"]\n'
    assert line_of(text, ("c", "d")) == "line 3"
    assert line_of(text, ("c", "d", "e")) == "line 3"
    assert line_of(text, ("g h",)) == "line 5"
    assert line_of(text, ("nowhere",)) == "line 1"


def test_a_tree_has_what_the_file_says_and_no_defaults(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(GOOD)
    tree, text = read_tree(path)
    assert text == GOOD
    assert tree["parts"] == [{"name": "first"}, {"name": "second", "weight": 0.5}]
    check_tree(tree, Whole, text, str(path))
    with pytest.raises(InputError, match="did you mean 'weight'"):
        check_tree({**tree, "part": {"name": "one", "wieght": 2}}, Whole, "", "x.toml")


class Shelf(msgspec.Struct, forbid_unknown_fields=True):
    books: dict[str, Part] = {}


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        (
            'titel = "t"\n[part]\nweight = "x"\n',
            Whole,
            [
                "line 1, key titel: unknown; did you mean 'title'?",
                "key title: missing",
                "line 3, key part.weight",
                "line 2, key part.name: missing",
            ],
        ),
        (
            'title = "t"\npart = "x"\n',
            Whole,
            ["line 2, key part: wrong kind (expected a table, found text 'x')"],
        ),
        (
            '[books.a]\nname = "one"\n[books.b]\nname = 3\nwait = 1\n',
            Shelf,
            ["line 5, key books.b.wait: unknown; did you mean", "line 4, key books.b.name"],
        ),
    ],
)
def test_all_mistakes_at_once(text: str, kind: type[msgspec.Struct], said: list[str]) -> None:
    found = complaints(text, kind)
    assert len(found) == len(said)
    assert all(any(part in problem for problem in found) for part in said), found


@dataclass(frozen=True)
class Range:
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise UsageError("low lies above high")


class Ranges(msgspec.Struct, forbid_unknown_fields=True):
    ranges: tuple[Range, ...] = ()


def test_what_a_structure_refuses_and_whose_a_key_is() -> None:
    """A dataclass checks its fields together, once each is right; an unknown key may have a better hint."""
    tree = {"ranges": [{"low": 2.0}, {"low": "x", "high": -1.0}, {"width": 3.0}]}
    problems = TomlProblems()
    check_table(tree, Ranges, (), problems, lambda keys: "measured" if keys[-1] == "width" else None)
    assert [problem.message for problem in problems] == [
        "key ranges[0]: low lies above high",
        "key ranges[1].low: wrong kind",
        "key ranges[2].width: unknown; measured",
    ]
