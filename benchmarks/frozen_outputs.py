"""What the tool puts out, kept as files, so that a rebuilt room can be held against the one before it.

    python -m benchmarks.frozen_outputs FOLDER                 write the outputs of this checkout
    python -m benchmarks.frozen_outputs FOLDER --against OLD   write them, then name what differs from OLD
    python -m benchmarks.frozen_outputs FOLDER --only score    only cases whose name begins so

Signatures and times are left out: they change with every release. Of the correlations those columns are
kept that a rebuilt room must not change. Equal bytes can be asked for on one machine only: BLAS differs.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("EXTRINSIC_DATA", ROOT.parent / "shared" / "data"))
MULTIWOZ, DSTC1, DSTC2 = DATA / "multiwoz", DATA / "dstc1", DATA / "dstc2"

TABLES = {
    "intrinsic": "dataset tracker component metric schedule label_scheme n value",
    "returns": "dataset tracker policy estimator value low high n flags",
    "correlations": "target metric schedule component scope coefficient r p p_adjusted n trackers",
    "trackers": "",  # all columns
    "diagnostics": "",
    "policies": "",
    "learning_curve": "",
}

SMALL_WORLD = """
name = "small"
seed = 1
[simulation]
datasets = ["ds4"]
seed = 77
[trackers]
built_in = ["baseline", "focus", "hwu", "bayes_high", "logistic"]
[trackers.population]
size = 3
families = ["focus", "bayes"]
[metrics]
schedules = [1, 2, 3]
components = ["joint", "all"]
fill = ["argmax"]
[policy]
learner = "LEARNER"
policies = ["rl", "sl", "expert"]
keep = true
[reward]
fill = ["argmax", "threshold"]
[value]
estimators = ["live", "mean_augmented", "lstd"]
live_dialogs = 60
[correlation]
targets = ["rl.live", "expert.live", "behaviour.observed"]
resamples = 100
permutations = 199
subsets = 5
"""

RESTAURANTS = """
name = "diners"
[simulation]
world = "restaurants"
datasets = ["noisy"]
[trackers]
built_in = ["baseline", "focus", "hwu", "last_mention", "yarbus"]
[metrics]
components = ["goal.joint"]
[policy]
learner = "kernel_lspi"
policies = ["rl"]
[value]
estimators = ["live"]
live_dialogs = 60
[correlation]
resamples = 100
permutations = 199
subsets = 5
"""

REAL_CALLS = f"""
name = "calls"
[corpus]
format = "dstc1"
path = "{DSTC1}/dstc1_train3.tar.gz"
[corpus.datasets.a_to_b]
train = "train3_plain_a"
test = "train3_plain_b"
[trackers]
built_in = ["baseline", "focus", "hwu", "vote"]
[trackers.files]
names = ["att"]
train = "{DSTC1}/{{tracker}}.{{list}}.json.gz"
test = "{DSTC1}/{{tracker}}.{{list}}.json.gz"
[policy]
learner = "kernel_lspi"
policies = ["rl", "sl"]
[value]
estimators = ["mean_augmented", "lstd"]
[correlation]
resamples = 100
permutations = 199
subsets = 5
"""

SWAP = f"""
name = "swap"
[states]
files = ["{MULTIWOZ}/trackers_2.1/e2e_*.json.gz"]
dialogs = "shared"
[outcomes]
evaluator = "multiwoz"
names = ["success", "inform"]
[outcomes.multiwoz]
goals = "{MULTIWOZ}/dialogs/test.json.gz"
booked = "{MULTIWOZ}/swap/booked_domains.json.gz"
database = "{MULTIWOZ}/swap/database"
domains = "responses"
responses = ["{MULTIWOZ}/swap/responses_augpt.json.gz", "{MULTIWOZ}/swap/responses_hdsa.json.gz"]
[correlation]
resamples = 100
permutations = 199
subsets = 5
"""

POLICIES = """
name = "grid"
[simulation]
datasets = ["ds4"]
seed = 77
[trackers]
built_in = ["hwu"]
[policy]
learner = ["kernel_lspi", "one_step", "fitted_q", "imitation"]
[policy.fitted_q]
trees = 5
[value]
estimators = ["live", "lstd"]
live_dialogs = 60
[grid]
baseline = "imitation"
estimator = "live"
curve = [0.5]
"""


def command(*arguments: str) -> str:
    """What a command of this checkout prints on stdout. Bad input (2) is an answer, too."""
    done = subprocess.run(
        [sys.executable, "-m", "extrinsic", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 2):
        raise SystemExit(f"extrinsic {' '.join(arguments)}\n{done.stderr}")
    return done.stdout


def printed(*arguments: str) -> Iterator[tuple[str, str]]:
    """The JSON of a command, without its signature."""
    answer = json.loads(command(*arguments, "--json"))
    if isinstance(answer, dict):
        answer.pop("signature", None)
    yield "stdout.json", json.dumps(answer, indent=1, sort_keys=True)


def study(text: str, kind: str = "run", compare: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """The tables of a study, its kept policies played, and two of its trackers compared."""
    with tempfile.TemporaryDirectory() as folder:
        config, output = Path(folder) / "study.toml", Path(folder) / "run"
        config.write_text(text)
        command(kind, str(config), "--output", str(output), "--no-report", "--quiet", "--n-jobs", "2")
        if not (output / "returns.csv").exists():
            raise SystemExit(f"the study was refused:\n{text}")
        for name, columns in TABLES.items():
            if (output / f"{name}.csv").exists():
                yield f"{name}.csv", kept_columns((output / f"{name}.csv").read_text(), columns.split())
        for policy in sorted(output.glob("policies/**/hwu*"))[:3]:
            if policy.is_file():
                played = printed(
                    "play", str(policy), "--tracker", "hwu", "--world", "ds4", "--dialogs", "100"
                )
                yield f"play-{policy.stem}.json", next(played)[1]
        if compare:
            yield f"compare-{'-'.join(compare)}.json", next(printed("compare", str(output), *compare))[1]


def kept_columns(table: str, columns: Sequence[str]) -> str:
    rows = list(csv.DictReader(io.StringIO(table)))
    columns = [name for name in (columns or rows[0]) if rows and name in rows[0]]
    lines = (",".join(row[name] for name in columns) for row in rows)
    return "\n".join([",".join(columns), *lines]) + "\n"


def simulated(world: str) -> Iterator[tuple[str, str]]:
    """A hash of every file of a world's simulated corpora."""
    with tempfile.TemporaryDirectory() as folder:
        command("simulate", "--world", world, "--output", folder, "--n-jobs", "2", "--quiet")
        files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
        hashes = (
            f"{path.relative_to(folder)} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files
        )
        yield "hashes.txt", "\n".join(hashes) + "\n"


def tracked(trackers: Sequence[str], *arguments: str) -> Iterator[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        chosen = [word for tracker in trackers for word in ("--tracker", tracker)]
        command("track", *arguments, *chosen, "--output", f"{folder}/out", "--quiet")
        for path in sorted(Path(folder, "out").iterdir()):
            answer = json.loads(path.read_text())
            for key in ("wall-time", "signature"):
                answer.pop(key, None)
            yield path.name, json.dumps(answer, sort_keys=True)


DSTC1_CORPUS = (
    "--format",
    "dstc1",
    "--corpus",
    f"{DSTC1}/dstc1_train3.tar.gz",
    "--dataset",
    "train3_plain_b",
)
DSTC2_CORPUS = ("--format", "dstc2", "--corpus", f"{DSTC2}/dstc2_traindev.tar.gz", "--dataset", "dstc2_dev")
GOALS = ("--goals", f"{MULTIWOZ}/dialogs/test.json.gz", "--booked", f"{MULTIWOZ}/swap/booked_domains.json.gz")
BUILT_IN = ("baseline", "focus", "hwu", "bayes_low", "dempster_shafer", "yarbus", "vote", "logistic")

CASES: dict[str, Callable[[], Iterator[tuple[str, str]]]] = {
    "score-dstc1": lambda: printed("score", *DSTC1_CORPUS, f"{DSTC1}/att.train3_plain_b.json.gz"),
    "score-dstc2": lambda: printed(
        "score", *DSTC2_CORPUS, "--bootstrap", "50", "--fill", "argmax", f"{DSTC2}/trackers/focus.dev.json.gz"
    ),
    "score-paired": lambda: printed(
        "score",
        *DSTC2_CORPUS,
        "--paired",
        "--bootstrap",
        "50",
        *(f"{DSTC2}/trackers/{name}.dev.json.gz" for name in ("focus", "hwu")),
    ),
    "score-states": lambda: printed(
        "score", "--format", "state-sets", "--bootstrap", "50", f"{MULTIWOZ}/trackers_2.1/mlcsg.json.gz"
    ),
    "validate-dstc1": lambda: printed("validate", *DSTC1_CORPUS),
    "validate-dstc2": lambda: printed("validate", *DSTC2_CORPUS, f"{DSTC2}/trackers/yarbus_16.dev.json.gz"),
    # A file of one corpus held against another: every line is refused, with its place.
    "validate-refused": lambda: printed("validate", *DSTC2_CORPUS, f"{DSTC1}/att.train3_plain_b.json.gz"),
    "validate-states": lambda: printed(
        "validate", "--format", "state-sets", f"{MULTIWOZ}/trackers_2.1/e2e_uniconv.json.gz"
    ),
    "track-dstc2": lambda: tracked(BUILT_IN, *DSTC2_CORPUS),
    "track-dstc1": lambda: tracked(BUILT_IN[:4], *DSTC1_CORPUS),
    "evaluate": lambda: printed(
        "evaluate",
        *GOALS,
        "--database",
        f"{MULTIWOZ}/swap/database",
        "--format",
        "state-sets",
        "--responses",
        f"{MULTIWOZ}/swap/responses_hdsa.json.gz",
        f"{MULTIWOZ}/trackers_2.1/e2e_damd.json.gz",
        f"{MULTIWOZ}/trackers_2.1/e2e_mars.json.gz",
        "--dialogs",
        "shared",
    ),
    "simulate-bus": lambda: simulated("bus"),
    "simulate-restaurants": lambda: simulated("restaurants"),
    "study-kernel_lspi": lambda: study(
        SMALL_WORLD.replace("LEARNER", "kernel_lspi"), compare=("hwu", "focus")
    ),
    "study-one_step": lambda: study(SMALL_WORLD.replace("LEARNER", "one_step")),
    "study-restaurants": lambda: study(RESTAURANTS),
    "study-dstc1": lambda: study(REAL_CALLS),
    "study-swap": lambda: study(SWAP),
    "study-policies": lambda: study(POLICIES, "policies"),
}


def differences(new: Path, old: Path, cases: Sequence[str]) -> Iterator[str]:
    for name in cases:
        files = {path.name for folder in (new, old) for path in (folder / name).glob("*")}
        for file in sorted(files):
            a, b = new / name / file, old / name / file
            if not a.exists() or not b.exists():
                yield f"{name}/{file}: only in {new if a.exists() else old}"
            elif a.read_bytes() != b.read_bytes():
                yield f"{name}/{file}: differs"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--only", default="", help="cases whose name begins so")
    chosen = parser.parse_args()
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
    cases = [name for name in CASES if name.startswith(chosen.only)]
    for name in cases:
        print(name, flush=True)
        (chosen.folder / name).mkdir(parents=True, exist_ok=True)
        for file, text in CASES[name]():
            (chosen.folder / name / file).write_text(text)
    if chosen.against:
        found = list(differences(chosen.folder, chosen.against, cases))
        print("\n".join(found) or "all equal")
        raise SystemExit(1 if found else 0)


if __name__ == "__main__":
    main()
