"""Tiny studies: two simulated datasets of some thirty calls, six trackers, a few metrics; seconds each."""

from __future__ import annotations

import csv
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.running import Outcome, run, succeed

Row = dict[str, str]

WORLDS = """seed = 3
[world.caller]
patience = 8.0
[world.expert]
gives_up = 10
[datasets.a.splits.train]
dialogs = 30
[datasets.a.splits.test]
dialogs = 32
[datasets.b.recogniser]
error = 0.45
[datasets.b.splits.train]
dialogs = 30
[datasets.b.splits.test]
dialogs = 36
"""

DATASETS = ("a", "b")
TRACKERS = ("baseline", "hwu", "last_turn", "rank_only", "vote", "focus_overconfident")
METRICS = ("accuracy", "l2", "mrr", "roc.v1_ca05")
SCHEDULES = (1, 3)
TARGETS = ("rl.live", "rl.completed", "rl.lstd", "behaviour.observed", "rl.gain")
SEED, LIVE_DIALOGS = 5, 20

STUDY = f"""name = "tiny"
seed = {SEED}

[simulation]
config = "worlds.toml"

[trackers]
built_in = {list(TRACKERS)}

[metrics]
names = {list(METRICS)}
schedules = {list(SCHEDULES)}

[policy]
policies = ["rl"]

[reward]
fill = ["argmax"]

[value]
estimators = ["live", "lstd"]
live_dialogs = {LIVE_DIALOGS}
on_policy = false

[correlation]
permutations = 99
""".replace("'", '"')

SMALL = (
    STUDY.replace('config = "worlds.toml"', 'config = "worlds.toml"\ndatasets = ["a"]')
    .replace(str(list(TRACKERS)).replace("'", '"'), '["baseline", "hwu", "vote"]')
    .replace(str(list(METRICS)).replace("'", '"'), '["accuracy", "l2"]')
)
"""One dataset, three trackers, two metrics: a second."""

DISK = """name = "disk"
[corpus]
format = "dstc1"
path = "calls"
train = "a_train"
test = "a_test"
[trackers]
built_in = ["last_turn", "baseline", "rank_only"]
[trackers.files]
names = ["first", "second", "other"]
train = "files/{tracker}.train.json"
test = "files/{tracker}.test.json"
[metrics]
names = ["accuracy", "l2"]
schedules = [1]
[policy]
policies = ["rl"]
[reward]
fill = ["argmax"]
[value]
estimators = ["lstd"]
on_policy = false
[correlation]
permutations = 99
"""
"""Calls on disk, with trackers of ours and files of others."""

HERE = ("--n-jobs", "1", "--quiet", "--no-report")
TIMINGS = "timings.csv"


@dataclass(frozen=True)
class Study:
    """A configuration on disk and the directory of its run."""

    config: Path
    folder: Path

    def rows(self, table: str, **wanted: str) -> list[Row]:
        """The rows that have these cells."""
        rows = table_of(self.folder, table)
        return [row for row in rows if all(row[name] == cell for name, cell in wanted.items())]

    def values(self, table: str, **wanted: str) -> dict[str, float]:
        """The value of each tracker, in the rows that have these cells."""
        return {row["tracker"]: float(row["value"]) for row in self.rows(table, **wanted)}


def write_study(folder: Path, text: str = STUDY) -> Path:
    """The study's file, with its worlds beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "worlds.toml").write_text(WORLDS)
    config = folder / "study.toml"
    config.write_text(text)
    return config


def run_in(config: Path, folder: Path, *options: object) -> Outcome:
    """Run a study here, in one process."""
    return run("run", config, "--output", folder, *HERE, *options)


def done(config: Path, folder: Path, *options: object) -> Study:
    """Run a study that must succeed."""
    succeed("run", config, "--output", folder, *HERE, *options)
    return Study(config, folder)


def table_of(folder: Path, name: str) -> list[Row]:
    with (folder / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a run by its name, but the one that says how long things took and the lock."""
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return {
        name: path.read_bytes()
        for name, path in sorted(files.items())
        if name not in (TIMINGS, "stages/.lock")
    }


def tables(folder: Path) -> dict[str, bytes]:
    """What a run found: its files but the parts, and the record of them."""
    return {name: data for name, data in contents(folder).items() if name.endswith(".csv")}


def require_same(one: Path, other: Path) -> None:
    """Two runs left the same files with the same bytes."""
    first, second = contents(one), contents(other)
    assert list(first) == list(second)
    assert [name for name in first if first[name] != second[name]] == []


def statuses(folder: Path, *kinds: str) -> dict[str, str]:
    """By kind and name, whether the last run computed or reused a stage; `kinds`: only of these."""
    return {
        f"{row['stage']} {row['name']}": row["status"]
        for row in table_of(folder, "timings")
        if row["key"] and (not kinds or row["stage"] in kinds)
    }


def computed(folder: Path) -> set[str]:
    """The kinds of stages of which the last run computed any."""
    return {name.split()[0] for name, status in statuses(folder).items() if status == "computed"}


def copied(study: Study, folder: Path) -> Study:
    """A run's directory to disturb."""
    shutil.copytree(study.folder, folder)
    return Study(study.config, folder)


def start(config: Path, folder: Path, *options: object) -> subprocess.Popen[str]:
    """A study as a process of its own, in a group of its own, that may be killed or interrupted."""
    command = [sys.executable, "-m", "extrinsic", "run", config, "--output", folder, "--no-report", *options]
    return subprocess.Popen(
        [str(part) for part in command],
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        # Whoever runs the tests in the background may have it ignored, and children would inherit that.
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def wait_for(process: subprocess.Popen[str], text: str) -> None:
    """Read a run's progress up to a line with this text."""
    assert process.stderr is not None
    assert any(text in line for line in process.stderr), f"no {text!r}"


def signal_group(process: subprocess.Popen[str], number: signal.Signals) -> None:
    """As Ctrl-C at a terminal does: to the process and all its workers."""
    os.killpg(process.pid, number)


def number(text: str) -> float:
    """A cell as a number; NaN for an empty one."""
    return float(text) if text else np.nan
