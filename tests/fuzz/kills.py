"""Runs that are killed at random moments, again and again: the end is what an undisturbed run leaves."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from pathlib import Path
from random import Random

from tests.fuzz.outcomes import end_of, start_copy
from tests.running import run
from tests.study.studies import SMALL, require_same, write_study

KILLS_A_RUN, WAITED = 10, 900.0
ENGINES = {"n_jobs 2": ("--n-jobs", "2"), "Dask": ("--n-jobs", "2", "--engine", "dask")}
OUTCOMES = ("run", "report", "too late", "same bytes", "differ")
"""What was killed, or had ended before; and what the next run left in the directory."""


def kill_runs(root: Path, kills: int, seed: int, counts: Counter[tuple[str, str]]) -> None:
    """Count by engine: what the kills struck, and what an undisturbed run then made of each directory."""
    config = write_study(root, SMALL)
    # Here, so that every copy of this process has imported everything: it is the run that is struck.
    whole = run("run", config, "--output", root / "whole", "--n-jobs", "1", "--quiet")
    assert whole.code == 0, whole.text
    seconds: dict[str, float] = {}
    for number in range(-(-kills // KILLS_A_RUN)):
        engine, folder = list(ENGINES)[number % len(ENGINES)], root / f"run{number}"
        rng = Random(f"{seed} {number}")
        command = ("run", str(config), "--output", str(folder), "--quiet", *ENGINES[engine])
        if engine not in seconds:
            begin = time.monotonic()
            _require_same(command, root / "whole", folder)
            seconds[engine] = time.monotonic() - begin
            folder = folder.with_name(f"{folder.name} killed")
            command = (*command[:3], str(folder), *command[4:])
        for _ in range(min(KILLS_A_RUN, kills - number * KILLS_A_RUN)):
            is_report = (folder / "report.html").exists() and rng.random() < 0.5
            process = _start(("report", str(folder), "--quiet") if is_report else command)
            time.sleep(rng.uniform(0.0, seconds[engine]) * (0.5 if is_report else 1.0))
            counts[engine, _killed(process, "report" if is_report else "run")] += 1
        try:
            _require_same(command, root / "whole", folder)
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


def _require_same(command: tuple[str, ...], whole: Path, folder: Path) -> None:
    assert end_of(_start(command), WAITED) == 0, "the run does not go on"
    require_same(whole, folder)
