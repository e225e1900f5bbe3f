"""The examples of docs/ run as they stand, and every field of a log is documented with one that is valid."""

from __future__ import annotations

import importlib.util
import json
import re
import tomllib
import warnings
from pathlib import Path
from typing import Any

import msgspec
import pytest

from extrinsic.cli.main import build_parser
from extrinsic.corpus.formats.jsonl_fields import FIELDS, LogLine
from extrinsic.corpus.formats.jsonl_lines import read_lines
from extrinsic.study.configuration.settings import CorpusTable

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "own_logs.md").read_text()
BLOCKS = re.findall(r"^```(\w*)(?: ([\w.]+))?\n(.*?)^```$", TEXT, flags=re.DOTALL | re.MULTILINE)
TABLE = re.findall(r"^\| `(\w+)` \| (.+?) \| `(.+)` \|$", TEXT, flags=re.MULTILINE)


def has(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for kind, name, text in BLOCKS:
        if kind == "jsonl":
            (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_field_has_an_example_that_is_valid() -> None:
    assert [name for name, _, _ in TABLE] == list(FIELDS)
    for name, _, example in TABLE:
        line = {"dialog": "x", "turn": 0, name: json.loads(example)}
        assert getattr(msgspec.convert(line, LogLine), name) is not None


def test_the_logs_are_logs(folder: Path) -> None:
    assert len(read_lines(folder / "calls.jsonl").lines) == 5
    assert len(read_lines(folder / "decisions.jsonl").lines) == 3


def test_python_examples(folder: Path) -> None:
    """One after the other; those that need an extra, only with it."""
    names: dict[str, Any] = {}
    ran = 0
    for kind, _, code in BLOCKS:
        needs = re.match(r"# needs (\w+)", code)
        if kind != "python" or (needs and not has(needs[1])):
            continue
        with warnings.catch_warnings(action="ignore" if needs else "error"):
            exec(compile(code, f"own_logs.md, example {ran + 1}", "exec"), names)
        ran += 1
    assert ran == 5 + has("minari") + has("d3rlpy")
    assert names["log"].returns().tolist() == [9.0, -5.0]
    assert names["again"].origin.actions == ("ask", "offer")


def test_configurations_and_commands() -> None:
    tables = [tomllib.loads(text) for kind, _, text in BLOCKS if kind == "toml"]
    assert [msgspec.convert(table["corpus"], CorpusTable).format for table in tables] == ["jsonl"]
    commands = [line.split() for kind, _, text in BLOCKS if not kind for line in text.splitlines()]
    ours = [command[1:] for command in commands if command and command[0] == "extrinsic"]
    assert [build_parser().parse_args(command).command for command in ours] == ["play"]
