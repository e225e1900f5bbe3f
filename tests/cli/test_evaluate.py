"""`extrinsic evaluate` in a small town."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import write_json
from tests.outcomes.town import RESPONSES, states, write_responses, write_system, write_task
from tests.running import Outcome, assert_refused, run


def evaluate(folder: Path, *arguments: object) -> Outcome:
    options = [part for name, path in write_task(folder).items() for part in (f"--{name}", path)]
    return run("evaluate", *options, *arguments)


def test_a_system_with_its_own_responses(tmp_path: Path) -> None:
    file = write_system(tmp_path / "mine.json", states(d0=[{"hotel": {"area": "west"}}] * 2), RESPONSES)
    outcome = evaluate(tmp_path, file, "--json")
    rows = {row["domain"]: row for row in outcome.json()["rows"]}
    assert rows["all"] == {
        "system": "mine",
        "generator": "mine",
        "domain": "all",
        "n": 3,
        "inform": pytest.approx(2 / 3),
        "success": pytest.approx(2 / 3),
        "jga": pytest.approx(3 / 5),
    }
    assert (rows["hotel"]["n"], rows["hotel"]["inform"]) == (2, 0.5)
    assert "evaluate 1/1 mine" in outcome.errors
    table = evaluate(tmp_path, file, "--quiet")
    assert table.errors == ""
    assert {"all", "hotel", "taxi", "train"} <= set(table.output.split())


def test_states_under_other_responses(tmp_path: Path) -> None:
    files = [write_system(tmp_path / f"{name}.json", states()) for name in ("a", "b")]
    responses = write_responses(tmp_path / "responses_g.json", RESPONSES)
    outcome = evaluate(tmp_path, *files, "--responses", responses, "--domains", "responses", "--json")
    rows = [row for row in outcome.json()["rows"] if row["domain"] == "all"]
    assert [(row["system"], row["generator"], row["success"]) for row in rows] == [
        ("a", "g", 1.0),
        ("b", "g", 1.0),
    ]


def test_what_is_refused(tmp_path: Path) -> None:
    file = write_system(tmp_path / "mine.json", states())
    assert_refused(evaluate(tmp_path, file), "session d0, turn 0", "lacks 'response'")
    assert_refused(evaluate(tmp_path, file, "--format", "trade"), "--responses")
    responses = write_responses(tmp_path / "g.json", {"d0": RESPONSES["d0"]})
    outcome = evaluate(tmp_path, file, "--responses", responses)
    assert_refused(outcome, "g.json, session d1", "lack this dialog of", "mine.json")
    outcome = evaluate(tmp_path, file, "--responses", responses, "--dialogs", "shared", "--json")
    assert outcome.json()["rows"][0]["n"] == 1
    assert "mine.json: 2 of 3 dialogs that have a goal are not evaluated" in outcome.errors
    assert_refused(evaluate(tmp_path, file, "--normalise", "trad"), "did you mean 'trade'?")
    lacking = write_json(tmp_path / "gold.json", {"d0": {"turns": [{"gold21": {}}, {"gold21": {}}]}})
    outcome = evaluate(tmp_path, file, "--responses", responses, "--gold", lacking, "--gold-name", "gold21")
    assert_refused(outcome, "lack this dialog")
    full = write_responses(tmp_path / "full.json", RESPONSES)
    outcome = evaluate(tmp_path, file, "--responses", full, "--gold", lacking, "--gold-name", "gold21")
    assert_refused(outcome, "mine.json, session d1", "gold.json lacks this dialog")
    bad = write_json(tmp_path / "bad.json", {"d0": [{"state": {"hotel": {"area": 7}}, "respons": ""}]})
    outcome = evaluate(tmp_path, bad, "--responses", responses)
    assert_refused(outcome, "session d0, turn 0, slot hotel-area", "did you mean 'response'?")
