"""What becomes of an input: done, refused in words that help, or one of the things that must not happen."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NoReturn

from extrinsic.cli.main import main
from tests.fuzz.kinds import Input

SECONDS, BYTES = 20, 2 << 30
"""Of computing, and as many of waiting: the time in which the machine had other things to do is neither."""

Outcome = Literal["done", "refused", "crash", "hang", "no place", "silent"]
GOOD: tuple[Outcome, ...] = ("done", "refused")
EVERY: tuple[Outcome, ...] = ("done", "refused", "crash", "hang", "no place", "silent")


ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}


def limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def outcome_forked(given: Input) -> tuple[Outcome, str]:
    """Run the command in a copy of this process, which has imported everything: milliseconds, not seconds.

    A copy of its own for every input: nothing that one leaves behind helps or harms the next.
    """
    with tempfile.TemporaryFile() as output:
        code = end_of(start_copy(given.command, output.fileno(), limit))
        output.seek(0)
        return _outcome(code, output.read(), given.folder)


def start_copy(command: Sequence[str], output: int, prepare: Callable[[], object]) -> int:
    """Begin a command in a copy of this process; returns the copy's number."""
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        _be_the_command(command, output, prepare)
    return process


def _be_the_command(command: Sequence[str], output: int, prepare: Callable[[], object]) -> NoReturn:
    code = 1
    try:
        prepare()
        os.dup2(output, 1)
        os.dup2(output, 2)
        # A test's own streams are none of the command's.
        sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8") for number in (1, 2))
        try:
            code = main(list(command))
        except SystemExit as stop:  # argparse leaves this way
            code = int(stop.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def end_of(process: int) -> int:
    """The exit code, negative for a signal; a process that sleeps for long is ended."""
    pause, slept = 0.0005, 0.0
    while slept < SECONDS:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(pause)
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        slept += pause if state == "S" else 0.0
        pause = min(2 * pause, 0.05)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return -signal.SIGKILL


def outcome_apart(given: Input) -> tuple[Outcome, str]:
    """Run the command as a process of its own."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "extrinsic", *given.command],
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **ONE_THREAD},
            preexec_fn=limit,
        )
        code = process.returncode = end_of(process.pid)
        output.seek(0)
        return _outcome(code, output.read(), given.folder)


def _outcome(code: int, output: bytes, folder: Path) -> tuple[Outcome, str]:
    text = output.decode(errors="replace")
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "hang", text
    return judged(code, text, folder), text


def judged(code: int, text: str, folder: Path) -> Outcome:
    if code not in (0, 2) or "Traceback" in text:
        return "crash"
    if code == 2 and str(folder) not in text and "--set" not in text:
        return "no place"
    return "done" if code == 0 else "refused"


def table_of(counts: Counter[tuple[str, str]], every: Sequence[str] = EVERY) -> str:
    """Kind by outcome."""
    kinds = sorted({kind for kind, _ in counts})
    rows: list[Sequence[str]] = [("kind", *every, "all")]
    for kind in (*kinds, "all"):
        numbers = [
            sum(number for (of, what), number in counts.items() if what == outcome and kind in (of, "all"))
            for outcome in every
        ]
        rows.append((kind, *map(str, numbers), str(sum(numbers))))
    return "\n".join(f"{row[0]:<22}" + "".join(f"{cell:>10}" for cell in row[1:]) for row in rows)
