"""Own logs of 100,000 to 10 million turns: computing time a turn and memory of `track` and `score`.

python -m benchmarks.long_logs [turns ...] [--folder F] [--tracker T] [--plain]

A log repeats 4,000 simulated restaurant calls under new names; every copy has other scores, so that nothing
gets cheaper by being seen before.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from extrinsic.corpus.formats.jsonl_fields import LogLine
from extrinsic.corpus.formats.jsonl_lines import log_files
from extrinsic.simulation.datasets import find_simulation, logged_policy
from extrinsic.simulation.play import play
from tests.own_logs import write_own_log

N_CALLS = 4_000
SIZES = (100_000, 1_000_000, 10_000_000)


@dataclass(frozen=True)
class Cost:
    """What a command took; seconds of computing, and the most memory at once."""

    seconds: float
    megabytes: float

    def line(self, what: str, n_turns: int) -> str:
        a_turn = self.seconds / n_turns * 1e6
        shown = f"{self.seconds:,.0f} s, {a_turn:.1f} us a turn, {self.megabytes:,.0f} MB"
        return f"{what}, {n_turns:,} turns: {shown}"


PLAIN = ("dialog", "turn", "system", "nbest", "labels", "end")
"""What a log needs to be tracked and scored."""


def write_log(path: Path, n_turns: int, fields: Sequence[str] = LogLine.__struct_fields__) -> int:
    """A log of at least so many turns, in whole copies of calls; returns how many."""
    with tempfile.TemporaryDirectory() as folder:
        world = find_simulation("restaurants").world("quiet", "train")
        policy, tracker = logged_policy(world)
        write_own_log(play(policy, tracker, N_CALLS, 0, world).corpus, folder)
        (file,) = log_files(folder).values()
        texts = file.read_bytes().splitlines()
    lines = [msgspec.json.decode(text, type=LogLine) for text in texts]
    encode, written = msgspec.json.Encoder().encode, 0
    with path.open("wb") as out:
        for copy in range(-(-n_turns // len(lines))):
            for line in _copied(lines, copy):
                if written >= n_turns and line.turn == 0:
                    return written
                given = {field: getattr(line, field) for field in fields}
                out.write(encode({key: value for key, value in given.items() if value is not None}) + b"\n")
                written += 1
    return written


def _copied(lines: Sequence[LogLine], copy: int) -> Iterator[LogLine]:
    less = 1.0 - copy / 10_000
    for line in lines:
        heard = [
            msgspec.structs.replace(hypothesis, score=hypothesis.score * less)
            for hypothesis in line.nbest or []
        ]
        yield msgspec.structs.replace(line, dialog=f"{line.dialog}-{copy}", nbest=heard)


def cost_of(arguments: Sequence[str]) -> Cost:
    process = subprocess.Popen([sys.executable, "-m", "extrinsic", *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"extrinsic {arguments[0]} failed")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("turns", nargs="*", type=int, default=SIZES)
    parser.add_argument("--folder", type=Path, help="keep the logs here, and take those that are there")
    parser.add_argument("--tracker", default="focus")
    parser.add_argument("--plain", action="store_true", help="lines without what only policies need")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for n_turns in arguments.turns:
            log = folder / f"{'plain' if arguments.plain else 'log'}{n_turns}.jsonl"
            if not log.exists():
                write_log(log, n_turns, PLAIN if arguments.plain else LogLine.__struct_fields__)
            output = folder / f"{arguments.tracker}-{log.stem}.json"
            read = ["--format", "jsonl", "--corpus", str(log)]
            tracked = cost_of(
                ["track", *read, "--tracker", arguments.tracker, "--output", str(output), "--quiet"]
            )
            print(tracked.line("track", n_turns), flush=True)
            print(cost_of(["score", *read, str(output)]).line("score", n_turns), flush=True)


if __name__ == "__main__":
    main()
