"""Where stages are computed: processes of this machine (joblib), or a Dask cluster.

A bundle of stages goes to one process, since they share a tracker and its dialogs. Results come back as the
bytes that are stored, in any order; their contents do not depend on which process computed them.
"""

from __future__ import annotations

import logging
import signal
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from extrinsic.errors import ExtrinsicError, Problem, UsageError, did_you_mean, require_type
from extrinsic.parallel import lost_processes
from extrinsic.plugins import load_plugins, problems_of_plugins
from extrinsic.study.store import StageKey, Task
from extrinsic.study.tracker_inputs import taken_warnings

if TYPE_CHECKING:
    from dask.distributed import Client
    from joblib.externals.loky import ProcessPoolExecutor

ENGINES = ("joblib", "dask")
PATIENCE = 30.0
"""Seconds to wait for a scheduler."""

PATIENCE_FOR_WORKERS = 120.0
POLL, LEAVE = 2.0, 2.0
GO_ON = "what was done is stored: run the same command again to go on"


@dataclass(frozen=True)
class Done:
    """A computed stage: its result as bytes, or the problems of its input; and what was suspicious in it."""

    key: StageKey
    label: str
    data: bytes
    seconds: float
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Engine:
    """Which engine, how many processes (-1: one per processor), and where a Dask scheduler listens."""

    name: str = "joblib"
    n_jobs: int = -1
    scheduler: str | None = None

    def __post_init__(self) -> None:
        if self.name not in ENGINES:
            raise UsageError(f"there is no engine {self.name!r}; {did_you_mean(self.name, ENGINES)}")
        require_type("n_jobs", self.n_jobs, "a whole number", int)
        if self.n_jobs == 0 or self.n_jobs < -1:
            raise UsageError("the number of processes must be -1 or at least 1", found=str(self.n_jobs))
        if self.scheduler and self.name != "dask":
            raise UsageError("a scheduler goes with the engine dask: add --engine dask")

    @contextmanager
    def workers(self, plugins: Sequence[str] = ()) -> Iterator[Workers]:
        """The processes, for as long as they are needed; `plugins`: files that each imports first."""
        if self.name == "dask":
            with _dask(self) as client:
                yield Workers(tuple(plugins), client=client)
        elif self.n_jobs == 1:
            yield Workers(tuple(plugins))
        else:
            from joblib import cpu_count

            n_processes = self.n_jobs if self.n_jobs > 0 else cpu_count()
            with _processes(n_processes) as pool:
                yield Workers(tuple(plugins), n_processes, pool)


@dataclass(frozen=True)
class Workers:
    """This process alone, or processes of this machine, or those of the cluster of a Dask client."""

    plugins: tuple[str, ...] = ()
    n_processes: int = 1
    pool: ProcessPoolExecutor | None = None
    client: Client | None = None

    @property
    def count(self) -> int:
        """How many processes there are; at least 1, since a cluster may still be waiting for its own."""
        if self.client is not None:
            return max(1, sum(int(n) for n in self.client.nthreads().values()))
        return self.n_processes

    def run(self, bundles: Iterable[Sequence[Task]]) -> Iterator[Done]:
        """Every stage of every bundle, as they finish; a bundle is taken when a process is free."""
        if self.client is not None:
            yield from run_on_cluster(self.client, bundles, self.plugins)
        elif self.pool is not None:
            yield from self._run_here(self.pool, bundles)
        else:
            for bundle in bundles:
                yield from run_bundle(bundle, self.plugins)

    def _run_here(self, pool: ProcessPoolExecutor, bundles: Iterable[Sequence[Task]]) -> Iterator[Done]:
        waiting, running = iter(bundles), set[Any]()
        with lost_processes(GO_ON):
            while True:
                with _interrupts_withheld():
                    for bundle in islice(waiting, 2 * self.count - len(running)):
                        running.add(pool.submit(run_bundle, bundle, self.plugins))
                if not running:
                    return
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield from future.result()


@contextmanager
def _processes(n_processes: int) -> Iterator[ProcessPoolExecutor]:
    """A pool for one run. The pool that joblib's callers share ends processes that idle for minutes, and may
    lose what it is given at that moment; this one keeps them until the run ends, and no longer.
    """
    from joblib.externals.loky import ProcessPoolExecutor

    pool, is_done = ProcessPoolExecutor(n_processes), False
    try:
        yield pool
        is_done = True
    finally:
        pool.shutdown(kill_workers=not is_done)


def run_on_cluster(
    client: Client, bundles: Iterable[Sequence[Task]], plugins: Sequence[str]
) -> Iterator[Done]:
    """The stages of a Dask cluster's workers.

    A bundle is one task, and what a lost worker had is computed by another one. Without the scheduler, or
    without any worker for a while, the run ends; what is stored stays.
    """
    from dask.distributed import CancelledError, KilledWorker, wait
    from dask.distributed import TimeoutError as NothingDone
    from distributed.comm import CommClosedError

    waiting, running = iter(bundles), set[Any]()
    worked = time.monotonic()
    try:
        while True:
            threads = sum(client.nthreads().values())
            worked = time.monotonic() if threads else worked
            if time.monotonic() - worked > PATIENCE_FOR_WORKERS:
                raise UsageError(
                    f"the Dask cluster has had no workers for {PATIENCE_FOR_WORKERS:.0f} s; {GO_ON}"
                )
            for bundle in islice(waiting, max(0, 2 * threads - len(running))):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # that what travels is large
                    running.add(client.submit(run_bundle, bundle, plugins, pure=False))
            if not running and threads:
                return
            if not running:
                time.sleep(POLL / 10)
                continue
            try:
                finished = wait(running, timeout=POLL, return_when="FIRST_COMPLETED").done
            except NothingDone:
                continue
            for future in finished:
                running.discard(future)
                yield from future.result()
    except KilledWorker as error:
        raise UsageError(
            f"a stage ended every worker that began it, perhaps for lack of memory; {GO_ON} ({error})"
        ) from None
    except (CancelledError, OSError, RuntimeError) as error:
        # An error of a stage, unless the connection is lost or the client has closed itself.
        if client.status == "running" and not isinstance(error, CancelledError | CommClosedError):
            raise
        raise UsageError(f"the Dask scheduler was lost; {GO_ON}") from error
    finally:
        with suppress(Exception):
            client.cancel(list(running))


def run_bundle(bundle: Sequence[Task], plugins: Sequence[str] = ()) -> list[Done]:
    """Compute stages here, with one BLAS thread: with two, the last bits of a result may differ.

    What a stage would spread over processes stays in this one: on a cluster, parts of it would be tasks of
    their own, and be lost with any worker.
    """
    from joblib import parallel_config
    from threadpoolctl import threadpool_limits

    load_plugins(plugins)
    done = []
    with threadpool_limits(limits=1, user_api="blas"), parallel_config(backend="sequential"):
        for task in bundle:
            begin = time.perf_counter()
            problems: tuple[Problem, ...] = ()
            try:
                data = task.run().encode(task.key)
            except ExtrinsicError as error:
                data, problems = b"", error.problems
            except Exception as error:
                data, problems = b"", problems_of_plugins(plugins, error)
                if not problems:
                    raise
            seconds = time.perf_counter() - begin
            done.append(Done(task.key, task.label, data, seconds, problems, taken_warnings()))
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
def _dask(engine: Engine) -> Iterator[Client]:
    """A client of a scheduler, or of a cluster on this machine."""
    try:
        from dask.distributed import Client, LocalCluster
    except ImportError:
        raise UsageError("the engine dask needs dask.distributed: pip install 'extrinsic[dask]'") from None
    # A worker that takes seconds to end, or a lost connection, is told in our words or not at all.
    for name in [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    cluster: Any = None
    if engine.scheduler is None:
        workers = None if engine.n_jobs == -1 else engine.n_jobs
        quiet = {"dashboard_address": None, "silence_logs": logging.CRITICAL}
        with _interrupts_withheld():
            cluster = LocalCluster(n_workers=workers, threads_per_worker=1, **quiet)
    try:
        client = Client(cluster or engine.scheduler, timeout=PATIENCE)
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(
            f"no Dask scheduler answers at {engine.scheduler} within {PATIENCE:.0f} s; is it running and "
            f"reachable from here? Without --scheduler, a cluster is made on this machine ({error})"
        ) from None
    try:
        yield client
    finally:
        with suppress(Exception):  # one whose scheduler is gone cannot say goodbye
            client.close(timeout=LEAVE)
        if cluster is not None:
            cluster.close()
