"""The size of the house, as a ratchet: after a step it is set to what was reached."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import extrinsic

PACKAGE = Path(extrinsic.__file__).parent
TESTS = Path(__file__).parent
LINES, STATEMENTS, MODULES, TEST_LINES = 39_517, 24_319, 195, 29_996
FOLDERS = {
    ".": 2_612,
    "corpus": 7_131,
    "trackers": 1_595,
    "simulation": 4_496,
    "metrics": 3_496,
    "outcomes": 1_088,
    "policy": 3_862,
    "value": 1_204,
    "verdict": 3_502,
    "study": 6_002,
    "report": 2_437,
    "cli": 2_092,
}
"""Lines; `.` are the modules of the root."""


def sources(folder: Path, pattern: str = "**/*.py") -> list[str]:
    return [path.read_text(encoding="utf-8") for path in folder.glob(pattern)]


def lines_of(texts: list[str]) -> int:
    return sum(len(text.splitlines()) for text in texts)


def test_the_package_is_within_its_budget() -> None:
    texts = sources(PACKAGE)
    statements = sum(isinstance(node, ast.stmt) for text in texts for node in ast.walk(ast.parse(text)))
    size = lines_of(texts), statements, len(texts)
    budget = LINES, STATEMENTS, MODULES
    assert all(reached <= allowed for reached, allowed in zip(size, budget, strict=True)), size


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_is_within_its_budget(folder: str) -> None:
    texts = sources(PACKAGE, "*.py") if folder == "." else sources(PACKAGE / folder)
    assert lines_of(texts) <= FOLDERS[folder]


def test_every_folder_has_a_budget() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and list(path.rglob("*.py"))}
    assert {*folders, "."} == set(FOLDERS)


def test_the_tests_are_within_theirs() -> None:
    assert lines_of(sources(TESTS)) <= TEST_LINES
