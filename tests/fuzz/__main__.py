"""`make fuzz`: thousands of mutated inputs, or runs killed at random moments, and what became of them."""

from __future__ import annotations

import argparse
import csv
import gc
import itertools
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random

from tests.fuzz.kinds import KINDS, make_input, run_good
from tests.fuzz.outcomes import EVERY, GOOD, end_of, outcome_apart, outcome_forked, start_copy, table_of
from tests.fuzz.semantic import CHANGES, outcome_of_change
from tests.running import run
from tests.study.studies import SMALL, require_same, write_study

Counts = Counter[tuple[str, str]]


ENGINES = {"n_jobs 2": ("--n-jobs", "2"), "Dask": ("--n-jobs", "2", "--engine", "dask")}
KILLS_A_RUN, POLL = 5, 0.1
OUTCOMES = ("run", "report", "too late", "same bytes", "differ")
"""What a kill struck, or that it came too late; and what the next run left in the directory."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seeds", type=int, default=5_000, help="inputs in all (5000)")
    parser.add_argument("--first", type=int, default=1_000, help="the first seed (1000)")
    parser.add_argument("--kind", action="append", choices=sorted(KINDS), help="only this kind; repeatable")
    parser.add_argument("--apart", type=int, default=50, help="every so many as a process of its own (50)")
    parser.add_argument("--kills", type=int, default=0, help="instead: so many runs killed at random moments")
    parser.add_argument("--output", type=Path, help="a csv file to which the counts are added")
    arguments = parser.parse_args()
    os.environ.setdefault("MPLBACKEND", "agg")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    counts: Counts = Counter()
    before = _read(arguments.output)
    with tempfile.TemporaryDirectory() as folder:
        try:
            if arguments.kills:
                kill_runs(Path(folder), arguments.kills, arguments.first, counts)
            else:
                fuzz(Path(folder), arguments, counts)
        except KeyboardInterrupt:  # what has been tried has been tried
            print("interrupted", file=sys.stderr)
    if arguments.output is not None:
        _write(arguments.output, before + counts)
    print(table_of(before + counts, OUTCOMES if arguments.kills else EVERY))
    return 1 if any(outcome in EVERY[len(GOOD) :] or outcome == "differ" for _, outcome in counts) else 0


def fuzz(root: Path, arguments: argparse.Namespace, counts: Counts) -> None:
    # Slow ones are a fifth as frequent: their commands take as long as twenty of the others.
    kinds = arguments.kind or [kind for kind in KINDS for _ in range(1 if KINDS[kind].is_slow else 5)]
    for kind in dict.fromkeys(kinds):
        run_good(kind, root)  # whatever the commands import is imported before the first copy
    gc.collect()
    gc.freeze()  # a collection in a copy would touch every object, and so copy all memory
    for number in range(arguments.first, arguments.first + arguments.seeds):
        given = make_input(kinds[number % len(kinds)], number, root)
        outcome, text = outcome_forked(given) if number % arguments.apart else outcome_apart(given)
        counts[given.kind, outcome] += 1
        if outcome not in GOOD:
            print(f"{outcome}: {given.kind!r} seed {given.seed}, {given.changed}: {' '.join(given.command)}")
            print("\n".join(f"    {line}" for line in text.splitlines()[-6:]), flush=True)
    for name in CHANGES if not arguments.kind else ():
        counts["semantic", outcome_of_change(name, root)] += 1


def _read(path: Path | None) -> Counts:
    if path is None or not path.exists():
        return Counter()
    with path.open(newline="") as file:
        return Counter({(row["kind"], row["outcome"]): int(row["number"]) for row in csv.DictReader(file)})


def _write(path: Path, counts: Counts) -> None:
    with path.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("kind", "outcome", "number"))
        rows.writerows((*key, number) for key, number in sorted(counts.items()))


# Runs that are killed at random moments, again and again: the end is what an undisturbed run leaves.


def kill_runs(root: Path, kills: int, seed: int, counts: Counts) -> None:
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


if __name__ == "__main__":
    sys.exit(main())
