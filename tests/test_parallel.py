"""Work spread over processes."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from extrinsic.errors import InputError, UsageError
from extrinsic.parallel import run_in_parallel
from extrinsic.plugins import load_plugins
from extrinsic.registry import TRACKERS


def slow_square(number: int) -> tuple[int, int]:
    """The first tasks take longest."""
    time.sleep(0.02 * (4 - number))
    return number, number**2


def refuse(number: int) -> int:
    if number == 1:
        raise InputError("no such number", path="somewhere", found=str(number))
    return number


def process(number: int) -> int:
    return os.getpid() + 0 * number


def threads(_: int) -> list[int]:
    import numpy as np

    np.ones((2, 2)) @ np.ones((2, 2))
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def end_itself(number: int) -> None:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)


TASKS = [(number,) for number in range(4)]


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_results_come_in_the_order_of_the_tasks(n_jobs: int) -> None:
    assert list(run_in_parallel(slow_square, TASKS, n_jobs)) == [(n, n**2) for n in range(4)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_comes_through_with_its_problems(n_jobs: int) -> None:
    with pytest.raises(InputError) as caught:
        list(run_in_parallel(refuse, TASKS, n_jobs))
    (problem,) = caught.value.problems
    assert (problem.message, problem.path, problem.found) == ("no such number", "somewhere", "1")


@pytest.mark.filterwarnings("ignore")
def test_a_killed_process_is_said() -> None:
    """As when the system ends it for lack of memory: in `simulate` and `track` as in a study."""
    with pytest.raises(UsageError, match=r"a process was ended from outside.*run the same command again"):
        list(run_in_parallel(end_itself, TASKS, 2))


def test_a_plugin_that_only_other_processes_cannot_import(tmp_path: Path) -> None:
    """Two files that register one name: here the first was taken back in between, there it is not."""
    files = [tmp_path / "first.py", tmp_path / "second.py"]
    for file in files:
        file.write_text(
            "from extrinsic.registry import TRACKERS\n\nTRACKERS.register('mine', lambda: None, 'x')\n"
        )
        load_plugins([str(file)])
        TRACKERS.unregister("mine")
    with pytest.raises(InputError, match=r"second\.py: line 3 cannot be executed: .*'mine'.*twice"):
        list(run_in_parallel(slow_square, TASKS, 2))


@pytest.mark.parametrize("n_jobs", [0, -2, -5])
def test_a_number_of_processes_that_makes_no_sense(n_jobs: int) -> None:
    with pytest.raises(UsageError, match="number of processes"):
        run_in_parallel(refuse, TASKS, n_jobs)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_one_thread_each(n_jobs: int) -> None:
    for counts in run_in_parallel(threads, TASKS[:2], n_jobs):
        assert counts
        assert set(counts) == {1}
