"""The bytes are the same wherever stages are computed, and after runs that were killed or are not alone."""

from __future__ import annotations

import fcntl
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from extrinsic.study.engine import GO_ON
from tests.running import assert_refused
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

needs_dask = pytest.mark.skipif(
    find_spec("distributed") is None, reason="dask is not installed: pip install 'extrinsic[dask]'"
)


def finish(config: Path, folder: Path, *options: object) -> str:
    """Run as a process of its own to the end; returns what it said on stderr."""
    process = start(config, folder, *options)
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    return errors


def test_two_processes_give_the_same_bytes(tiny: Study, tmp_path: Path) -> None:
    errors = finish(tiny.config, tmp_path / "run", "--n-jobs", "2")
    require_same(tiny.folder, tmp_path / "run")
    assert set(statuses(tmp_path / "run").values()) == {"computed"}
    lines = [line for line in errors.splitlines() if line.startswith("run ")]
    assert lines[0].startswith("run 1/24 ")
    assert "Traceback" not in errors
    assert "Warning" not in errors


@needs_dask
def test_a_local_dask_cluster_gives_the_same_bytes(small: Study, tmp_path: Path) -> None:
    errors = finish(small.config, tmp_path / "run", "--n-jobs", "2", "--engine", "dask", "--quiet")
    require_same(small.folder, tmp_path / "run")
    assert errors == ""


@needs_dask
@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_does_not_answer(
    small: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("extrinsic.study.engine.PATIENCE", 0.5)
    options = ["--engine", "dask", "--scheduler", "tcp://127.0.0.1:1"]
    outcome = run_in(small.config, tmp_path / "run", *options)
    assert_refused(outcome, "no Dask scheduler answers at tcp://127.0.0.1:1", "is it running", "Without")
    done(small.config, tmp_path / "run")  # nothing stands in the way of another try


def test_dask_that_is_not_installed(small: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    outcome = run_in(small.config, tmp_path / "run", "--engine", "dask")
    assert_refused(outcome, "needs dask.distributed", "pip install 'extrinsic[dask]'")


class Cluster:
    """A scheduler and its workers as processes, to be killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self.restart()

    def restart(self) -> None:
        """A new scheduler, and one worker."""
        file = self.folder / f"scheduler{len(self.processes)}.json"
        options = ("--port", "0", "--no-dashboard", "--no-show", "--scheduler-file", str(file))
        self.scheduler = self._start("dask_scheduler", *options)
        deadline = time.monotonic() + 300  # only a machine with much else to do needs a part of it
        while not file.exists() or not file.read_text():
            assert time.monotonic() < deadline, "no scheduler"
            time.sleep(0.1)
        self.address = json.loads(file.read_text())["address"]
        self.add_worker()

    def add_worker(self) -> None:
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(self.folder))
        self.worker = self._start("dask_worker", self.address, *options)

    def _start(self, module: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{module}", *options]
        quiet = subprocess.DEVNULL
        self.processes.append(subprocess.Popen(command, stdout=quiet, stderr=quiet))
        return self.processes[-1]

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    made.close()


@needs_dask
@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_somewhere_gives_the_same_bytes(small: Study, tmp_path: Path, cluster: Cluster) -> None:
    done(small.config, tmp_path / "run", "--engine", "dask", "--scheduler", cluster.address)
    require_same(small.folder, tmp_path / "run")


@needs_dask
def test_the_stages_of_a_lost_worker_run_again(small: Study, tmp_path: Path, cluster: Cluster) -> None:
    """Killed before the first stage, after it, and late; another worker takes over."""
    options = ("--engine", "dask", "--scheduler", cluster.address, "--n-jobs", "1")
    process = start(small.config, tmp_path / "run", *options)
    cluster.worker.kill()
    cluster.add_worker()
    for moment in ("run 1/", "run 5/"):
        wait_for(process, moment)
        cluster.worker.kill()
        cluster.add_worker()
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    require_same(small.folder, tmp_path / "run")


@needs_dask
def test_a_lost_scheduler_is_one_line_and_the_next_run_goes_on(
    small: Study, tmp_path: Path, cluster: Cluster
) -> None:
    for moment in ("run 1/", "run 2/"):
        process = start(small.config, tmp_path / "run", "--engine", "dask", "--scheduler", cluster.address)
        wait_for(process, moment)
        cluster.scheduler.kill()
        _, errors = process.communicate()
        assert process.returncode == 2, errors
        lines = [line for line in errors.splitlines() if not line.startswith("run ")]
        assert lines == [f"the Dask scheduler was lost; {GO_ON}"]
        cluster.restart()
    done(small.config, tmp_path / "run")
    assert "reused" in statuses(tmp_path / "run").values()
    require_same(small.folder, tmp_path / "run")


@needs_dask
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_without_workers_is_not_waited_for_for_ever(
    small: Study, tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("extrinsic.study.engine.PATIENCE_FOR_WORKERS", 1.0)
    cluster.worker.kill()
    cluster.worker.wait()
    options = ["--engine", "dask", "--scheduler", cluster.address]
    assert_refused(run_in(small.config, tmp_path / "run", *options), "no workers for 1 s", GO_ON)


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
