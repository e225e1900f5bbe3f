"""Things of one's own: from an installed package by its entry points, and from a file that a study names."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from extrinsic.cli.main import main
from extrinsic.errors import InputError
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
    assert "stubborn" in extrinsic(installed, "ls", "trackers").stdout
    assert "at most one wrong slot" in extrinsic(installed, "ls", "metrics", "nearly_right").stdout


def test_its_metric_scores(installed: Path, tmp_path: Path) -> None:
    file = write_state_sets(tmp_path, small_state_sets())
    done = extrinsic(installed, "score", "--format", "state-sets", file, "--metric", "nearly_right", "--csv")
    assert done.returncode == 0, done.stderr
    # Of the three turns of the sample one state is wrong, and in more than one slot.
    assert "nearly_right,1,,3,0.6666666666666666" in done.stdout


def test_its_tracker_plays_in_a_study_with_two_processes(installed: Path, tmp_path: Path) -> None:
    config = tmp_path / "study.toml"
    config.write_text(STUDY.format(more="", world=_tiny_world(tmp_path)))
    done = extrinsic(installed, "run", config, "--output", tmp_path / "run", "--n-jobs", "2", "--quiet")
    assert done.returncode == 0, done.stderr
    assert "stubborn" in (tmp_path / "run" / "returns.csv").read_text()


def test_its_world_is_simulated_with_two_processes(installed: Path, tmp_path: Path) -> None:
    options = ("--world", "pizza", "--output", tmp_path / "orders", "--n-jobs", "2", "--json")
    done = extrinsic(installed, "simulate", *options)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert [(row["dataset"], row["dialogs"]) for row in rows] == [("orders_train", 60), ("orders_test", 60)]
    assert len(list((tmp_path / "orders" / "orders_test").iterdir())) == 60
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
    done = extrinsic(tmp_path, "run", config, "--output", tmp_path / "run", "--n-jobs", "2", "--quiet")
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


def test_a_study_of_its_calls(installed: Path, tmp_path: Path) -> None:
    write_lines(tmp_path / "train.jsonl", random_dialogs("a", 40))
    write_lines(tmp_path / "test.jsonl", random_dialogs("b", 30))
    (tmp_path / "study.toml").write_text(ORDER_STUDY)
    done = extrinsic(installed, "run", tmp_path / "study.toml", "--output", tmp_path / "run", "--quiet")
    assert done.returncode == 0, done.stderr
    with (tmp_path / "run" / "intrinsic.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["component"] for row in rows} == {"order", "slots", "state"}
    assert {row["label_scheme"] for row in rows} == {"final"}
    assert {row["schedule"] for row in rows if row["component"] == "order"} == {"1", "4"}
    assert {"accuracy", "avgp", "roc.v1_eer", "jga(fill=argmax)"} <= {row["metric"] for row in rows}
    with (tmp_path / "run" / "returns.csv").open() as file:
        returns = list(csv.DictReader(file))
    assert {row["tracker"] for row in returns} == {"baseline", "focus", "last_turn"}
    assert {row["policy"] for row in returns} >= {"rl"}
    # Every metric of the table equals what `score` says about the same tracker.
    arguments = ("--format", "orders", "--corpus", tmp_path, "--dataset", "test")
    extrinsic(installed, "track", *arguments, "--tracker", "focus", "--output", tmp_path / "focus.json")
    values = scores(extrinsic(installed, "score", *arguments, tmp_path / "focus.json", "--json"))
    in_run = {
        (row["component"], int(row["schedule"]), row["label_scheme"], row["metric"]): float(row["value"])
        for row in rows
        if row["tracker"] == "focus" and row["component"] != "state"
    }
    assert in_run == {key: values[key] for key in in_run}


def test_the_label_scheme_of_a_study_is_checked(installed: Path, tmp_path: Path) -> None:
    write_lines(tmp_path / "train.jsonl", random_dialogs("a", 2))
    write_lines(tmp_path / "test.jsonl", random_dialogs("b", 2))
    (tmp_path / "study.toml").write_text(
        ORDER_STUDY.replace("[metrics]", '[metrics]\nlabel_scheme = "finally"')
    )
    done = extrinsic(installed, "run", tmp_path / "study.toml", "--output", tmp_path / "run", "--quiet")
    assert done.returncode == 2 and "did you mean 'final'?" in done.stderr


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
            "from dataclasses import replace\nfrom extrinsic.corpus.conventions import DSTC2\n"
            "replace(DSTC2, roc_points='distinct_score')\n",
            ["line 3", "did you mean 'distinct_scores'?"],
        ),
    ],
)
def test_a_bad_file_on_the_command_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, messages: list[str]
) -> None:
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
policies = ["rl"]
[reward]
fill = ["argmax"]
[value]
estimators = ["lstd"]
[correlation]
resamples = 100
permutations = 99
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
"""


def _tiny_world(folder: Path) -> Path:
    path = folder / "world.toml"
    path.write_text("[datasets.tiny.splits.train]\ndialogs = 30\n[datasets.tiny.splits.test]\ndialogs = 20\n")
    return path
