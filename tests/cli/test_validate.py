"""`extrinsic validate`: what it prints, counts and returns."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.builders import (
    Dstc2Files,
    Written,
    dstc1_turn,
    hypothesis,
    tracker,
    write_dstc1,
    write_dstc2,
    write_json,
)
from tests.running import Outcome, assert_refused, run
from tests.samples import small_dstc1, small_dstc2


@pytest.fixture
def bus(tmp_path: Path) -> Written:
    return write_dstc1(tmp_path, small_dstc1())


def validate(written: Written, *arguments: object, form: str = "dstc1") -> Outcome:
    return run("validate", "--format", form, "--corpus", written.corpus, *arguments)


def write_tracker(path: Path, route_turn: Any) -> Path:
    """A tracker file whose five turns are all the same."""
    beliefs = {"one": [route_turn] * 2, "two": [route_turn] * 3}
    return write_json(path, tracker("train4", beliefs))


def test_a_clean_file(bus: Written) -> None:
    outcome = validate(bus, bus.tracker)
    assert outcome.code == 0
    assert outcome.output == f"{bus.tracker}: 2 sessions, 5 turns, no problems\n"
    assert outcome.errors == ""


def test_without_files_the_corpus_itself_is_checked(tmp_path: Path) -> None:
    written = write_dstc2(tmp_path, small_dstc2(), archive=True)
    outcome = validate(written, form="dstc2")
    assert outcome.code == 0
    assert "3 sessions, 5 turns" in outcome.output and "no problems" in outcome.output


def test_repairs_are_counted_and_do_not_fail(bus: Written, tmp_path: Path) -> None:
    path = write_tracker(tmp_path / "high.json", dstc1_turn(route=[hypothesis(1.5, {"route": "61c"})]))
    outcome = validate(bus, path)
    assert outcome.code == 0
    # The notes: there is no joint, and values were not labelled.
    assert f"{path}: 2 sessions, 5 turns, 5 repairs, 2 notes" in outcome.output
    (repaired,) = (line for line in outcome.output.splitlines() if "[repair]" in line)
    assert "[repair] session one, turn 0, slot route" in repaired
    assert repaired.endswith("and 4 more like it")


def test_strict_makes_repairs_errors(bus: Written, tmp_path: Path) -> None:
    path = write_tracker(tmp_path / "low.json", dstc1_turn(route=[hypothesis(-0.5, {"route": "61c"})]))
    outcome = validate(bus, path, "--strict")
    assert_refused(outcome, "5 errors", "session one, turn 0, slot route")
    assert "[repair]" not in outcome.output


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """A file with 60 problems: twelve bad scores in each of five turns."""
    hypotheses = [hypothesis("high", {"route": str(number)}) for number in range(12)]  # type: ignore[arg-type]
    return write_tracker(tmp_path / "many.json", dstc1_turn(route=hypotheses))


def test_what_repeats_is_one_line_and_the_first_fifty_are_shown(
    bus: Written, many: Path, tmp_path: Path
) -> None:
    outcome = validate(bus, many)
    assert_refused(outcome, f"{many}: 60 errors", "session one, turn 0, slot route")
    assert outcome.output.count("has the wrong kind") == outcome.output.count("and 59 more like it") == 1
    scores: list[Any] = [f"high {number}" for number in range(60)]
    hypotheses = [hypothesis(score, {"route": "61c"}) for score in scores]
    path = write_tracker(tmp_path / "many.json", dstc1_turn(route=hypotheses))
    outcome = validate(bus, path)
    assert_refused(outcome, f"{path}: 300 errors", "... and 10 more\n")
    assert outcome.output.count("has the wrong kind") == 50


def test_json_has_all_of_them(bus: Written, many: Path) -> None:
    outcome = validate(bus, many, "--json")
    assert outcome.code == 2
    assert outcome.errors == ""
    found = outcome.json()
    assert "dataset:train4" in found["signature"]
    (row,) = found["rows"]
    assert (row["file"], row["errors"], row["repairs"], len(row["problems"])) == (str(many), 60, 0, 60)
    assert row["problems"][-1] == {
        "message": "'route.hyps[11].score' has the wrong kind",
        "path": str(many),
        "session": "two",
        "turn": 2,
        "slot": "route",
        "expected": "a number",
        "found": "text 'high'",
        "severity": "error",
    }


def break_every_log(written: Written) -> None:
    for path in written.corpus.rglob("dstc.log.json"):
        log = json.loads(path.read_text())
        log["turns"] = [{**turn, "output": 7} for turn in log["turns"]]
        path.write_text(json.dumps(log))


def test_problems_of_the_corpus_name_their_files(bus: Written) -> None:
    break_every_log(bus)
    outcome = validate(bus, bus.tracker)
    assert_refused(outcome, "5 errors", "calls/one/dstc.log.json", "calls/two/dstc.log.json", "turn 0")
    assert outcome.text.count("has the wrong kind") == 2
    assert "and 1 more like it" in outcome.text and "and 2 more like it" in outcome.text


def spelt(files: Dstc2Files, change: Callable[[str], str]) -> Dstc2Files:
    """The files with every food that the tracker believes in spelt in another way."""
    files = copy.deepcopy(files)
    for session in files.tracker["sessions"]:
        for turn in session["turns"]:
            for slot, scores in turn["goal-labels"].items():
                if slot == "food":
                    turn["goal-labels"][slot] = {change(name): score for name, score in scores.items()}
    return files


@pytest.mark.parametrize(
    ("change", "hint"),
    [
        (str.upper, "'THAI' (did you mean 'thai'?), 'GREEK' (did you mean 'greek'?)"),
        (lambda name: f"{name} ", "'thai ' (did you mean 'thai'?)"),
        (lambda name: "nosuchfood", "found 'nosuchfood'"),
    ],
)
def test_values_outside_the_ontology(tmp_path: Path, change: Callable[[str], str], hint: str) -> None:
    """They can never be right: said with a count and an example, and an error where strict."""
    written = write_dstc2(tmp_path, spelt(small_dstc2(), change))
    outcome = validate(written, written.tracker, form="dstc2")
    assert outcome.code == 0
    assert "1 warning" in outcome.output
    assert "session one, turn 0, slot food: hypotheses:" in outcome.output
    assert hint in outcome.output
    assert_refused(validate(written, written.tracker, "--strict", form="dstc2"), hint)
    scored = run("score", "--format", "dstc2", "--corpus", written.corpus, written.tracker)
    assert scored.code == 0
    assert hint in scored.errors


def test_labels_outside_the_ontology(tmp_path: Path) -> None:
    files = copy.deepcopy(small_dstc2())
    files.labels["Mar13_S0A0/one"]["turns"][1]["goal-labels"]["area"] = "North"
    written = write_dstc2(tmp_path, files)
    for arguments in ((), (written.tracker,)):
        outcome = validate(written, *arguments, form="dstc2")
        assert outcome.code == 0
        assert "session one, turn 1, slot area: labels: 1 with values that the ontology" in outcome.output
        assert "'North' (did you mean 'north'?)" in outcome.output
        assert validate(written, *arguments, "--strict", form="dstc2").code == 2
    rows = validate(written, "--json", form="dstc2").json()["rows"]
    assert [row["warnings"] for row in rows] == [1]


def test_a_file_with_joint_hypotheses_only_is_named(bus: Written, tmp_path: Path) -> None:
    """By the scoring rules its single slots are None: whoever reads scores of slots should know."""
    path = write_tracker(tmp_path / "joint.json", dstc1_turn(joint=[hypothesis(0.5, {"route": "61d"})]))
    outcome = validate(bus, path)
    assert outcome.code == 0
    assert "the file has joint hypotheses only" in outcome.output
    scored = run("score", "--format", "dstc1", "--corpus", bus.corpus, path)
    assert "joint.json: the file has joint hypotheses only" in scored.errors
    slots, joint = (
        next(line for line in scored.output.splitlines() if line.split()[1:2] == [component])
        for component in ("all", "joint")
    )
    assert slots.endswith("*") and not joint.rstrip().endswith("*")
    (note,) = run("score", "--format", "dstc1", "--corpus", bus.corpus, path, "--json").json()["health"]
    assert (note["kind"], note["trackers"]) == ("joint_only", ["joint"])
