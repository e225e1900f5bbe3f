"""Things of one's own: from an installed package by its entry points, and from a file that a study names."""

from __future__ import annotations

import csv
import json
import math
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from random import Random
from typing import Any

import pytest

from extrinsic.registry import LEARNERS
from tests.builders import write_state_sets
from tests.conftest import PACKAGE
from tests.running import Outcome, assert_refused, run
from tests.samples import small_state_sets


def extrinsic(site: Path, *arguments: str | int | Path) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, to which nothing but the entry points makes the package known."""
    return subprocess.run(
        [sys.executable, "-m", "extrinsic", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
    )


def rows_of(folder: Path, table: str) -> list[dict[str, str]]:
    with (folder / f"{table}.csv").open() as file:
        return list(csv.DictReader(file))


SIZES, TOPPINGS = ("big", "small"), ("ham", "olives", "onion")


def act(name: str, *pairs: tuple[str, str]) -> dict[str, Any]:
    return {"act": name, "slots": pairs}


def turn(system: Any, heard: list[tuple[float, Any]], **goal: str) -> dict[str, Any]:
    return {"system": [system], "heard": [(score, [said]) for score, said in heard], "goal": goal}


HAND_DIALOGS = {
    "d1": [
        turn(act("request", ("slot", "size")), [(0.3, act("inform", ("size", "big")))], size="big"),
        turn(
            act("request", ("slot", "topping")),
            [(0.8, act("inform", ("topping", "ham")))],
            size="big",
            topping="ham",
        ),
    ],
    "d2": [
        turn(act("request", ("slot", "size")), []),
        turn(act("offer"), [(0.9, act("inform", ("size", "small")))], size="small"),
    ],
}

HAND_BELIEFS = {
    "d1": [
        {"size": {"big": 0.3}},
        {"size": {"small": 0.1, "big": 0.3}, "topping": {"ham": 0.4, "olives": 0.5}},
    ],
    "d2": [{}, {"size": {"small": 0.9}}],
}


def write_lines(path: Path, turns_of_dialogs: dict[str, Any]) -> Path:
    lines = [json.dumps({"id": name, "turns": turns}) + "\n" for name, turns in turns_of_dialogs.items()]
    path.write_text("".join(lines))
    return path


def random_dialogs(prefix: str, count: int) -> dict[str, Any]:
    """Calls of a system that asks, now and then confirms, offers and hangs up; a third is misheard."""
    return {f"{prefix}{number}": _random_dialog(Random(f"{prefix}{number}")) for number in range(count)}


def _random_dialog(rng: Random) -> list[Any]:
    wish = {"size": rng.choice(SIZES), "topping": rng.choice(TOPPINGS)}
    goal: dict[str, str] = {}
    turns = []
    for slot, values in (("size", SIZES), ("topping", TOPPINGS)):
        for _ in range(rng.choice((1, 1, 2))):
            said = wish[slot] if rng.random() < 0.67 else rng.choice(values)
            other, score = rng.choice(values), rng.uniform(0.3, 0.7)
            heard = [(score, act("inform", (slot, said))), (0.2, act("inform", (slot, other)))]
            goal[slot] = wish[slot]
            turns.append(turn(act("request", ("slot", slot)), heard, **goal))
        if rng.random() < 0.4:
            answer = act("affirm" if said == wish[slot] else "negate")
            turns.append(turn(act("expl-conf", (slot, said)), [(0.9, answer)], **goal))
    turns.append(turn(act("offer"), [(0.6, act("thankyou"))], **goal))
    turns.append(turn(act("bye"), [], **goal))
    return turns


OWN = {
    "formats": ("orders", "dstc2"),
    "learners": ("counted", "kernel_lspi"),
    "metrics": ("nearly_right", "jga"),
    "rewards": ("right_order", "concepts"),
    "trackers": ("stubborn", "focus"),
    "worlds": ("pizza", "bus"),
}


def test_every_kind_of_thing_is_listed_beside_ours(plugged: None) -> None:
    points = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]["entry-points"]
    assert {f"extrinsic.{kind}" for kind in OWN} == set(points)
    for kind, (name, ours) in OWN.items():
        lines = dict(line.split(maxsplit=1) for line in run("ls", kind).output.splitlines())
        assert lines[name] == "from tiny-plugin" and ours in lines
    assert "at most one wrong slot" in run("ls", "metrics", "nearly_right").output


def test_its_metric_scores(plugged: None, tmp_path: Path) -> None:
    file = write_state_sets(tmp_path, small_state_sets())
    done = run("score", "--format", "state-sets", file, "--metric", "nearly_right", "--csv")
    # Of the three turns of the sample one state is wrong, and in more than one slot.
    assert "nearly_right,1,,3,0.6666666666666666" in done.output


PIZZA_STUDY = """
name = "pizza"
plugins = ["mine.py"]
[simulation]
world = "pizza"
seed = 5
[trackers]
built_in = ["stubborn", "baseline", "mine"]
[policy]
learner = "counted"
policies = ["rl"]
[reward]
kind = "right_order"
[value]
estimators = ["live"]
live_dialogs = 40
[correlation]
resamples = 100
permutations = 99
subsets = 5
"""

OWN_TRACKER = """
from tiny_plugin.things import Stubborn

from extrinsic.registry import TRACKERS

TRACKERS.register("mine", Stubborn(), "of a file that the study names")
"""


def test_its_tracker_and_learner_play_in_its_world_with_two_processes(
    installed: Path, tmp_path: Path
) -> None:
    """Learned, rewarded and played live by things of a package, beside one of a file."""
    (tmp_path / "study.toml").write_text(PIZZA_STUDY)
    (tmp_path / "mine.py").write_text(OWN_TRACKER)
    options = ("--output", tmp_path / "run", "--n-jobs", "2", "--quiet", "--no-report")
    done = extrinsic(installed, "run", tmp_path / "study.toml", *options)
    assert done.returncode == 0, done.stderr
    live = {row["tracker"]: row for row in rows_of(tmp_path / "run", "returns") if row["estimator"] == "live"}
    assert set(live) == {"stubborn", "baseline", "mine"}
    assert live["mine"]["value"] == live["stubborn"]["value"] != live["baseline"]["value"]
    for row in live.values():
        assert (row["dataset"], row["policy"], row["n"]) == ("orders", "rl", "40")
        # An order pays 10, and each of at most 15 turns costs 1.
        assert -15.0 <= float(row["low"]) < float(row["value"]) < float(row["high"]) <= 10.0
        assert (row["feasible_low"], row["feasible_high"]) == ("", "")


def test_its_world_is_simulated(installed: Path, plugged: None, tmp_path: Path) -> None:
    options = ("--world", "pizza", "--output", tmp_path / "orders", "--n-jobs", "2", "--json")
    done = extrinsic(installed, "simulate", *options)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert [(row["dataset"], row["dialogs"]) for row in rows] == [("orders_train", 60), ("orders_test", 60)]
    # Something can be requested, so calls are written as DSTC2's are.
    assert len(list((tmp_path / "orders").rglob("orders_test/*/label.json"))) == 60
    assert_refused(run("simulate", "--world", "piza", "--output", tmp_path / "other"), "mean 'pizza'")


@pytest.fixture
def orders(plugged: None, tmp_path: Path) -> tuple[str | Path, ...]:
    """Arguments for two calls of the plugin's own format, which nothing else knows about."""
    write_lines(tmp_path / "test.jsonl", HAND_DIALOGS)
    return "--format", "orders", "--corpus", tmp_path, "--dataset", "test"


def scores(done: Outcome) -> dict[tuple[str, int, str, str], float]:
    """Values by component, schedule, label scheme and metric."""
    assert done.code == 0, done.errors
    keys = ("component", "schedule", "label_scheme", "metric")
    return {tuple(row[key] for key in keys): row["value"] for row in done.json()["rows"]}  # type: ignore[misc]


def test_a_format_is_scored_by_its_own_conventions(orders: Any, tmp_path: Path) -> None:
    """Both challenges would put None (.7) before `big` (.3), and neither knows `final` or schedule 4."""
    file = write_lines(tmp_path / "mine.json", HAND_BELIEFS)
    values = scores(run("score", *orders, file, "--json", "--fill", "argmax"))
    components = {"order", "slots", "slot size", "slot topping"}
    defaults = {key for key in values if key[0] in components}
    assert {key[0] for key in defaults} == components
    assert {key[1:3] for key in defaults} == {(1, "final"), (1, "so_far"), (4, "final"), (4, "so_far")}
    assert {key[3] for key in defaults} == {"accuracy", "avgp", "roc.v1_eer"}
    # (size, topping) wanted in the end: big, ham in d1; small, nothing in d2. The best beliefs, turn by turn:
    # big, None; big, olives; None, None; small, None.
    assert values["slots", 1, "final", "accuracy"] == 5 / 8
    assert values["slots", 1, "so_far", "accuracy"] == 7 / 8
    assert values["order", 1, "final", "accuracy"] == 1 / 4
    assert values["order", 1, "so_far", "accuracy"] == 3 / 4
    # Nothing is wanted at the first turn of d2.
    assert values["slots", 4, "final", "accuracy"] == 4 / 6
    assert values["slots", 1, "final", "avgp"] == pytest.approx((0.3 + 0 + 0.3 + 0.4 + 0 + 1 + 0.9 + 1) / 8)
    # Of sizes 1 (None) is wrong, .9, .3 and .3 are right; a point accepts the first of equal scores alone.
    assert values["slot size", 1, "final", "roc.v1_eer"] == pytest.approx((1 + 1) / 4)
    assert values["state", 1, "final", "jga(fill=argmax)"] == 1 / 4
    assert values["state", 1, "so_far", "jga(fill=argmax)"] == 3 / 4
    lines = run("score", *orders, file).output.splitlines()
    assert {tuple(line.split()[1:4]) for line in lines if line.startswith("mine ")} == {
        ("order", "1", "final"),
        ("order", "4", "final"),
    }
    assert_refused(run("score", *orders, file, "--metric", "l2"), "l2 is not defined for orders")
    assert_refused(run("score", *orders, file, "--schedule", "2"), "expected one of 1, 4")


def test_its_files_are_validated(orders: Any, tmp_path: Path) -> None:
    assert "2 sessions, 4 turns, no problems" in run("validate", *orders).output
    negative = {**HAND_BELIEFS, "d2": [{"size": {"big": -0.5}}, {}]}
    done = run("validate", *orders, write_lines(tmp_path / "mine.json", negative))
    assert done.code == 0
    assert "session d2, turn 0, slot size: a negative score, which stays negative" in done.output
    short = write_lines(tmp_path / "short.json", {"d1": HAND_BELIEFS["d1"]})
    assert_refused(run("validate", *orders, short))


READS_ONLY = """
from tiny_plugin.format import ORDERS, OrderFiles
from extrinsic.registry import FORMATS

class ReadsOnly:
    name, conventions, default_domain = "reads-only", ORDERS, OrderFiles.default_domain
    read_corpus, read_tracker = OrderFiles.read_corpus, OrderFiles.read_tracker

FORMATS.register("reads-only", ReadsOnly(), "orders that nobody writes")
"""


def test_a_file_named_on_the_command_line(orders: Any, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(READS_ONLY)
    assert "orders that nobody writes" in run("ls", "formats", "--plugin", file).output
    mine = ("--format", "reads-only", *orders[2:], "--plugin", file)
    beliefs = write_lines(tmp_path / "mine.json", HAND_BELIEFS)
    assert scores(run("score", *mine, beliefs, "--json"))["slots", 1, "final", "accuracy"] == 5 / 8
    done = run("track", *mine, "--tracker", "focus", "--output", tmp_path / "out.json")
    assert_refused(done, "'reads-only' cannot write tracker files")


def test_a_format_of_a_file_is_tracked_on_in_two_processes(orders: Any, tmp_path: Path) -> None:
    """The corpus holds functions of the file, so the processes must import it before they get the corpus."""
    source = (PACKAGE / "tiny_plugin" / "format.py").read_text().replace('name = "orders"', 'name = "mine"')
    shutil.copy(PACKAGE / "tiny_plugin" / "orders.toml", tmp_path)
    registered = 'from extrinsic.registry import FORMATS\nFORMATS.register("mine", FORMAT, "mine")\n'
    (tmp_path / "mine.py").write_text(f"{source}\n{registered}")
    mine = ("--format", "mine", *orders[2:], "--plugin", tmp_path / "mine.py")
    names = ("--tracker", "focus", "--tracker", "baseline")
    done = extrinsic(tmp_path, "track", *mine, *names, "--output", tmp_path, "--n-jobs", 2)
    assert done.returncode == 0, done.stderr
    beliefs = [json.loads(line)["turns"] for line in (tmp_path / "baseline.json").read_text().splitlines()]
    assert beliefs[0][:2] == [
        {"size": {"big": 0.3}, "topping": {}},
        {"size": {"big": 0.3}, "topping": {"ham": 0.8}},
    ]
    values = scores(run("score", *orders, tmp_path / "baseline.json", "--json"))
    # Both slots of d1's last turn are now right, and with `big` before None so is the order.
    assert values["order", 1, "so_far", "accuracy"] == 1.0


ORDER_STUDY = """
name = "orders"
[corpus]
format = "orders"
path = "."
train = "train"
test = "test"
[trackers]
built_in = ["baseline", "focus", "last_turn"]
[metrics]
fill = ["argmax"]
[policy]
learner = ["counted", "kernel_lspi"]
policies = ["rl", "sl"]
[policy.counted]
steps = 4
[reward]
kind = "right_order"
right = 20.0
[value]
estimators = ["lstd"]
[correlation]
resamples = 100
permutations = 99
subsets = 5
"""


@pytest.fixture(scope="module")
def order_run(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished study of the plugin's calls with its reward; its learner beside ours."""
    root = tmp_path_factory.mktemp("orders")
    write_lines(root / "train.jsonl", random_dialogs("a", 40))
    write_lines(root / "test.jsonl", random_dialogs("b", 30))
    (root / "study.toml").write_text(ORDER_STUDY)
    done = extrinsic(installed, "run", root / "study.toml", "--output", root / "run", "--quiet")
    assert done.returncode == 0, done.stderr
    return root / "run"


def test_a_study_scores_and_pays_by_its_conventions(plugged: None, order_run: Path, tmp_path: Path) -> None:
    rows = rows_of(order_run, "intrinsic")
    assert {row["component"] for row in rows} == {"order", "slots", "state"}
    assert {row["label_scheme"] for row in rows} == {"final"}
    assert {row["schedule"] for row in rows if row["component"] == "order"} == {"1", "4"}
    assert {"accuracy", "avgp", "roc.v1_eer", "jga(fill=argmax)"} <= {row["metric"] for row in rows}
    # Every metric of the table equals what `score` says about the same tracker.
    arguments = ("--format", "orders", "--corpus", order_run.parent, "--dataset", "test")
    run("track", *arguments, "--tracker", "focus", "--output", tmp_path / "focus.json")
    values = scores(run("score", *arguments, tmp_path / "focus.json", "--json"))
    in_run = {
        (row["component"], int(row["schedule"]), row["label_scheme"], row["metric"]): float(row["value"])
        for row in rows
        if row["tracker"] == "focus" and row["component"] != "state"
    }
    assert in_run == {key: values[key] for key in in_run}
    # By hand: 20 for an order whose best beliefs are what is wanted in the end, less 1 a turn.
    dialogs, beliefs = (
        [json.loads(line)["turns"] for line in path.read_text().splitlines()]
        for path in (order_run.parent / "test.jsonl", tmp_path / "focus.json")
    )
    earned = []
    for turns, believed in zip(dialogs, beliefs, strict=True):
        best = {slot: max(scored, key=scored.get) for slot, scored in believed[-1].items() if scored}
        earned.append(20.0 * (best == turns[-1]["goal"]) - len(turns))
    (observed,) = {
        float(row["value"])
        for row in rows_of(order_run, "returns")
        if (row["tracker"], row["estimator"]) == ("focus", "observed")
    }
    assert observed == pytest.approx(sum(earned) / len(earned), abs=1e-9)
    assert len(set(earned)) > 2


def test_a_study_has_its_learner_beside_ours(order_run: Path) -> None:
    rows = rows_of(order_run, "returns")
    learned = [row for row in rows if row["policy"] == "rl"]
    assert {row["variant"] for row in learned} == {
        f"learner={name}, reward=right_order" for name in ("counted", "kernel_lspi")
    }
    kinds = {("behaviour", "observed"), ("rl", "lstd"), ("rl", "gain"), ("sl", "lstd")}
    assert {(row["policy"], row["estimator"]) for row in rows} == kinds
    assert all(math.isfinite(float(row["value"])) for row in rows)
    reported: dict[str, set[str]] = {}
    for row in rows_of(order_run, "diagnostics"):
        if row["estimator"] == "learner":
            reported.setdefault(row["variant"].split(",")[0], set()).add(row["diagnostic"])
    assert reported["learner=counted"] == {"cells", "lowest_q", "highest_q"}
    assert {"kernels", "iterations", "zero_kernel"} < reported["learner=kernel_lspi"]
    settings = tomllib.loads((order_run / "config.toml").read_text())
    assert settings["policy"]["counted"] == {"steps": 4, "sweeps": 50}
    assert settings["reward"] == {"kind": "right_order", "right": 20.0, "fill": settings["reward"]["fill"]}


def test_changed_code_of_a_package_is_learned_with_again(
    installed: Path, order_run: Path, tmp_path: Path
) -> None:
    """A new version of the package pays otherwise: what was learned before is not taken for it."""
    site, root = tmp_path / "site", tmp_path / "study"
    shutil.copytree(installed, site)
    shutil.copytree(order_run.parent, root)
    before = {row["value"] for row in rows_of(root / "run", "returns")}
    file = site / "tiny_plugin" / "reward.py"
    file.write_text(file.read_text().replace("earned = np.full", "earned = 2 * np.full"))
    options = ("--output", root / "run", "--quiet", "--no-report")
    done = extrinsic(site, "run", root / "study.toml", *options)
    assert done.returncode == 0, done.stderr
    timings = rows_of(root / "run", "timings")
    assert {row["status"] for row in timings if row["stage"] == "learn"} == {"computed"}
    assert {row["status"] for row in timings if row["stage"] == "score"} == {"reused"}
    assert before.isdisjoint(row["value"] for row in rows_of(root / "run", "returns"))


@pytest.mark.parametrize(
    ("name", "source", "messages"),
    [
        ("kernel_lspi", "THING = 1\n", ["'kernel_lspi' is registered twice", "'bad_package:THING'"]),
        ("mine", "THING = 1\n", ["the learner 'mine' cannot be given options", "found 1"]),
        (
            "mine",
            "from dataclasses import dataclass\n@dataclass\nclass THING:\n    learn = None\n",
            ["the learner 'mine' lacks fit"],
        ),
        ("mine", "import json\njson.loads('[')\n", ["at line 2 of", "bad_package.py: JSONDecodeError"]),
        ("mine", "x = 1\n", ["the learner 'mine' cannot be loaded", "has no attribute 'THING'"]),
    ],
)
def test_a_package_whose_learner_cannot_be_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, source: str, messages: list[str]
) -> None:
    """It can be listed, since listing imports nothing; a study that names it is told what is wrong."""
    metadata = tmp_path / "bad_package-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: bad-package\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[extrinsic.learners]\n{name} = bad_package:THING\n")
    (tmp_path / "bad_package.py").write_text(source)
    (tmp_path / "study.toml").write_text(
        f'name = "x"\n[simulation]\n[trackers]\nbuilt_in = ["hwu"]\n[policy]\nlearner = "{name}"\n'
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "bad_package", raising=False)
    entries = {entry.name: entry for entry in LEARNERS.entries() if not entry.summary.startswith("from ")}
    monkeypatch.setattr(LEARNERS, "_entries", entries)
    monkeypatch.setattr(LEARNERS, "_complete", False)
    if name == "mine":
        assert "from bad-package" in run("ls", "learners").output
        messages = ["key policy.learner", *messages]
    assert_refused(run("run", tmp_path / "study.toml", "--output", tmp_path / "run"), *messages)


CONFIG = """from dataclasses import dataclass
from extrinsic.registry import BEHAVIOURS, BLOCKS, ESTIMATORS, LEARNERS, REWARDS, WORLDS

@dataclass(frozen=True)
class Mine:
    def fit(self, transitions, behaviour): ...
"""
NO_FORMAT = """from extrinsic.registry import FORMATS
class Mine:
    name = 'mine'
    def read_corpus(self): ...
    read_tracker = conventions = read_corpus
FORMATS.register('mine', Mine(), 'mine')
"""


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("x = 1\n\n1 / 0\n", ["mine.py", "line 3", "ZeroDivisionError: division by zero"]),
        ("import nowhere_to_be_found\n", ["line 1", "ModuleNotFoundError", "nowhere_to_be_found"]),
        ("x = 1\ndef\n", ["line 2", "SyntaxError"]),
        ("\0\1\2", ["mine.py", "null bytes"]),
        ("import sys\nsys.exit(3)\n", ["line 2", "SystemExit"]),
        (
            CONFIG + "LEARNERS.register('kernel_lspi', Mine, 'mine')\n",
            ["line 7", "the learner 'kernel_lspi' is registered twice", "KernelLSPI", "Mine"],
        ),
        (NO_FORMAT, ["line 6", "the format 'mine' lacks default_domain"]),
        (CONFIG + "REWARDS.register('mine', Mine, 'mine')\n", ["the reward 'mine' lacks __call__"]),
        (
            CONFIG + "BEHAVIOURS.register('mine', Mine, 'mine')\n",
            ["lacks cross_fitted (expected fit, cross_"],
        ),
        (CONFIG + "WORLDS.register('mine', Mine, 'mine')\n", ["line 7", "the world 'mine' lacks read"]),
        (CONFIG + "ESTIMATORS.register('mine', Mine, 'mine')\n", ["lacks name, estimate, needs, resampled"]),
        (CONFIG + "BLOCKS.register('mine', Mine, 'mine')\n", ["block 'mine' lacks columns, discrete"]),
        (
            CONFIG + "LEARNERS.register('mine', Mine(), 'mine')\n",
            ["line 7", "the learner 'mine' cannot be given options", "a dataclass or msgspec.Struct"],
        ),
        (
            CONFIG + "REWARDS.register('mine', lambda corpus, output: 0.0, 'mine')\n",
            ["line 7", "the reward 'mine' cannot be given options"],
        ),
        (
            CONFIG + "def learn():\n    return Mine(ridge=3)\nlearn()\n",
            ["line 8", "keyword argument 'ridge'"],
        ),
    ],
)
def test_a_file_that_cannot_be_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, messages: list[str]
) -> None:
    """Refused with its line, on the command line and in a study."""
    # What the file registers before it fails must not meet other tests.
    monkeypatch.setattr(LEARNERS, "_entries", {entry.name: entry for entry in LEARNERS.entries()})
    (tmp_path / "mine.py").write_text(text)
    (tmp_path / "study.toml").write_text(
        'name = "x"\nplugins = ["mine.py"]\n[simulation]\n[trackers]\nbuilt_in = ["hwu"]\n'
    )
    assert_refused(run("ls", "formats", "--plugin", tmp_path / "mine.py"), *messages)
    assert_refused(run("run", tmp_path / "study.toml", "--output", tmp_path / "run"), *messages)


@pytest.mark.parametrize(
    ("command", "name", "message"),
    [
        ("ls formats", "nowhere.py", "there is no such file"),
        ("ls formats", "notes.txt", "this is not a Python file"),
        ("ls formats", ".", "directory"),
        ("score --format dstc1 f", "nowhere.py", "there is no such file"),
        ("validate --format dstc1", "nowhere.py", "there is no such file"),
        ("track --format dstc1 --tracker focus --output o", "nowhere.py", "there is no such file"),
    ],
)
def test_a_plugin_that_is_no_python_file(tmp_path: Path, command: str, name: str, message: str) -> None:
    (tmp_path / "notes.txt").write_text("x = 1\n")
    assert_refused(run(*command.split(), "--plugin", tmp_path / name), message)


FAILING_LEARNER = """from dataclasses import dataclass
from extrinsic.registry import LEARNERS
@dataclass(frozen=True)
class Failing:
    step: float
    def fit(self, transitions, behaviour):
        raise ValueError("singular")
LEARNERS.register("failing", Failing, "cannot learn")
"""


def test_an_exception_in_a_plugin_is_the_plugins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its file and line are named; an option without a default is listed as required, and asked for."""
    monkeypatch.setattr(LEARNERS, "_entries", {entry.name: entry for entry in LEARNERS.entries()})
    file, study = tmp_path / "failing.py", tmp_path / "study.toml"
    file.write_text(FAILING_LEARNER)
    study.write_text(
        f'name = "x"\nplugins = ["{file}"]\n[simulation]\ndatasets = ["ds4"]\n[trackers]\n'
        'built_in = ["hwu"]\n[policy]\nlearner = "failing"\n'
        '[reward]\nfill = ["argmax"]\n[value]\nestimators = ["lstd"]\n'
    )
    options = ("--output", tmp_path / "run", "--n-jobs", "1")
    assert_refused(run("run", study, *options), "key policy.failing.step: missing")
    done = run("run", study, *options, "--set", "policy.failing.step=1.0")
    assert_refused(done, f"{file}: line 7 raised ValueError: singular")
    assert "step (required)" in run("ls", "learners", "failing").output
