"""Runs that are killed, interrupted, or not alone: the next one goes on to the same bytes."""

from __future__ import annotations

import fcntl
import random
import signal
import time
from pathlib import Path

import pytest

from tests.study.studies import (
    Study,
    copied,
    done,
    require_same,
    run_in,
    signal_group,
    start,
    statuses,
    wait_for,
)

KILLS = (1, 2)
"""Processes of the runs that are killed, one after the other in the same directory."""


def test_killed_runs_are_resumed_to_the_same_bytes(tiny: Study, tmp_path: Path) -> None:
    """Wherever the kill strikes: in a stage, between two, while a file is written."""
    folder, rng, hit = tmp_path / "run", random.Random(9), 0
    for n_jobs in KILLS:
        process = start(tiny.config, folder, "--n-jobs", n_jobs)
        wait_for(process, "run 2/")  # the first is stored, however slow the machine
        time.sleep(rng.uniform(0.0, 0.4))
        hit += process.poll() is None
        signal_group(process, signal.SIGKILL)
        process.communicate()
        assert process.returncode in (0, -signal.SIGKILL)
    assert hit
    done(tiny.config, folder)
    assert "reused" in statuses(folder).values()
    require_same(tiny.folder, folder)


def test_an_interrupt_leaves_a_directory_to_go_on_with(small: Study, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    process = start(small.config, folder, "--n-jobs", "2")
    wait_for(process, "run 2/")
    signal_group(process, signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert f"interrupted; what was done is in {folder}: run the same command again to continue" in errors
    done(small.config, folder)
    assert "reused" in statuses(folder).values()
    require_same(small.folder, folder)


def test_two_runs_in_one_directory_wait_for_each_other(small: Study, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    runs = [start(small.config, folder, "--n-jobs", "1") for _ in range(2)]
    errors = [process.communicate()[1] for process in runs]
    assert [process.returncode for process in runs] == [0, 0], errors
    require_same(small.folder, folder)
    assert set(statuses(folder).values()) == {"reused"}


def test_a_second_run_waits_and_says_so(small: Study, tmp_path: Path) -> None:
    study = copied(small, tmp_path / "run")
    with (study.folder / "stages" / ".lock").open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        process = start(study.config, study.folder, "--n-jobs", "1")
        assert process.stderr is not None
        lines = [process.stderr.readline() for _ in range(3)]  # it reads, plans, waits
        assert f"another run is at work in {study.folder}; waiting for it" in lines[-1]
        assert process.poll() is None
    _, errors = process.communicate()
    assert process.returncode == 0, errors


def test_an_interrupt_here_is_told(small: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While tables are written, too."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("extrinsic.study.runner.write_rows", interrupt)
    outcome = run_in(small.config, tmp_path / "run")
    assert outcome.code == 130
    assert "run the same command again" in outcome.errors
    monkeypatch.undo()
    done(small.config, tmp_path / "run")
    assert set(statuses(tmp_path / "run").values()) == {"reused"}
    require_same(small.folder, tmp_path / "run")
