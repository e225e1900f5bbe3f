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
from tests.study.studies import done

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "own_logs.md").read_text()
FENCED = re.compile(r"^```(\w*)(?: ([\w.]+))?\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
BLOCKS = FENCED.findall(TEXT)
STATE_BLOCKS = FENCED.findall((ROOT / "docs" / "states.md").read_text())
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


def test_commands_about_states_are_commands() -> None:
    lines = [line for kind, _, text in STATE_BLOCKS if not kind for line in text.splitlines()]
    assert len(lines) >= 6
    for line in lines:
        build_parser().parse_args(line.replace("...", "x").split()[1:])


def test_the_example_with_a_judge(tmp_path: Path) -> None:
    """Grades join our metrics; over systems and over dialogs, JGA follows success and the judge does not."""
    for _, name, text in STATE_BLOCKS:
        if name:
            (tmp_path / name).write_text(text)
    study = done(tmp_path / "judge.toml", tmp_path / "run", "--set", "correlation.permutations=99")
    r = {
        row["metric"]: float(row["r"])
        for row in study.rows("correlations")
        if (row["trackers"], row["scope"], row["coefficient"]) == ("all", "within", "pearson") and row["r"]
    }
    grades = {
        row["tracker"]: row["value"] for row in study.rows("intrinsic") if row["metric"] == "own(judge)"
    }
    assert float(grades["polite"]) == pytest.approx(14 / 3)
    assert r["jga"] == pytest.approx(1.0)
    assert abs(r["own(judge)"]) < 0.2
    over_dialogs = {
        (row["level"], row["metric"]): float(row["r"])
        for row in study.rows("swap")
        if row["trackers"] == "all" and row["r"]
    }
    for level in ("within", "dialog"):
        assert over_dialogs[level, "jga"] == pytest.approx(1.0)
        assert over_dialogs[level, "own(judge)"] < 0.7
