"""`make fuzz`: thousands of mutated inputs, or runs killed at random moments, and what became of them."""

from __future__ import annotations

import argparse
import csv
import gc
import os
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.fuzz.kills import OUTCOMES, kill_runs
from tests.fuzz.kinds import KINDS, make_input, run_good
from tests.fuzz.outcomes import EVERY, GOOD, outcome_apart, outcome_forked, table_of
from tests.fuzz.semantic import CHANGES, outcome_of_change

Counts = Counter[tuple[str, str]]


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


if __name__ == "__main__":
    sys.exit(main())
