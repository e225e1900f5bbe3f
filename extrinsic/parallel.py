"""Work spread over processes: results come in the order of the tasks, whatever the number of processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from extrinsic.errors import UsageError
from extrinsic.plugins import load_plugins, loaded_plugins

R = TypeVar("R")


def run_in_parallel(
    function: Callable[..., R], tasks: Sequence[tuple[Any, ...]], n_jobs: int = 1
) -> Iterator[R]:
    """Yield function(*task) of each task, in order, as results arrive; -1: as many processes as processors.

    Every process computes with one BLAS thread: with two, the last bits of a result may differ.
    """
    if n_jobs == 0 or n_jobs < -1:
        raise UsageError("the number of processes must be -1 or at least 1", found=str(n_jobs))
    return _run(function, tasks, n_jobs)


def _run(function: Callable[..., R], tasks: Sequence[tuple[Any, ...]], n_jobs: int) -> Iterator[R]:
    """A generator: nothing runs before the first result is requested."""
    if n_jobs == 1 or len(tasks) == 1:
        for task in tasks:
            yield _pinned(function, task)
        return
    from joblib import Parallel, delayed
    from joblib.externals.loky.backend.reduction import dumps

    parallel = Parallel(n_jobs=n_jobs, return_as="generator", batch_size=1)
    plugins = loaded_plugins()
    with lost_processes():
        if plugins:
            # A task may contain functions of a plugin, so a process imports these before it unpacks the task.
            packed = (bytes(dumps((function, task))) for task in tasks)
            yield from parallel(delayed(_unpacked)(plugins, data) for data in packed)
        else:
            yield from parallel(delayed(_pinned)(function, task) for task in tasks)


def _unpacked(plugins: Sequence[str], data: bytes) -> Any:
    import pickle

    load_plugins(plugins)
    return _pinned(*pickle.loads(data))


@contextmanager
def lost_processes(then: str = "run the same command again") -> Iterator[None]:
    """A process that something else ended, for lack of memory mostly, is no error of ours."""
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    try:
        yield
    except TerminatedWorkerError:
        raise UsageError(f"a process was ended from outside, perhaps for lack of memory; {then}") from None


def _pinned(function: Callable[..., R], task: tuple[Any, ...]) -> R:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        return function(*task)
