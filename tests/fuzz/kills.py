"""Runs that are killed at random moments, again and again: the end is what an undisturbed run leaves."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random

from tests.fuzz.outcomes import end_of, start_copy
from tests.running import run
from tests.study.studies import SMALL, require_same, write_study

ENGINES = {"n_jobs 2": ("--n-jobs", "2"), "Dask": ("--n-jobs", "2", "--engine", "dask")}
KILLS_A_RUN, POLL = 5, 0.1
OUTCOMES = ("run", "report", "too late", "same bytes", "differ")
"""What a kill struck, or that it came too late; and what the next run left in the directory."""


def kill_runs(root: Path, kills: int, seed: int, counts: Counter[tuple[str, str]]) -> None:
    """Count by engine what the kills struck, and what an undisturbed run then made of each directory."""
    config, whole = write_study(root, SMALL), root / "whole"
    # Here, so that every copy of this process has imported everything: it is the run that is struck.
    outcome = run("run", config, "--output", whole, "--n-jobs", "1", "--quiet")
    assert outcome.code == 0, outcome.text
    begin = time.process_time()
    assert run("report", whole, "--output", root / "page.html", "--quiet").code == 0
    seconds = {"report": time.process_time() - begin}
    struck = 0
    for number in itertools.count():
        engine, folder = list(ENGINES)[number % len(ENGINES)], root / f"run{number}"
        command = ("run", str(config), "--output", str(folder), "--quiet", *ENGINES[engine])
        if struck >= kills:
            return
        if engine not in seconds:
            seconds[engine] = _require_same(command, whole, folder)
            shutil.rmtree(folder)
        rng = Random(f"{seed} {number}")
        for _ in range(min(KILLS_A_RUN, kills - struck)):
            is_done = (folder / "report.html").exists()
            process = _start(("report", str(folder), "--quiet") if is_done else command)
            moment = rng.uniform(0.0, seconds["report" if is_done else engine])
            try:
                while session_seconds(process) < moment and _is_running(process):
                    time.sleep(POLL)
            finally:
                strike = _killed(process, "report" if is_done else "run")
            counts[engine, strike] += 1
            struck += strike != "too late"
        try:
            _require_same(command, whole, folder)
            counts[engine, "same bytes"] += 1
        except AssertionError as error:
            counts[engine, "differ"] += 1
            print(f"after kills, {engine}, directory {number} of seed {seed}: {error}", flush=True)


def _start(command: tuple[str, ...]) -> int:
    """In a session of its own, whose processes can all be killed at once."""
    return start_copy(command, os.open(os.devnull, os.O_WRONLY), os.setsid)


def _killed(process: int, what: str) -> str:
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:  # killed before it had a session of its own
        os.kill(process, signal.SIGKILL)
    return what if end_of(process) == -signal.SIGKILL else "too late"


def _require_same(command: tuple[str, ...], whole: Path, folder: Path) -> float:
    """Run to the end, and compare; returns the processor time that all processes took."""
    process, seconds = _start(command), 0.0
    while _is_running(process):
        seconds = session_seconds(process)
        time.sleep(POLL)
    code = end_of(process)
    with suppress(ProcessLookupError):  # a copy ends without ending its idle workers
        os.killpg(process, signal.SIGKILL)
    assert code == 0, "the run does not go on"
    require_same(whole, folder)
    return seconds


def _is_running(process: int) -> bool:
    """Whether it has not ended; how it ended stays to be asked for."""
    return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


def session_seconds(session: int) -> float:
    """Processor time of a session's processes: a kill strikes the same part of a run on a busy machine."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just ended
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")
