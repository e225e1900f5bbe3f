"""Undisturbed runs of two studies, for all tests to look at and to copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.running import run
from tests.study.studies import DISK, SMALL, WORLDS, Study, done, write_study


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Study:
    root = tmp_path_factory.mktemp("tiny")
    return done(write_study(root), root / "run")


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A smaller one, for tests that have to compute parts of it again."""
    root = tmp_path_factory.mktemp("small")
    return done(write_study(root, SMALL), root / "run")


@pytest.fixture(scope="session")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Simulated calls on disk, with files of three trackers, two of which are one and the same."""
    root = tmp_path_factory.mktemp("disk")
    (root / "worlds.toml").write_text(WORLDS)
    assert run("simulate", "--config", root / "worlds.toml", "--output", root / "calls").code == 0
    (root / "files").mkdir()
    for name, tracker in (("first", "hwu"), ("other", "vote")):
        for part in ("train", "test"):
            outcome = run(
                "track",
                "--format",
                "dstc1",
                "--corpus",
                root / "calls",
                "--dataset",
                f"a_{part}",
                "--tracker",
                tracker,
                "--n-jobs",
                "1",
                "--output",
                root / "files" / f"{name}.{part}.json",
            )
            assert outcome.code == 0, outcome.text
    for part in ("train", "test"):
        data = (root / "files" / f"first.{part}.json").read_bytes()
        (root / "files" / f"second.{part}.json").write_bytes(data)
    (root / "study.toml").write_text(DISK)
    return root
