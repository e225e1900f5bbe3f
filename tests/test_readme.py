"""The README's examples run as they stand."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from extrinsic.cli.main import build_parser
from extrinsic.domain import load_domain
from extrinsic.errors import Problems
from extrinsic.registry import LEARNERS, METRICS, REWARDS, TRACKERS
from extrinsic.study.configuration.choices import check_choices, gather_options
from extrinsic.study.configuration.settings import StudySettings
from extrinsic.toml_files import check_tree
from tests.real_data import find_data

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language ("" for commands)."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)
    return [text for kind, text in found if kind == language]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the examples name."""
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    data = find_data()
    if data is not None:
        given = {
            "dstc2_traindev.tar.gz": data / "dstc2" / "dstc2_traindev.tar.gz",
            "focus.dev.json.gz": data / "dstc2" / "trackers" / "focus.dev.json.gz",
            "hwu.dev.json.gz": data / "dstc2" / "trackers" / "hwu.dev.json.gz",
            "som_dst.json.gz": data / "multiwoz" / "som_dst_100.json.gz",
        }
        for name, path in given.items():
            (tmp_path / name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_python_examples(folder: Path) -> None:
    names: dict[str, Any] = {}
    ran = 0
    try:
        for code in blocks("python"):
            if "read_corpus(" in code and find_data() is None:
                exec("import extrinsic", names)
                continue
            exec(compile(code, f"README.md, example {ran + 1}", "exec"), names)
            ran += 1
    finally:
        TRACKERS.unregister("stubborn")
        METRICS.unregister("nearly_right")
        LEARNERS.unregister("imitate")
        REWARDS.unregister("brevity")
    assert ran >= 5
    assert set(names) >= {"best", "value", "run"}
    assert names["best"].r > 0.5


def test_python_examples_do_not_need_more_than_ten_lines_for_a_thing_of_ones_own() -> None:
    own = [code for code in blocks("python") if ".register(" in code]
    assert len(own) == 4
    for code in own:
        body = [
            line for line in code.splitlines() if line.strip() and not line.startswith(("from", "import"))
        ]
        assert len(body) <= 10


def test_the_domain_is_one(folder: Path) -> None:
    text = next(block for block in blocks("toml") if 'name = "pizza"' in block)
    (folder / "pizza.toml").write_text(text)
    domain = load_domain(str(folder / "pizza.toml"))
    assert domain.predicate_names == ("bye", "offer", "confirm", "request")


def test_configuration_examples_have_only_keys_that_exist() -> None:
    for table in ("[corpus]", "[policy]", "[grid]"):
        text = next(block for block in blocks("toml") if table in block)
        tree = gather_options({"name": "x", **tomllib.loads(text)})
        check_tree(tree, StudySettings, text, "README.md")
        problems = Problems("README.md")
        check_choices(msgspec.convert(tree, StudySettings), text, problems)
        problems.raise_errors()


def test_commands_exist_with_their_options() -> None:
    parser = build_parser()
    commands = [
        line.partition("#")[0].split()
        for block in blocks("")
        for line in block.splitlines()
        if line.startswith("extrinsic ") and "..." not in line
    ]
    assert len(commands) > 12
    for command in commands:
        arguments = [word.strip("'") for word in command[1:]]
        assert parser.parse_args(arguments).command == arguments[0], command
