"""Where stages are computed: processes of this machine (joblib), or a Dask cluster.

A bundle of stages goes to one process, since they share a tracker and its dialogs. Results come back as the
bytes that are stored, in any order; their contents do not depend on which process computed them.
"""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from extrinsic.errors import ExtrinsicError, Problem, UsageError, did_you_mean
from extrinsic.plugins import load_plugins, problems_of_plugins
from extrinsic.study.stages.store import Results, StageKey, Store
from extrinsic.study.stages.task import Task

ENGINES = ("joblib", "dask")
LOCAL = "loky"
"""joblib's processes of this machine."""

PATIENCE = 10.0
"""Seconds to wait for a scheduler."""


@dataclass(frozen=True)
class Done:
    """A computed stage: its result as bytes, or the problems of its input."""

    key: StageKey
    label: str
    data: bytes
    seconds: float
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class Engine:
    """Which engine, how many processes (-1: one per processor), and where a Dask scheduler listens."""

    name: str = "joblib"
    n_jobs: int = -1
    scheduler: str | None = None

    def __post_init__(self) -> None:
        if self.name not in ENGINES:
            raise UsageError(f"there is no engine {self.name!r}; {did_you_mean(self.name, ENGINES)}")
        if self.n_jobs == 0 or self.n_jobs < -1:
            raise UsageError("the number of processes must be -1 or at least 1", found=str(self.n_jobs))
        if self.scheduler and self.name != "dask":
            raise UsageError("a scheduler goes with the engine dask: add --engine dask")

    @contextmanager
    def workers(self, plugins: Sequence[str] = ()) -> Iterator[Workers]:
        """The processes, for as long as they are needed; `plugins`: files that each imports first."""
        if self.name == "dask":
            with _dask(self) as backend:
                yield Workers(self.n_jobs, backend, tuple(plugins))
        else:
            yield Workers(self.n_jobs, LOCAL, tuple(plugins))


@dataclass(frozen=True)
class Workers:
    n_jobs: int
    backend: str
    plugins: tuple[str, ...] = ()

    def run(self, bundles: Iterable[Sequence[Task]], store: Store) -> Iterator[Done]:
        """Every stage of every bundle, as they finish; a bundle is taken when a process is free."""
        if self.backend == LOCAL and self.n_jobs == 1:
            for bundle in bundles:
                yield from run_bundle(bundle, store, self.plugins)
            return
        from joblib import Parallel, delayed, parallel_config

        with parallel_config(backend=self.backend):
            parallel = Parallel(n_jobs=self.n_jobs, return_as="generator_unordered", batch_size=1)
            calls = (
                delayed(run_bundle)(bundle, self._results(bundle, store), self.plugins) for bundle in bundles
            )
            with _interrupts_withheld():
                results = parallel(calls)
            for done in results:
                yield from done

    def _results(self, bundle: Sequence[Task], store: Store) -> Results:
        """Where a process reads earlier results; another machine may not see the run's directory."""
        if self.backend == LOCAL:
            return store
        return store.loaded(key for task in bundle for key in task.inputs)


def run_bundle(bundle: Sequence[Task], results: Results, plugins: Sequence[str] = ()) -> list[Done]:
    """Compute stages here, with one BLAS thread: with two, the last bits of a result may differ."""
    from threadpoolctl import threadpool_limits

    load_plugins(plugins)
    done = []
    with threadpool_limits(limits=1, user_api="blas"):
        for task in bundle:
            begin = time.perf_counter()
            problems: tuple[Problem, ...] = ()
            try:
                data = task.run(results).encode(task.key)
            except ExtrinsicError as error:
                data, problems = b"", error.problems
            except Exception as error:
                data, problems = b"", problems_of_plugins(plugins, error)
                if not problems:
                    raise
            done.append(Done(task.key, task.label, data, time.perf_counter() - begin, problems))
    return done


@contextmanager
def _interrupts_withheld() -> Iterator[None]:
    """Processes that begin meanwhile never see Ctrl-C, which a terminal sends to all: this one ends them.

    They inherit the mask. Otherwise one that has just begun prints a traceback of its imports.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _dask(engine: Engine) -> Iterator[str]:
    """A client of a scheduler, or of a cluster on this machine."""
    try:
        from dask.distributed import Client, LocalCluster
    except ImportError:
        raise UsageError("the engine dask needs dask.distributed: pip install 'extrinsic[dask]'") from None
    cluster: Any = None
    if engine.scheduler is None:
        workers = None if engine.n_jobs == -1 else engine.n_jobs
        # A worker that takes seconds to end is no concern of the user's.
        quiet = {"dashboard_address": None, "silence_logs": logging.ERROR}
        cluster = LocalCluster(n_workers=workers, threads_per_worker=1, **quiet)
    try:
        client = Client(cluster or engine.scheduler, timeout=PATIENCE)
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(
            f"no Dask scheduler answers at {engine.scheduler} within {PATIENCE:.0f} s; is it running and "
            f"reachable from here? Without --scheduler, a cluster is made on this machine ({error})"
        ) from None
    try:
        yield "dask"
    finally:
        client.close()
        if cluster is not None:
            cluster.close()
