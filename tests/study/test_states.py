"""Studies of state-set files against outcomes that the user gives; all values by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.running import assert_refused
from tests.schema_guided import GOLD, PREDICTED, write_gold, write_predictions
from tests.study.studies import Study, copied, done, run_in

STATES = """name = "states"
[states]
files = ["systems/*.json"]
[outcomes]
file = "outcomes.csv"
names = ["success"]
[metrics]
names = ["jga"]
[correlation]
permutations = 99
"""

RIGHT = {"one": 8, "two": 6, "three": 4, "four": 1}
"""How many of its eight turns each system has right."""

PER_SYSTEM = {"one": 0.9, "two": 0.5, "three": 0.7, "four": 0.1}
PER_DIALOG = {"one": (1, 1, 1, 0), "two": (1, 0, 1, 0), "three": (1, 0, 0, 0), "four": (0, 0, 1, 0)}


def system(n_right: int, n_dialogs: int = 4) -> dict[str, dict[str, object]]:
    """Dialogs of two turns, the first turns right."""
    states: dict[str, dict[str, object]] = {}
    for dialog in range(n_dialogs):
        for turn in range(2):
            value = "north" if 2 * dialog + turn < n_right else "south"
            states.setdefault(f"d{dialog}", {})[str(turn)] = {
                "gt": {"hotel": {"area": "north"}},
                "pr": {"hotel": {"area": value}},
            }
    return states


def write_outcomes(folder: Path, rows: list[tuple[object, ...]], head: str = "system,success") -> None:
    lines = [head, *(",".join(map(str, row)) for row in rows)]
    (folder / "outcomes.csv").write_text("\n".join(lines) + "\n")


def write_states(folder: Path, text: str = STATES) -> Path:
    (folder / "systems").mkdir(parents=True, exist_ok=True)
    for name, n_right in RIGHT.items():
        write_system(folder, name, system(n_right))
    write_outcomes(folder, list(PER_SYSTEM.items()))
    (folder / "study.toml").write_text(text)
    return folder / "study.toml"


def write_system(folder: Path, name: str, states: object) -> None:
    (folder / "systems" / f"{name}.json").write_text(json.dumps(states))


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return write_states(tmp_path)


def correlations(study: Study, metric: str = "jga", trackers: str = "all") -> dict[tuple[str, str], str]:
    return {
        (row["scope"], row["coefficient"]): row["r"]
        for row in study.rows("correlations")
        if (row["metric"], row["trackers"]) == (metric, trackers)
    }


def test_outcomes_of_systems(config: Path) -> None:
    study = done(config, config.parent / "run")
    jga = {row["tracker"]: float(row["value"]) for row in study.rows("intrinsic")}
    assert jga == {name: n_right / 8 for name, n_right in RIGHT.items()}
    told = {row["tracker"]: row for row in study.rows("returns")}
    assert {name: float(row["value"]) for name, row in told.items()} == PER_SYSTEM
    assert {(row["policy"], row["estimator"]) for row in told.values()} == {("outcome", "success")}
    found = correlations(study)
    # jga 1, .75, .5, .125 against .9, .5, .7, .1: one of six pairs stands the other way round.
    assert float(found["within", "kendall"]) == pytest.approx(4 / 6)
    assert float(found["within", "pairwise"]) == pytest.approx(5 / 6)
    assert float(found["within", "spearman"]) == pytest.approx(1 - 6 * 2 / (4 * 15))
    x, y = np.array([1, 0.75, 0.5, 0.125]), np.array([0.9, 0.5, 0.7, 0.1])
    assert float(found["within", "pearson"]) == pytest.approx(np.corrcoef(x, y)[0, 1])
    # One dataset: taking its mean away changes nothing.
    for coefficient in ("pearson", "spearman", "kendall", "pairwise"):
        assert float(found["pooled", coefficient]) == pytest.approx(float(found["within", coefficient]))
    assert {row["target"] for row in study.rows("correlations")} == {"outcome.success"}
    # 24 orders; a |tau| of 4/6 or more have the 1 + 3 nearest to either end.
    (p,) = (
        float(row["p"])
        for row in study.rows("correlations")
        if (row["scope"], row["coefficient"], row["trackers"]) == ("within", "kendall", "all")
    )
    assert p == pytest.approx(8 / 24)


def test_outcomes_of_dialogs(config: Path) -> None:
    rows = [(name, f"d{i}", value) for name, values in PER_DIALOG.items() for i, value in enumerate(values)]
    write_outcomes(config.parent, rows[::-1], "system,dialogue,success")
    study = done(config, config.parent / "run", "--set", "outcomes.dialog=dialogue")
    told = {row["tracker"]: row for row in study.rows("returns")}
    assert {name: float(row["value"]) for name, row in told.items()} == {
        "one": 0.75,
        "two": 0.5,
        "three": 0.25,
        "four": 0.25,
    }
    assert {row["n"] for row in told.values()} == {"4"}
    found = correlations(study)
    # Five pairs in order, one tied in the target: tau-b = 5 / sqrt(6 * 5).
    assert float(found["within", "kendall"]) == pytest.approx(5 / np.sqrt(30))
    assert float(found["within", "pairwise"]) == 1.0
    x, y = np.array([1, 0.75, 0.5, 0.125]), np.array([0.75, 0.5, 0.25, 0.25])
    assert float(found["within", "pearson"]) == pytest.approx(np.corrcoef(x, y)[0, 1])


def test_a_target_that_is_the_same_for_all(config: Path) -> None:
    write_outcomes(config.parent, [(name, 0.5) for name in RIGHT])
    study = done(config, config.parent / "run")
    for row in study.rows("correlations"):
        assert (row["r"], row["p"], row["low"]) == ("", "", "")
        assert row["reason"] == "the target is the same for all trackers"
    assert study.rows("composite") == []
    assert {(row["bound"], row["share"]) for row in study.rows("choices")} == {("", "")}
    assert all(row["reason"] for row in study.rows("choices"))


def test_a_constant_metric_does_not_take_the_others_along(config: Path) -> None:
    """A further domain that everybody has right."""
    for name, n_right in RIGHT.items():
        states = system(n_right)
        for dialog in states.values():
            for turn in dialog.values():
                turn["gt"]["taxi"] = turn["pr"]["taxi"] = {"day": "monday"}  # type: ignore[index]
        write_system(config.parent, name, states)
    study = done(config, config.parent / "run", "--set", 'metrics.components=["all", "taxi"]')
    found = {
        row["component"]: (row["r"] != "", row["reason"])
        for row in study.rows("correlations")
        if (row["coefficient"], row["scope"], row["trackers"]) == ("pearson", "within", "all")
    }
    few = "not decided: 4 trackers, at least 5 are needed for an interval"
    assert found == {"all": (True, few), "taxi": (False, "the metric is the same for all trackers")}


@pytest.mark.parametrize("count", [1, 2])
def test_fewer_than_three_systems(config: Path, count: int) -> None:
    for name in list(RIGHT)[count:]:
        (config.parent / "systems" / f"{name}.json").unlink()
    outcome = run_in(config, config.parent / "run", "--set", "outcomes.unknown=ignore")
    assert outcome.code == 0, outcome.text
    assert "too few" in outcome.output
    study = Study(config, config.parent / "run")
    assert {(row["r"], row["reason"]) for row in study.rows("correlations")} == {
        ("", "fewer than 3 trackers")
    }
    assert len(study.rows("intrinsic")) == count


def test_other_outcomes_relate_anew_and_measure_nothing(config: Path) -> None:
    study = done(config, config.parent / "run")
    before = copied(study, config.parent / "before")
    write_outcomes(config.parent, [(name, 1.0 - value) for name, value in PER_SYSTEM.items()])
    done(config, study.folder)
    statuses = {row["stage"]: row["status"] for row in study.rows("timings") if row["key"]}
    assert statuses == {"score": "reused", "outcomes": "reused"} or statuses == {"score": "reused"}
    old, new = correlations(before), correlations(study)
    assert float(new["within", "pearson"]) == pytest.approx(-float(old["within", "pearson"]))


def test_predictions_with_a_gold_of_their_own(tmp_path: Path) -> None:
    """Paths start at the configuration's folder; a change of the gold or of the rule is seen."""
    write_gold(tmp_path / "gold")
    for name in RIGHT:
        write_predictions(tmp_path / "systems" / f"{name}.json", GOLD if name == "one" else PREDICTED)
    write_outcomes(tmp_path, list(PER_SYSTEM.items()))
    config = tmp_path / "study.toml"
    config.write_text(STATES.replace("[outcomes]", 'format = "sgd"\ngold = "gold"\nfuzzy = 94\n[outcomes]'))
    fuzzy = done(config, tmp_path / "run")
    assert {row["tracker"]: float(row["value"]) for row in fuzzy.rows("intrinsic")} == {
        name: 1.0 if name == "one" else 4 / 5 for name in RIGHT
    }
    config.write_text(config.read_text().replace("fuzzy = 94\n", ""))
    exact = done(config, tmp_path / "run")
    values = {row["tracker"]: float(row["value"]) for row in exact.rows("intrinsic")}
    assert values["two"] == 2 / 5


def test_the_dialogs_that_all_systems_have(config: Path) -> None:
    write_system(config.parent, "two", system(6, n_dialogs=3))
    outcome = run_in(config, config.parent / "run")
    assert_refused(outcome, "two.json", "session d3", "lacks 1 of 4 dialogs", 'states.dialogs = "shared"')
    assert "one lacks" not in outcome.text
    study = done(config, config.parent / "run", "--set", "states.dialogs=shared")
    jga = {row["tracker"]: float(row["value"]) for row in study.rows("intrinsic")}
    assert jga == {"one": 1.0, "two": 1.0, "three": 4 / 6, "four": 1 / 6}


def longer(n_right: int) -> dict[str, dict[str, object]]:
    """A system with a third turn in a dialog."""
    states = system(n_right)
    states["d1"]["2"] = states["d1"]["1"]
    return states


ELSEWHERE = {f"e{i}": turns for i, turns in enumerate(system(6).values())}

FILES: dict[str, tuple[dict[str, object], str, tuple[str, ...]]] = {
    "no dialog in common": ({"two": ELSEWHERE}, "states.dialogs=shared", ("no dialogs in common",)),
    "other numbers of turns": (
        {"one": longer(8), "three": longer(4)},
        "",
        ("one.json", "three.json", "session d1", "number of turns", "expected 2, found 3"),
    ),
    "broken files": (
        {"two": {"d0": 3}, "four": "{"},
        "",
        ("two.json", "session d0", "four.json", "ends too early"),
    ),
    # Both would be the system `one`, and the outcomes could not tell which.
    "two files of one name": (
        {"../others/one": system(2)},
        'states.files=["systems/*.json", "others/one.json"]',
        ("others/one.json", "'one'"),
    ),
    "an empty table": ({"../outcomes.csv": ""}, "", ("outcomes.csv", "the file is empty")),
    "no files": ({}, "states.files=[]", ("states.files",)),
    "files that are not there": (
        {},
        'states.files=["x.json", "y.json"]',
        ("x.json", "y.json", "no such file"),
    ),
    "no such files": ({}, 'states.files=["nothing/*.json"]', ("no file matches", "nothing/*.json")),
    "no outcomes": ({}, "outcomes.file=no.csv", ("no.csv", "no such file")),
}


@pytest.mark.parametrize("what", FILES)
def test_files_that_do_not_fit(config: Path, what: str) -> None:
    """Every one is named."""
    files, change, said = FILES[what]
    for name, states in files.items():
        path = config.parent / "systems" / (name if name.endswith(".csv") else f"{name}.json")
        path.parent.mkdir(exist_ok=True)
        path.resolve().parent.mkdir(exist_ok=True)
        path.write_text(states if isinstance(states, str) else json.dumps(states))
    outcome = run_in(config, config.parent / "run", *(["--set", change] if change else []))
    assert_refused(outcome, *said)


REQUESTS = {
    'metrics.names=["jgaa"]': "did you mean 'jga'?",
    'metrics.components=["hotl"]': "did you mean 'hotel'?",
    "metrics.schedules=[2]": "no schedule 2 here",
    'trackers.built_in=["hwu"]': "the files of [states] are the systems",
    'trackers.degenerate=["fuor"]': "did you mean 'four'?",
    "correlation.primary=outcome.sucess": "did you mean 'outcome.success'?",
    'correlation.targets=["rl.lstd"]': "available: outcome.success",
    "states.format=state-set": "did you mean 'state-sets'?",
    "states.format=dstc1": "dstc1",
    "states.dialogs=some": "states.dialogs",
    "states.gold=systems": "a directory",
    "states.format=sgd": "need a gold",
    "states.fuzzy=0": "states.fuzzy",
}


@pytest.mark.parametrize("change", REQUESTS)
def test_requests_that_make_no_sense(config: Path, change: str) -> None:
    assert_refused(run_in(config, config.parent / "run", "--set", change), REQUESTS[change])


def test_a_study_without_outcomes(config: Path) -> None:
    text = config.read_text()
    config.write_text(text[: text.index("[outcomes]")])
    assert_refused(run_in(config, config.parent / "run"), "nothing to correlate", "[outcomes]")
