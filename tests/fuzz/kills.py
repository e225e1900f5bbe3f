"""Runs that are killed at random moments, again and again: the end is what an undisturbed run leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

from tests.study.studies import SMALL, require_same, write_study

KILLS_A_RUN = 5
ENGINES = (("--n-jobs", "2"), ("--n-jobs", "2", "--engine", "dask"))


def command(config: Path, folder: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "extrinsic", "run", str(config), "--output", str(folder), *options]


def kill_runs(root: Path, kills: int, seed: int) -> int:
    """Kill runs and reports; returns 1 if anything differs from what an undisturbed run leaves."""
    config = write_study(root, SMALL)
    begin = time.monotonic()
    subprocess.run(
        command(config, root / "whole", "--n-jobs", "1", "--quiet"), check=True, capture_output=True
    )
    whole = time.monotonic() - begin
    rng, done, struck, worse = Random(seed), 0, 0, 0
    for number in range(-(-kills // KILLS_A_RUN)):
        engine, folder = ENGINES[number % len(ENGINES)], root / f"run{number}"
        for _ in range(min(KILLS_A_RUN, kills - number * KILLS_A_RUN)):
            report = folder.exists() and (folder / "report.html").exists() and rng.random() < 0.5
            arguments = (
                [sys.executable, "-m", "extrinsic", "report", str(folder)]
                if report
                else command(config, folder, *engine)
            )
            process = subprocess.Popen(
                arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
            )
            time.sleep(rng.uniform(0.0, 1.1 * whole))
            struck += process.poll() is None
            os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
            process.wait()
            done += 1
        last = subprocess.run(command(config, folder, *engine), capture_output=True, text=True, check=False)
        try:
            assert last.returncode == 0, last.stderr
            require_same(root / "whole", folder)
        except AssertionError as error:
            worse += 1
            print(f"after kills, {' '.join(engine)}: {error}", flush=True)
        # After every directory: somebody may end this early, too.
        print(f"{done} kills ({struck} struck a running process), {worse} directories differ", flush=True)
    return 1 if worse else 0
