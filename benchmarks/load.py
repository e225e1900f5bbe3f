"""Studies of unusual size: computing time and memory of each.

python -m benchmarks.load [trackers] [systems] [turns]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.study.studies import SMALL, write_study
from tests.study.test_own_logs import STUDY, calls
from tests.study.test_populations import BUILT_IN
from tests.study.test_states import STATES, write_outcomes, write_system

N_TRACKERS, N_SYSTEMS, N_TURNS = 60, 200, 10_000


def trackers(folder: Path) -> Path:
    """Sixty belief trackers, and a policy learned on each."""
    return write_study(folder, SMALL.replace(BUILT_IN, "") + f"[trackers.population]\nsize = {N_TRACKERS}\n")


def systems(folder: Path, n_dialogs: int = 100, n_turns: int = 7) -> Path:
    """Two hundred state-set systems, each right a little more often than the one before."""
    (folder / "systems").mkdir(parents=True)
    rng = Random(0)
    outcomes: list[tuple[object, ...]] = []
    for number in range(N_SYSTEMS):
        name, rate = f"s{number:03}", (number + 1) / (N_SYSTEMS + 1)
        states = {
            f"d{dialog}": {
                str(turn): {
                    "gt": {"hotel": {"area": "north"}, "train": {"day": "monday"}},
                    "pr": {
                        "hotel": {"area": "north"},
                        "train": {"day": rng.choices(DAYS, (rate, 1 - rate))[0]},
                    },
                }
                for turn in range(n_turns)
            }
            for dialog in range(n_dialogs)
        }
        write_system(folder, name, states)
        outcomes.append((name, round(0.8 * rate + 0.2 * rng.random(), 3)))
    write_outcomes(folder, outcomes)
    (folder / "study.toml").write_text(STATES)
    return folder / "study.toml"


DAYS = ("monday", "friday")


def turns(folder: Path) -> Path:
    """Dialogs of a few turns, and in the training and the test part one of ten thousand."""
    (folder / "logs").mkdir(parents=True)
    for part, n_dialogs, seed in (("train", 60, 1), ("test", 40, 2)):
        lines = calls(part, n_dialogs, seed)
        # A caller who never gets an offer: the turns of questions of all callers, one after the other.
        questions = [line for line in lines if not line.get("end") and line["turn"]]
        lines += [
            {**questions[i % len(questions)], "dialog": f"{part}-long", "turn": i} for i in range(N_TURNS)
        ]
        lines[-1] |= {"end": True, "outcome": {"success": 0}}
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / "logs" / f"{part}.jsonl").write_text(text)
    (folder / "study.toml").write_text(STUDY)
    return folder / "study.toml"


STUDIES: dict[str, Callable[[Path], Path]] = {"trackers": trackers, "systems": systems, "turns": turns}


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as root:
        for name in names or list(STUDIES):
            config = STUDIES[name](Path(root) / name)
            command = [sys.executable, "-m", "extrinsic", "run", str(config), "--n-jobs", "1", "--quiet"]
            process = subprocess.Popen(
                [*command, "--output", str(config.parent / "run")], stdout=subprocess.DEVNULL
            )
            _, status, usage = os.wait4(process.pid, 0)
            cpu, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
            code = os.waitstatus_to_exitcode(status)
            print(f"{name}: exit {code}, {cpu:,.1f} s of computing, {memory:,.0f} MB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
