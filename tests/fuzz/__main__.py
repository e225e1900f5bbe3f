"""`make fuzz`: thousands of mutated inputs, or runs killed at random moments, and what became of them."""

from __future__ import annotations

import argparse
import gc
import os
import resource
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.fuzz.kills import kill_runs
from tests.fuzz.kinds import KINDS, make_input, run_good
from tests.fuzz.outcomes import GOOD, Outcome, outcome_apart, outcome_forked, table_of
from tests.fuzz.semantic import CHANGES, outcome_of_change


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seeds", type=int, default=5_000, help="inputs in all (5000)")
    parser.add_argument("--first", type=int, default=1_000, help="the first seed (1000)")
    parser.add_argument("--kind", action="append", choices=sorted(KINDS), help="only this kind; repeatable")
    parser.add_argument("--apart", type=int, default=50, help="every so many as a process of its own (50)")
    parser.add_argument("--kills", type=int, default=0, help="instead: so many runs killed at random moments")
    parser.add_argument("--output", type=Path, help="the table into this file, too")
    arguments = parser.parse_args()
    os.environ.setdefault("MPLBACKEND", "agg")
    with tempfile.TemporaryDirectory() as folder:
        work = kill_runs if arguments.kills else fuzz
        table, is_good = work(Path(folder), arguments)
    used = sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )
    table += f"\n{used:,.0f} s of processor time\n"
    print(table, end="")
    if arguments.output is not None:
        arguments.output.write_text(table)
    return 0 if is_good else 1


def fuzz(root: Path, arguments: argparse.Namespace) -> tuple[str, bool]:
    # Slow ones are a fifth as frequent: their commands take as long as twenty of the others.
    kinds = arguments.kind or [kind for kind in KINDS for _ in range(1 if KINDS[kind].is_slow else 5)]
    for kind in dict.fromkeys(kinds):
        run_good(kind, root)  # whatever the commands import is imported before the first copy
    gc.collect()
    gc.freeze()  # a collection in a copy would touch every object, and so copy all memory
    counts: Counter[tuple[str, Outcome]] = Counter()
    for number in range(arguments.seeds):
        given = make_input(kinds[number % len(kinds)], arguments.first + number, root)
        apart = number % arguments.apart == 0
        outcome, text = outcome_apart(given) if apart else outcome_forked(given)
        counts[given.kind, outcome] += 1
        if outcome not in GOOD:
            print(f"{outcome}: {given.kind!r} seed {given.seed}, {given.changed}: {' '.join(given.command)}")
            print("\n".join(f"    {line}" for line in text.splitlines()[-6:]), flush=True)
        if number % 500 == 499:
            print(f"{number + 1:,} inputs\n{table_of(counts)}", file=sys.stderr, flush=True)
    for name in CHANGES if not arguments.kind else ():
        counts["semantic", outcome_of_change(name, root)] += 1
    last = arguments.first + arguments.seeds - 1
    table = f"{sum(counts.values()):,} inputs, seeds {arguments.first} to {last}\n\n{table_of(counts)}\n"
    return table, all(outcome in GOOD for _, outcome in counts)


if __name__ == "__main__":
    sys.exit(main())
