"""`extrinsic score`: what it prints and what it chooses."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import extrinsic
from tests.builders import Written, write_json
from tests.running import Outcome, assert_refused, run, succeed
from tests.samples import small_dstc1, small_state_sets

ROW = ["tracker", "component", "metric", "schedule", "label_scheme", "n", "value"]


def score_bus(bus: Written, *options: object) -> Outcome:
    return succeed("score", "--format", "dstc1", "--corpus", bus.corpus, bus.tracker, *options)


def score_states(*options: object) -> Outcome:
    return succeed("score", "--format", "state-sets", *options)


def test_json(bus: Written) -> None:
    written = score_bus(bus, "--json").json()
    assert list(written) == ["signature", "rows"]
    assert all(list(row) == ROW for row in written["rows"])
    # 16 metrics, 3 schedules, 9 slots and joint and all.
    assert len(written["rows"]) == 16 * 3 * 11
    row = next(row for row in written["rows"] if row["component"] == "route")
    # Five turns: 61d is wrong at the first, 61c right at the second, None right in the other call.
    assert list(row.values()) == ["tracker", "route", "accuracy", 1, None, 5, 4 / 5]


def test_nothing_to_score_is_null(bus: Written) -> None:
    rows = score_bus(bus, "--component", "to.monument", "--schedule", 3, "--json").json()["rows"]
    assert len(rows) == 16
    assert {(row["n"], row["value"]) for row in rows} == {(0, None)}
    printed = score_bus(bus, "--component", "to.monument", "--schedule", 3, "--metric", "l2").output
    assert "to.monument" in printed
    assert "nan" not in printed.lower()


def test_intervals(bus: Written) -> None:
    written = score_bus(bus, "--bootstrap", 20, "--seed", 4, "--json").json()
    assert all(list(row) == [*ROW, "low", "high"] for row in written["rows"])
    assert written["signature"].endswith("|bootstrap:20,seed=4")
    route = written["rows"][0]
    assert route["low"] <= route["value"] <= route["high"]
    assert "[" in score_bus(bus, "--bootstrap", 20, "--metric", "accuracy", "--component", "route").output


def test_signature_says_what_was_scored(bus: Written) -> None:
    signature = score_bus(bus, "--json").json()["signature"]
    parts = dict(part.split(":") for part in signature.split("|"))
    assert list(parts) == ["extrinsic", "format", "dataset", "corpus", "tracker"]
    assert parts["extrinsic"] == extrinsic.__version__
    assert (parts["format"], parts["dataset"]) == ("dstc1", bus.dataset)
    for form in ((), ("--csv",)):
        assert signature in score_bus(bus, *form).output


def test_signature_changes_with_the_files(bus: Written, tmp_path: Path) -> None:
    files = small_dstc1()
    files.tracker["sessions"][0]["turns"][0]["route"]["hyps"][0]["score"] = 0.375
    other = write_json(tmp_path / "tracker.json", files.tracker)
    changed = run("score", "--format", "dstc1", "--corpus", bus.corpus, other, "--json").json()["signature"]
    same = score_bus(bus, "--json").json()["signature"]
    assert changed.rpartition("|")[0] == same.rpartition("|")[0]
    assert changed != same


def test_csv(bus: Written) -> None:
    rows = list(csv.DictReader(io.StringIO(score_bus(bus, "--csv").output)))
    written = score_bus(bus, "--json").json()
    assert list(rows[0]) == [*ROW, "signature"]
    assert {row["signature"] for row in rows} == {written["signature"]}
    for line, row in zip(rows, written["rows"], strict=True):
        assert line["value"] == ("" if row["value"] is None else repr(row["value"]))
        assert line["label_scheme"] == ""


def test_table_shows_the_telling_and_says_so(bus: Written) -> None:
    output = score_bus(bus).output
    assert "joint" in output and "all" in output
    assert "from.monument" not in output
    assert "12 of 528 scores shown" in output
    assert max(len(line) for line in output.splitlines() if "extrinsic:" not in line) <= 80
    assert "96 of 528 scores shown" in score_bus(bus, "--all").output
    # A filter shows what was asked for, and only that.
    asked = score_bus(bus, "--component", "from.monument", "--metric", "accuracy").output
    assert "from.monument" in asked and "joint" not in asked and "scores shown" not in asked


def test_table_has_a_line_for_each_label_scheme_asked_for(restaurants: Written) -> None:
    chosen = ["--component", "goal.food", "--metric", "accuracy", "--schedule", "1"]
    corpus = ("--format", "dstc2", "--corpus", restaurants.corpus)
    output = run("score", *corpus, restaurants.tracker, *chosen).output
    lines = [line.split() for line in output.splitlines()]
    assert lines[0] == ["tracker", "component", "schedule", "labels", "n", "accuracy"]
    assert [line[3] for line in lines[1:3]] == ["a", "b"]


def test_filters(bus: Written) -> None:
    chosen = "--metric l2 --metric roc.v1_eer --schedule 1 --schedule 3 --component joint --component time"
    rows = score_bus(bus, "--json", *chosen.split()).json()["rows"]
    assert {(row["metric"], row["schedule"], row["component"]) for row in rows} == {
        (metric, schedule, component)
        for metric in ("l2", "roc.v1_eer")
        for schedule in (1, 3)
        for component in ("joint", "time")
    }
    everything = score_bus(bus, "--json").json()["rows"]
    assert all(row in everything for row in rows)


def test_several_files_at_once(bus: Written, tmp_path: Path) -> None:
    other = write_json(tmp_path / "other.v2.json", small_dstc1().tracker)
    outcome = run("score", "--format", "dstc1", "--corpus", bus.corpus, bus.tracker, other, "--json")
    rows = outcome.json()["rows"]
    alone = score_bus(bus, "--json").json()["rows"]
    assert rows[: len(alone)] == alone
    # The tracker is called after its file; the same content scores the same.
    assert [{**row, "tracker": "other.v2"} for row in alone] == rows[len(alone) :]
    assert "|trackers:" in outcome.json()["signature"]


def test_state_sets_need_no_corpus(states: Path) -> None:
    rows = score_states(states, "--json").json()["rows"]
    assert {(row["component"], row["schedule"]) for row in rows} == {("all", 1)}
    by_metric = {row["metric"]: row["value"] for row in rows}
    assert by_metric["jga"] == 2 / 3
    assert {"gca", "fga(0.25)", "tail_orientation(2023)", "first_error"} <= set(by_metric)
    by_domain = score_states(states, "--json", "--component", "taxi", "--metric", "jga").json()["rows"]
    # The taxi is missing at the second of three turns.
    assert [(row["component"], row["n"], row["value"]) for row in by_domain] == [("taxi", 3, 2 / 3)]


def test_fill(bus: Written) -> None:
    fill = ("--fill", "argmax", "--fill", "threshold:0.7")
    rows = score_bus(bus, *fill, "--metric", "jga", "--json").json()["rows"]
    assert {row["component"] for row in rows} == {"state"}
    assert {row["metric"] for row in rows} == {"jga(fill=argmax)", "jga(fill=threshold:0.7)"}
    everything = score_bus(bus, "--fill", "threshold", "--json").json()["rows"]
    assert {"accuracy", "gca(fill=threshold)"} <= {row["metric"] for row in everything}


def test_repairs_are_mentioned(bus: Written, tmp_path: Path) -> None:
    files = small_dstc1()
    files.tracker["sessions"][0]["turns"][0]["route"]["hyps"][0]["score"] = -0.5
    path = write_json(tmp_path / "negative.json", files.tracker)
    outcome = run("score", "--format", "dstc1", "--corpus", bus.corpus, path, "--json")
    assert (outcome.code, "1 repair by" in outcome.errors) == (0, True)
    assert outcome.json()["rows"]


def test_every_process_prints_the_same(restaurants: Written) -> None:
    """Sets of texts come in another order in every process."""
    options = ("--fill", "argmax", "--bootstrap", "5", "--json")
    command = ["score", "--format", "dstc2", "--corpus", restaurants.corpus, restaurants.tracker, *options]
    program, environment = [sys.executable, "-m", "extrinsic"], {**os.environ, "PYTHONHASHSEED": "1"}
    other = subprocess.run([*program, *command], capture_output=True, check=True, env=environment)
    here = succeed(*command)
    assert here.json()["rows"] and here.output == other.stdout.decode()


def test_turn_correlation_is_one_document(states: Path, tmp_path: Path) -> None:
    """A constant score correlates with nothing: null, never NaN."""
    perfect = write_json(tmp_path / "perfect.json", {"a": {turn: {"gt": {}, "pr": {}} for turn in "01"}})
    both = (states, perfect, "--turn-correlation")
    written = score_states(*both, "--json").json()
    assert list(written) == ["signature", "rows"]
    assert len(written["rows"]) == 2 * 4 * 4
    names = {"tracker": "states", "metric": "jga", "other": "jga"}
    assert written["rows"][0] == {**names, "correlation": pytest.approx(1), "n": 3}
    assert {row["correlation"] for row in written["rows"] if row["tracker"] == "perfect"} == {None}
    rows = list(csv.DictReader(io.StringIO(score_states(*both, "--csv").output)))
    assert {row["tracker"] for row in rows} == {"states", "perfect"}
    table = score_states(*both, "--metric", "jga", "--metric", "slot_accuracy").output
    assert "over 3 turns" in table and "slot_accuracy" in table and "nan" not in table


def test_files_of_one_name_are_told_apart_by_their_folders(states: Path, tmp_path: Path) -> None:
    other = write_json(tmp_path / "other" / states.name, small_state_sets().states)
    rows = score_states(states, other, "--metric", "jga", "--json").json()["rows"]
    assert [row["tracker"] for row in rows] == [f"{states.parent.name}/states", "other/states"]
    outcome = run("score", "--format", "state-sets", states, states.parent / "." / states.name)
    assert_refused(outcome, "named more than once")


def test_a_number_is_never_cut_off(states: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    outcome = score_states(states, "--metric", "jga", "--bootstrap", "5")
    assert "\u2026" not in outcome.output and "]" in outcome.output


HOSTILE = "=[bold]<i>|`\x1b[31m\nforged line"


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("", "=[bold]<i>|`\\x1b[31m\\nforged line"),
        ("--csv", "'=[bold]<i>|`\\x1b[31m\\nforged line,"),
        ("--json", '"=[bold]<i>|`\\u001b[31m\\nforged line"'),
    ],
)
def test_names_of_files_command_nothing(tmp_path: Path, form: str, shown: str) -> None:
    """Neither a terminal nor a spreadsheet."""
    path = tmp_path / f"{HOSTILE}.json"
    path.write_text(json.dumps(small_state_sets().states))
    outcome = score_states(path, "--metric", "jga", *([form] if form else []))
    assert "\x1b" not in outcome.text
    assert not any(line.startswith("forged") for line in outcome.text.splitlines())
    assert shown in outcome.output
