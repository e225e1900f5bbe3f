"""What becomes of an input: done, refused in words that help, or one of the things that must not happen."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Literal

from tests.fuzz.kinds import Input
from tests.running import run

SECONDS, WAITED, BYTES = 20, 120, 2 << 30
"""Of computing; and of waiting, because the machine may have other things to do."""

Outcome = Literal["done", "refused", "crash", "hang", "no place", "silent"]
GOOD: tuple[Outcome, ...] = ("done", "refused")
EVERY: tuple[Outcome, ...] = ("done", "refused", "crash", "hang", "no place", "silent")


class Hang(BaseException):
    """The time is over; no handler of exceptions may take this for one of its own."""


CLOCKS = ((signal.SIGPROF, signal.ITIMER_PROF, SECONDS), (signal.SIGALRM, signal.ITIMER_REAL, WAITED))


@contextmanager
def time_limit() -> Iterator[None]:
    def end(_: int, __: FrameType | None) -> None:
        raise Hang

    before = [signal.signal(number, end) for number, _, _ in CLOCKS]
    for _, clock, seconds in CLOCKS:
        signal.setitimer(clock, seconds)
    try:
        yield
    finally:
        for (number, clock, _), handler in zip(CLOCKS, before, strict=True):
            signal.setitimer(clock, 0)
            signal.signal(number, handler)


def outcome_here(given: Input) -> tuple[Outcome, str]:
    """Run the command in this process."""
    try:
        with time_limit():
            result = run(*given.command)
    except Hang:
        return "hang", ""
    return judged(result.code, result.text, given.folder), result.text


def outcome_apart(given: Input) -> tuple[Outcome, str]:
    """Run the command as a process of its own, with 2 GB."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))

    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    try:
        result = subprocess.run(
            [sys.executable, "-m", "extrinsic", *given.command],
            capture_output=True,
            timeout=WAITED,
            env=environment,
            preexec_fn=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "hang", ""
    if result.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "hang", ""
    text = (result.stdout + result.stderr).decode(errors="replace")
    return judged(result.returncode, text, given.folder), text


def judged(code: int, text: str, folder: Path) -> Outcome:
    if code not in (0, 2) or "Traceback" in text:
        return "crash"
    if code == 2 and str(folder) not in text and "--set" not in text:
        return "no place"
    return "done" if code == 0 else "refused"


def table_of(counts: Counter[tuple[str, Outcome]]) -> str:
    """Kind by outcome."""
    kinds = sorted({kind for kind, _ in counts})
    rows: list[Sequence[str]] = [("kind", *EVERY, "all")]
    for kind in (*kinds, "all"):
        numbers = [
            sum(number for (of, what), number in counts.items() if what == outcome and kind in (of, "all"))
            for outcome in EVERY
        ]
        rows.append((kind, *map(str, numbers), str(sum(numbers))))
    return "\n".join(f"{row[0]:<22}" + "".join(f"{cell:>10}" for cell in row[1:]) for row in rows)
