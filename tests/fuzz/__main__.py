"""`make fuzz`: thousands of mutated inputs, or runs killed at random moments, and what became of them."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.kills import kill_runs
from tests.fuzz.kinds import KINDS, make_input
from tests.fuzz.outcomes import GOOD, Outcome, outcome_apart, outcome_here, table_of
from tests.fuzz.semantic import CHANGES, outcome_of_change


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seeds", type=int, default=5_000, help="inputs in all (5000)")
    parser.add_argument("--first", type=int, default=1_000, help="the first seed (1000)")
    parser.add_argument("--kind", action="append", choices=sorted(KINDS), help="only this kind; repeatable")
    parser.add_argument("--apart", type=int, default=50, help="every so many as a process of its own (50)")
    parser.add_argument("--kills", type=int, default=0, help="instead: so many runs killed at random moments")
    arguments = parser.parse_args()
    os.environ.setdefault("MPLBACKEND", "agg")
    with tempfile.TemporaryDirectory() as folder:
        if arguments.kills:
            return kill_runs(Path(folder), arguments.kills, arguments.first)
        return fuzz(Path(folder), arguments)


def fuzz(root: Path, arguments: argparse.Namespace) -> int:
    # Slow ones are a fifth as frequent: their commands take as long as twenty of the others.
    kinds = arguments.kind or [kind for kind in KINDS for _ in range(1 if KINDS[kind].is_slow else 5)]
    counts: Counter[tuple[str, Outcome]] = Counter()
    begin = time.monotonic()
    for number in range(arguments.seeds):
        given = make_input(kinds[number % len(kinds)], arguments.first + number, root)
        apart = number % arguments.apart == 0
        outcome, text = outcome_apart(given) if apart else outcome_here(given)
        counts[given.kind, outcome] += 1
        if outcome not in GOOD:
            print(f"{outcome}: {given.kind!r} seed {given.seed}, {given.changed}: {' '.join(given.command)}")
            print("\n".join(f"    {line}" for line in text.splitlines()[-6:]), flush=True)
    for name in CHANGES if not arguments.kind else ():
        counts["semantic", outcome_of_change(name, root)] += 1
    print(table_of(counts))
    print(f"{sum(counts.values()):,} inputs in {time.monotonic() - begin:,.0f} s")
    return 0 if all(outcome in GOOD for _, outcome in counts) else 1


if __name__ == "__main__":
    sys.exit(main())
