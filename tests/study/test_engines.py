"""Wherever stages are computed, the bytes are the same: one process, two, a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from extrinsic.errors import UsageError
from extrinsic.study.engine import Engine
from tests.running import assert_refused
from tests.study.studies import Study, require_same, run_in, start, statuses

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


@pytest.fixture
def scheduler() -> Iterator[str]:
    from dask.distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


@needs_dask
@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_somewhere_gives_the_same_bytes(small: Study, tmp_path: Path, scheduler: str) -> None:
    outcome = run_in(small.config, tmp_path / "run", "--engine", "dask", "--scheduler", scheduler)
    assert outcome.code == 0, outcome.text
    require_same(small.folder, tmp_path / "run")


@needs_dask
@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_does_not_answer(
    small: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("extrinsic.study.engine.PATIENCE", 0.5)
    options = ["--engine", "dask", "--scheduler", "tcp://127.0.0.1:1"]
    outcome = run_in(small.config, tmp_path / "run", *options)
    assert_refused(outcome, "no Dask scheduler answers at tcp://127.0.0.1:1", "is it running", "Without")
    # Nothing stands in the way of another try.
    assert run_in(small.config, tmp_path / "run").code == 0


def test_dask_that_is_not_installed(small: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    outcome = run_in(small.config, tmp_path / "run", "--engine", "dask")
    assert_refused(outcome, "needs dask.distributed", "pip install 'extrinsic[dask]'")


@pytest.mark.parametrize(
    ("name", "n_jobs", "scheduler", "said"),
    [
        ("dsk", 1, None, "did you mean 'dask'?"),
        ("joblib", 0, None, "-1 or at least 1"),
        ("joblib", -2, None, "-1 or at least 1"),
        ("joblib", 1, "tcp://127.0.0.1:1", "--engine dask"),
    ],
)
def test_engines_that_make_no_sense(name: str, n_jobs: int, scheduler: str | None, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Engine(name, n_jobs, scheduler)
