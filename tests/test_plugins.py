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
from typing import Any

import pytest

from extrinsic.cli.main import main
from extrinsic.errors import InputError
from extrinsic.registry import LEARNERS
from extrinsic.study.configuration.settings_file import read_study
from tests.builders import write_state_sets
from tests.order_calls import HAND_BELIEFS, HAND_DIALOGS, random_dialogs, write_lines
from tests.samples import small_state_sets

PACKAGE = Path(__file__).parent / "plugin_package"


def extrinsic(site: Path, *arguments: str | int | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site)}
    return subprocess.run(
        [sys.executable, "-m", "extrinsic", *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
    )


def test_an_installed_package_is_listed(installed: Path) -> None:
    listed = extrinsic(installed, "ls", "metrics").stdout
    assert "nearly_right" in listed and "from tiny-plugin" in listed
    assert "at most one wrong slot" in extrinsic(installed, "ls", "metrics", "nearly_right").stdout


@pytest.mark.parametrize(
    ("kind", "name", "ours"),
    [
        ("formats", "orders", "dstc2"),
        ("trackers", "stubborn", "focus"),
        ("learners", "counted", "kernel_lspi"),
        ("rewards", "right_order", "concepts"),
        ("worlds", "pizza", "bus"),
    ],
)
def test_every_kind_of_thing_is_listed_beside_ours(
    installed: Path, tmp_path: Path, kind: str, name: str, ours: str
) -> None:
    lines = dict(line.split(maxsplit=1) for line in extrinsic(installed, "ls", kind).stdout.splitlines())
    assert lines[name] == "from tiny-plugin" and ours in lines
    without = extrinsic(tmp_path, "ls", kind).stdout.splitlines()
    assert ours in {line.split()[0] for line in without}
    assert name not in {line.split()[0] for line in without}


def test_its_metric_scores(installed: Path, tmp_path: Path) -> None:
    file = write_state_sets(tmp_path, small_state_sets())
    done = extrinsic(installed, "score", "--format", "state-sets", file, "--metric", "nearly_right", "--csv")
    assert done.returncode == 0, done.stderr
    # Of the three turns of the sample one state is wrong, and in more than one slot.
    assert "nearly_right,1,,3,0.6666666666666666" in done.stdout


def rows_of(run: Path, table: str) -> list[dict[str, str]]:
    with (run / f"{table}.csv").open() as file:
        return list(csv.DictReader(file))


def test_its_tracker_and_learner_play_in_its_world_with_two_processes(
    installed: Path, tmp_path: Path
) -> None:
    """Learned, rewarded and played live by things that nothing but their entry points makes known."""
    config = tmp_path / "study.toml"
    config.write_text(PIZZA_STUDY)
    options = ("--output", tmp_path / "run", "--n-jobs", "2", "--quiet", "--no-report")
    done = extrinsic(installed, "run", config, *options)
    assert done.returncode == 0, done.stderr
    live = {row["tracker"]: row for row in rows_of(tmp_path / "run", "returns") if row["estimator"] == "live"}
    assert set(live) == {"stubborn", "baseline", "hwu"}
    for row in live.values():
        assert (row["dataset"], row["policy"], row["n"]) == ("orders", "rl", "40")
        # An order pays 10, and each of at most 15 turns costs 1.
        assert -15.0 <= float(row["low"]) < float(row["value"]) < float(row["high"]) <= 10.0
        assert (row["feasible_low"], row["feasible_high"]) == ("", "")
    learned = {
        row["diagnostic"] for row in rows_of(tmp_path / "run", "diagnostics") if row["estimator"] == "learner"
    }
    assert learned == {"cells", "lowest_q", "highest_q"}


def test_its_world_is_simulated_with_two_processes(installed: Path, tmp_path: Path) -> None:
    options = ("--world", "pizza", "--output", tmp_path / "orders", "--n-jobs", "2", "--json")
    done = extrinsic(installed, "simulate", *options)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert [(row["dataset"], row["dialogs"]) for row in rows] == [("orders_train", 60), ("orders_test", 60)]
    # Something can be requested, so calls are written as DSTC2's are.
    assert len(list((tmp_path / "orders").rglob("orders_test/*/label.json"))) == 60
    refused = extrinsic(installed, "simulate", "--world", "piza", "--output", tmp_path / "other")
    assert refused.returncode == 2
    assert "did you mean 'pizza'" in refused.stderr


def test_a_file_that_a_study_names(tmp_path: Path) -> None:
    source = (PACKAGE / "tiny_plugin" / "things.py").read_text()
    (tmp_path / "mine.py").write_text(
        source.replace(
            "STUBBORN = Stubborn()", 'TRACKERS.register("stubborn", Stubborn(), "first stays")'
        ).replace("import numpy as np", "import numpy as np\n\nfrom extrinsic.registry import TRACKERS")
    )
    config = tmp_path / "study.toml"
    config.write_text(STUDY.format(more='plugins = ["mine.py"]', world=_tiny_world(tmp_path)))
    options = ("--output", tmp_path / "run", "--n-jobs", "2", "--quiet", "--no-report")
    done = extrinsic(tmp_path, "run", config, *options)
    assert done.returncode == 0, done.stderr
    assert "stubborn" in (tmp_path / "run" / "returns.csv").read_text()


@pytest.mark.parametrize(
    ("text", "message"), [(None, "no such file"), ("1 / 0", "ZeroDivisionError"), ("def", "SyntaxError")]
)
def test_a_file_that_cannot_be_imported(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "mine.py").write_text(text)
    config = tmp_path / "study.toml"
    config.write_text(STUDY.format(more='plugins = ["mine.py"]', world=_tiny_world(tmp_path)))
    with pytest.raises(InputError, match=message):
        read_study(config)


@pytest.fixture
def orders(tmp_path: Path) -> tuple[str | Path, ...]:
    """Arguments for two calls of the plugin's own format, which nothing else knows about."""
    write_lines(tmp_path / "test.jsonl", HAND_DIALOGS)
    return "--format", "orders", "--corpus", tmp_path, "--dataset", "test"


def scores(done: subprocess.CompletedProcess[str]) -> dict[tuple[str, int, str, str], float]:
    """Values by component, schedule, label scheme and metric."""
    assert done.returncode == 0, done.stderr
    return {
        (row["component"], row["schedule"], row["label_scheme"], row["metric"]): row["value"]
        for row in json.loads(done.stdout)["rows"]
    }


def test_a_format_is_scored_by_its_own_conventions(installed: Path, orders: Any, tmp_path: Path) -> None:
    """Both challenges would put None (.7) before `big` (.3), and neither knows `final` or schedule 4."""
    file = write_lines(tmp_path / "mine.json", HAND_BELIEFS)
    values = scores(extrinsic(installed, "score", *orders, file, "--json", "--fill", "argmax"))
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


def test_its_table_and_its_refusals(installed: Path, orders: Any, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "mine.json", HAND_BELIEFS)
    table = extrinsic(installed, "score", *orders, file)
    assert table.returncode == 0, table.stderr
    first_words = {tuple(line.split()[1:4]) for line in table.stdout.splitlines() if line.startswith("mine ")}
    assert first_words == {("order", "1", "final"), ("order", "4", "final")}
    undefined = extrinsic(installed, "score", *orders, file, "--metric", "l2")
    assert undefined.returncode == 2 and "l2 is not defined for orders" in undefined.stderr
    elsewhere = extrinsic(installed, "score", *orders, file, "--schedule", "2")
    assert elsewhere.returncode == 2 and "expected one of 1, 4" in elsewhere.stderr


def test_its_files_are_validated(installed: Path, orders: Any, tmp_path: Path) -> None:
    assert "2 sessions, 4 turns, no problems" in extrinsic(installed, "validate", *orders).stdout
    negative = {**HAND_BELIEFS, "d2": [{"size": {"big": -0.5}}, {}]}
    done = extrinsic(installed, "validate", *orders, write_lines(tmp_path / "mine.json", negative))
    assert done.returncode == 0
    assert "session d2, turn 0, slot size: a negative score, which stays negative" in done.stdout
    short = write_lines(tmp_path / "short.json", {"d1": HAND_BELIEFS["d1"]})
    assert extrinsic(installed, "validate", *orders, short).returncode == 2


def test_it_is_tracked_on(installed: Path, orders: Any, tmp_path: Path) -> None:
    done = extrinsic(
        installed,
        "track",
        *orders,
        "--tracker",
        "baseline",
        "--tracker",
        "focus",
        "--output",
        tmp_path,
        "--n-jobs",
        2,
    )
    assert done.returncode == 0, done.stderr
    beliefs = [json.loads(line)["turns"] for line in (tmp_path / "baseline.json").read_text().splitlines()]
    assert beliefs[0][0] == {"size": {"big": 0.3}, "topping": {}}
    assert beliefs[0][1] == {"size": {"big": 0.3}, "topping": {"ham": 0.8}}
    values = scores(extrinsic(installed, "score", *orders, tmp_path / "baseline.json", "--json"))
    # Both slots of d1's last turn are now right, and with `big` before None so is the order.
    assert values["order", 1, "so_far", "accuracy"] == 1.0


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


def test_a_study_is_scored_by_its_conventions(installed: Path, order_run: Path, tmp_path: Path) -> None:
    rows = rows_of(order_run, "intrinsic")
    assert {row["component"] for row in rows} == {"order", "slots", "state"}
    assert {row["label_scheme"] for row in rows} == {"final"}
    assert {row["schedule"] for row in rows if row["component"] == "order"} == {"1", "4"}
    assert {"accuracy", "avgp", "roc.v1_eer", "jga(fill=argmax)"} <= {row["metric"] for row in rows}
    # Every metric of the table equals what `score` says about the same tracker.
    arguments = ("--format", "orders", "--corpus", order_run.parent, "--dataset", "test")
    extrinsic(installed, "track", *arguments, "--tracker", "focus", "--output", tmp_path / "focus.json")
    values = scores(extrinsic(installed, "score", *arguments, tmp_path / "focus.json", "--json"))
    in_run = {
        (row["component"], int(row["schedule"]), row["label_scheme"], row["metric"]): float(row["value"])
        for row in rows
        if row["tracker"] == "focus" and row["component"] != "state"
    }
    assert in_run == {key: values[key] for key in in_run}


def test_a_study_has_its_learner_beside_ours(order_run: Path) -> None:
    rows = rows_of(order_run, "returns")
    assert {row["tracker"] for row in rows} == {"baseline", "focus", "last_turn"}
    variants = {f"learner={name}, reward=right_order" for name in ("counted", "kernel_lspi")}
    learned = [row for row in rows if row["policy"] == "rl"]
    assert {row["variant"] for row in learned} == variants
    assert {(row["policy"], row["estimator"]) for row in rows} == {
        ("behaviour", "observed"),
        ("rl", "lstd"),
        ("rl", "gain"),
        ("sl", "lstd"),
    }
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


def test_a_study_pays_by_its_reward(installed: Path, order_run: Path, tmp_path: Path) -> None:
    """By hand: 20 for an order whose best beliefs are what is wanted in the end, less 1 a turn."""
    arguments = ("--format", "orders", "--corpus", order_run.parent, "--dataset", "test")
    extrinsic(installed, "track", *arguments, "--tracker", "focus", "--output", tmp_path / "focus.json")
    dialogs, beliefs = (
        [json.loads(line)["turns"] for line in path.read_text().splitlines()]
        for path in (order_run.parent / "test.jsonl", tmp_path / "focus.json")
    )
    earned = []
    for turns, believed in zip(dialogs, beliefs, strict=True):
        best = {slot: max(scores, key=scores.get) for slot, scores in believed[-1].items() if scores}
        earned.append(20.0 * (best == turns[-1]["goal"]) - len(turns))
    (observed,) = {
        float(row["value"])
        for row in rows_of(order_run, "returns")
        if (row["tracker"], row["estimator"]) == ("focus", "observed")
    }
    assert observed == pytest.approx(sum(earned) / len(earned), abs=1e-9)
    assert len(set(earned)) > 2


def test_changed_code_of_a_package_is_learned_with_again(
    installed: Path, order_run: Path, tmp_path: Path
) -> None:
    """A new version of the package pays otherwise: what was learned before is not taken for it."""
    site, root = tmp_path / "site", tmp_path / "study"
    shutil.copytree(installed, site)
    shutil.copytree(order_run.parent, root)
    again = ("run", root / "study.toml", "--output", root / "run", "--quiet", "--no-report")
    extrinsic(site, *again)
    statuses = {
        row["status"] for row in rows_of(root / "run", "timings") if row["stage"] in ("score", "learn")
    }
    assert statuses == {"reused"}
    before = {row["value"] for row in rows_of(root / "run", "returns")}
    file = site / "tiny_plugin" / "reward.py"
    file.write_text(file.read_text().replace("earned = np.full", "earned = 2 * np.full"))
    done = extrinsic(site, *again)
    assert done.returncode == 0, done.stderr
    timings = rows_of(root / "run", "timings")
    assert {row["status"] for row in timings if row["stage"] == "learn"} == {"computed"}
    assert {row["status"] for row in timings if row["stage"] == "score"} == {"reused"}
    assert before.isdisjoint(row["value"] for row in rows_of(root / "run", "returns"))


def test_the_label_scheme_of_a_study_is_checked(installed: Path, tmp_path: Path) -> None:
    write_lines(tmp_path / "train.jsonl", random_dialogs("a", 2))
    write_lines(tmp_path / "test.jsonl", random_dialogs("b", 2))
    (tmp_path / "study.toml").write_text(
        ORDER_STUDY.replace("[metrics]", '[metrics]\nlabel_scheme = "finally"')
    )
    done = extrinsic(installed, "run", tmp_path / "study.toml", "--output", tmp_path / "run", "--quiet")
    assert done.returncode == 2 and "did you mean 'final'?" in done.stderr


def site_with(folder: Path, group: str, name: str, source: str) -> Path:
    """A folder as an installer leaves it, with a package whose one entry point is `bad_package:THING`."""
    metadata = folder / "bad_package-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: bad-package\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[extrinsic.{group}]\n{name} = bad_package:THING\n")
    (folder / "bad_package.py").write_text(source)
    return folder


def test_a_package_that_takes_a_name_of_ours(tmp_path: Path) -> None:
    site = site_with(tmp_path, "learners", "kernel_lspi", "THING = 1\n")
    done = extrinsic(site, "ls", "learners")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "the learner 'kernel_lspi' is registered twice" in done.stderr
    assert "'bad_package:THING'" in done.stderr


@pytest.mark.parametrize(
    ("source", "messages"),
    [
        ("THING = 1\n", ["the learner 'mine' cannot be given options", "found 1"]),
        (
            "from dataclasses import dataclass\n@dataclass\nclass THING:\n    learn = None\n",
            ["the learner 'mine' lacks fit"],
        ),
        ("x = 1\n\n1 / 0\n", ["'bad_package:THING' at line 3 of", "bad_package.py: ZeroDivisionError"]),
        ("import json\njson.loads('[')\n", ["at line 2 of", "bad_package.py: JSONDecodeError"]),
        ("x = 1\ndef\n", ["at line 2 of", "SyntaxError"]),
        ("x = 1\n", ["the learner 'mine' cannot be loaded", "has no attribute 'THING'"]),
    ],
)
def test_a_package_whose_learner_cannot_be_used(tmp_path: Path, source: str, messages: list[str]) -> None:
    """It can be listed, since listing imports nothing; who asks for it is told what is wrong."""
    site = site_with(tmp_path, "learners", "mine", source)
    assert "from bad-package" in extrinsic(site, "ls", "learners").stdout
    config = tmp_path / "study.toml"
    config.write_text(STUDY.format(more="", world=_tiny_world(tmp_path)))
    options = ("--set", "policy.learner=mine", "--set", 'trackers.built_in=["baseline", "hwu", "focus"]')
    done = extrinsic(site, "run", config, "--output", tmp_path / "run", *options)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert all(message in done.stderr for message in ("key policy.learner", *messages)), done.stderr


READS_ONLY = """
from tiny_plugin.format import ORDERS, OrderFiles
from extrinsic.registry import FORMATS

class ReadsOnly:
    name, conventions, default_domain = "reads-only", ORDERS, OrderFiles.default_domain
    read_corpus, read_tracker = OrderFiles.read_corpus, OrderFiles.read_tracker

FORMATS.register("reads-only", ReadsOnly(), "orders that nobody writes")
"""


def test_a_file_named_on_the_command_line(installed: Path, orders: Any, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(READS_ONLY)
    listed = extrinsic(installed, "ls", "formats", "--plugin", file)
    assert "orders that nobody writes" in listed.stdout, listed.stderr
    mine = ("--format", "reads-only", *orders[2:], "--plugin", file)
    assert extrinsic(installed, "validate", *mine).returncode == 0
    beliefs = write_lines(tmp_path / "mine.json", HAND_BELIEFS)
    values = scores(extrinsic(installed, "score", *mine, beliefs, "--json"))
    assert values["slots", 1, "final", "accuracy"] == 5 / 8
    done = extrinsic(installed, "track", *mine, "--tracker", "focus", "--output", tmp_path / "out.json")
    assert done.returncode == 2 and "'reads-only' cannot write tracker files" in done.stderr


def test_a_format_of_a_file_is_tracked_on_in_two_processes(
    installed: Path, orders: Any, tmp_path: Path
) -> None:
    """The corpus holds functions of the file, so the processes must import it before they get the corpus."""
    file = tmp_path / "mine.py"
    source = (PACKAGE / "tiny_plugin" / "format.py").read_text()
    shutil.copy(PACKAGE / "tiny_plugin" / "orders.toml", tmp_path)
    file.write_text(
        source.replace('name = "orders"', 'name = "mine"')
        + '\nfrom extrinsic.registry import FORMATS\nFORMATS.register("mine", FORMAT, "mine")\n'
    )
    names = ("--tracker", "focus", "--tracker", "baseline")
    done = extrinsic(
        tmp_path,
        "track",
        "--format",
        "mine",
        *orders[2:],
        "--plugin",
        file,
        *names,
        "--output",
        tmp_path,
        "--n-jobs",
        2,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "focus.json").exists() and (tmp_path / "baseline.json").exists()


CONFIG = """from dataclasses import dataclass
from extrinsic.registry import BEHAVIOURS, BLOCKS, ESTIMATORS, LEARNERS, REWARDS, WORLDS

@dataclass(frozen=True)
class Mine:
    def fit(self, transitions, behaviour): ...
"""


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("x = 1\n\n1 / 0\n", ["mine.py", "line 3", "ZeroDivisionError: division by zero"]),
        ("import json\njson.loads('[')\n", ["mine.py", "line 2", "JSONDecodeError"]),
        ("import nowhere_to_be_found\n", ["line 1", "ModuleNotFoundError", "nowhere_to_be_found"]),
        ("x = 1\ndef\n", ["line 2", "SyntaxError"]),
        ("\0\1\2", ["mine.py", "null bytes"]),
        ("import sys\nsys.exit(3)\n", ["line 2", "SystemExit"]),
        (
            "from extrinsic.registry import FORMATS\n\nFORMATS.register('dstc2', 'mine:FORMAT', 'mine')\n",
            ["line 3", "the format 'dstc2' is registered twice", "formats.dstc2", "'mine:FORMAT'"],
        ),
        (
            "from extrinsic.registry import FORMATS\nclass Mine:\n    name = 'mine'\n"
            "    def read_corpus(self): ...\n    read_tracker = conventions = read_corpus\n"
            "FORMATS.register('mine', Mine(), 'mine')\n",
            ["line 6", "the format 'mine' lacks default_domain"],
        ),
        (
            CONFIG + "LEARNERS.register('kernel_lspi', Mine, 'mine')\n",
            ["line 7", "the learner 'kernel_lspi' is registered twice", "KernelLSPI", "Mine"],
        ),
        (
            CONFIG + "LEARNERS.register('mine', Mine, 'mine')\nLEARNERS.register('mine', Mine, 'again')\n",
            ["line 8", "the learner 'mine' is registered twice"],
        ),
        (
            CONFIG + "REWARDS.register('mine', Mine, 'mine')\n",
            ["line 7", "the reward 'mine' lacks __call__"],
        ),
        (
            CONFIG + "BEHAVIOURS.register('mine', Mine, 'mine')\n",
            ["line 7", "the behaviour model 'mine' lacks cross_fitted (expected fit, cross_fitted"],
        ),
        (CONFIG + "WORLDS.register('mine', Mine, 'mine')\n", ["line 7", "the world 'mine' lacks read"]),
        (
            CONFIG + "ESTIMATORS.register('mine', Mine, 'mine')\n",
            ["line 7", "the estimator 'mine' lacks name, estimate, needs, resampled_over"],
        ),
        (
            CONFIG + "BLOCKS.register('mine', Mine, 'mine')\n",
            ["line 7", "the feature block 'mine' lacks columns, discrete"],
        ),
        (
            CONFIG + "LEARNERS.register('mine', Mine(), 'mine')\n",
            [
                "line 7",
                "the learner 'mine' cannot be given options",
                "expected a dataclass or msgspec.Struct",
            ],
        ),
        (
            CONFIG + "class Plain:\n    def fit(self): ...\nLEARNERS.register('mine', Plain, 'mine')\n",
            ["line 9", "the learner 'mine' cannot be given options", "Plain"],
        ),
        (
            CONFIG + "REWARDS.register('mine', lambda corpus, output: 0.0, 'mine')\n",
            ["line 7", "the reward 'mine' cannot be given options"],
        ),
        (
            CONFIG + "def learn():\n    return Mine(ridge=3)\nlearn()\n",
            ["line 8", "TypeError", "unexpected keyword argument 'ridge'"],
        ),
        (
            "from dataclasses import replace\nfrom extrinsic.corpus.conventions import DSTC2\n"
            "replace(DSTC2, roc_points='distinct_score')\n",
            ["line 3", "did you mean 'distinct_scores'?"],
        ),
    ],
)
def test_a_bad_file_on_the_command_line(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    text: str,
    messages: list[str],
) -> None:
    # What the file registers before it fails must not meet other tests.
    monkeypatch.setattr(LEARNERS, "_entries", {entry.name: entry for entry in LEARNERS.entries()})
    file = tmp_path / "mine.py"
    file.write_text(text)
    assert main(["ls", "formats", "--plugin", str(file)]) == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error and all(message in error for message in messages), error


@pytest.mark.parametrize(
    ("name", "message"),
    [("nowhere.py", "there is no such file"), ("notes.txt", "this is not a Python file"), (".", "directory")],
)
@pytest.mark.parametrize("command", ["ls", "score", "validate", "track"])
def test_a_plugin_that_is_no_python_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, name: str, message: str
) -> None:
    (tmp_path / "notes.txt").write_text("x = 1\n")
    more = {
        "ls": [],
        "score": ["--format", "dstc1", "f"],
        "validate": ["--format", "dstc1"],
        "track": ["--format", "dstc1", "--tracker", "focus", "--output", "o"],
    }
    assert main([command, *more[command], "--plugin", str(tmp_path / name)]) == 2
    assert message in capsys.readouterr().err


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

PIZZA_STUDY = """
name = "pizza"
[simulation]
world = "pizza"
seed = 5
[trackers]
built_in = ["stubborn", "baseline", "hwu"]
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

STUDY = """
name = "plugged"
{more}
[simulation]
config = "{world}"
[trackers]
built_in = ["stubborn", "baseline", "hwu"]
[policy]
policies = ["rl"]
[reward]
fill = ["argmax"]
[value]
estimators = ["live"]
live_dialogs = 20
[correlation]
resamples = 100
permutations = 99
subsets = 5
"""


def _tiny_world(folder: Path) -> Path:
    path = folder / "world.toml"
    path.write_text("[datasets.tiny.splits.train]\ndialogs = 30\n[datasets.tiny.splits.test]\ndialogs = 20\n")
    return path


FAILING_LEARNER = """
from dataclasses import dataclass
from extrinsic.registry import LEARNERS


@dataclass(frozen=True)
class Failing:
    step: float

    def fit(self, transitions, behaviour):
        raise ValueError("singular")


LEARNERS.register("failing", Failing, "cannot learn")
"""


def test_an_exception_in_a_plugin_is_the_plugins(tmp_path: Path) -> None:
    """Its file and line are named; an option without a default is listed as required."""
    file = tmp_path / "failing.py"
    file.write_text(FAILING_LEARNER)
    study = tmp_path / "study.toml"
    study.write_text(
        f'name = "x"\nplugins = ["{file}"]\n[simulation]\ndatasets = ["ds4"]\n[trackers]\n'
        'built_in = ["hwu"]\n[policy]\nlearner = "failing"\n[policy.failing]\nstep = 1.0\n'
        '[reward]\nfill = ["argmax"]\n[value]\nestimators = ["lstd"]\n'
    )
    command = [sys.executable, "-m", "extrinsic"]
    done = subprocess.run(
        [*command, "run", str(study), "--output", str(tmp_path / "run"), "--n-jobs", "1"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert f"{file}: line 11 raised ValueError: singular" in done.stderr
    listed = subprocess.run(
        [*command, "ls", "learners", "failing", "--plugin", str(file)], capture_output=True, text=True
    )
    assert "step (required)" in listed.stdout
