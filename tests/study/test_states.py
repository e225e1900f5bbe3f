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
resamples = 100
permutations = 99
subsets = 5
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


def test_the_p_value_of_four_systems_is_exact(config: Path) -> None:
    """24 orders; a |tau| of 4/6 or more have the 1 + 3 nearest to either end."""
    study = done(config, config.parent / "run")
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


HUMAN = ("outcomes.dialog=dialog", "outcomes.rater=rater", "outcomes.turn=turn", "outcomes.scale=[0, 1]")


def with_ratings(config: Path, rows: list[tuple[object, ...]]) -> list[str]:
    write_outcomes(config.parent, rows, "system,dialog,turn,rater,success")
    return [option for setting in HUMAN for option in ("--set", setting)]


def test_outcomes_are_peoples_ratings(config: Path) -> None:
    """Raters of a turn first, then the turns of a dialog, then dialogs; not everyone rates everything."""
    rows: list[tuple[object, ...]] = []
    for name, values in PER_DIALOG.items():
        for i, value in enumerate(values):
            rows += [(name, f"d{i}", 0, "anna", value), (name, f"d{i}", 1, "anna", value)]
    rows += [("one", "d0", 0, "ben", 0)]
    study = done(config, config.parent / "run", *with_ratings(config, rows))
    told = {row["tracker"]: float(row["value"]) for row in study.rows("returns")}
    # d0 of one: turn 0 has (1 + 0) / 2, turn 1 has 1.
    assert told == {"one": pytest.approx((0.75 + 1 + 1 + 0) / 4), "two": 0.5, "three": 0.25, "four": 0.25}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("one", "d0", 0, "anna", 1), ("line 34", "second row by 'anna'", "d0")),
        (("one", "d0", "", "anna", 1), ("some rows have a turn", "d0")),
        (("one", "d0", 0, "ben", 5), ("line 34", "off the scale", "0 to 1", "5")),
        (("one", "d0", 0, "ben", ""), ("line 34", "no number")),
    ],
)
def test_bad_ratings(config: Path, row: tuple[object, ...], said: tuple[str, ...]) -> None:
    rows: list[tuple[object, ...]] = [
        (name, f"d{i}", turn, "anna", 1) for name in RIGHT for i in range(4) for turn in range(2)
    ]
    outcome = run_in(config, config.parent / "run", *with_ratings(config, [*rows, row]))
    assert_refused(outcome, "outcomes.csv", *said)


def test_ratings_need_dialogs(config: Path) -> None:
    options = with_ratings(config, [(name, "d0", 0, "anna", 1) for name in RIGHT])[2:]
    assert_refused(run_in(config, config.parent / "run", *options), 'outcomes.dialog = "..."')


def test_a_target_that_is_the_same_for_all(config: Path) -> None:
    write_outcomes(config.parent, [(name, 0.5) for name in RIGHT])
    study = done(config, config.parent / "run")
    for row in study.rows("correlations"):
        assert (row["r"], row["p"], row["low"]) == ("", "", "")
        assert row["reason"] == "the target is the same for all trackers"
    for table in ("pairs", "composite", "stability", "influence"):
        assert study.rows(table) == []


def test_a_metric_that_is_the_same_for_all(config: Path) -> None:
    for name in RIGHT:
        write_system(config.parent, name, system(3))
    study = done(config, config.parent / "run", "--set", "trackers.near_duplicate=1.0")
    reasons = {row["reason"] for row in study.rows("correlations") if row["trackers"] == "all"}
    assert reasons == {"the metric is the same for all trackers"}
    assert {row["r"] for row in study.rows("correlations")} == {""}


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
    assert "too few for any correlation" in outcome.output
    study = Study(config, config.parent / "run")
    assert {(row["r"], row["reason"]) for row in study.rows("correlations")} == {
        ("", "fewer than 3 trackers")
    }
    assert len(study.rows("intrinsic")) == count


def test_systems_of_the_same_beliefs_count_once(config: Path) -> None:
    write_system(config.parent, "two", system(RIGHT["one"]))
    study = done(config, config.parent / "run")
    assert {row["tracker"]: row["near_duplicate_of"] for row in study.rows("trackers")} == {
        "four": "",
        "one": "",
        "three": "",
        "two": "one",
    }


def test_other_outcomes_relate_anew_and_measure_nothing(config: Path) -> None:
    study = done(config, config.parent / "run")
    before = copied(study, config.parent / "before")
    write_outcomes(config.parent, [(name, 1.0 - value) for name, value in PER_SYSTEM.items()])
    done(config, study.folder)
    statuses = {row["stage"]: row["status"] for row in study.rows("timings") if row["key"]}
    assert statuses == {"score": "reused", "core": "reused", "correlate": "computed"}
    old, new = correlations(before), correlations(study)
    assert float(new["within", "pearson"]) == pytest.approx(-float(old["within", "pearson"]))


BAD_OUTCOMES = {
    "a missing column": ("system,succes\none,1\n", ["no column 'success'", "did you mean 'succes'?"]),
    "two missing columns": ("a,b\none,1\n", ["no column 'system'", "no column 'success'"]),
    "missing systems": (
        "system,success\none,1\ntwoo,1\nfour,1\n",
        ["no row of system 'two'", "did you mean 'twoo'?", "no row of system 'three'"],
    ),
    "no numbers": (
        "system,success\none,much\ntwo,nan\nthree,\nfour,inf\n",
        ["line 2", "'much'", "line 3", "line 4", "line 5", "a finite number"],
    ),
    "a row too short": ("system,success\none\ntwo,1\nthree,1\nfour,1\n", ["line 2", "fewer cells"]),
    "a second row": (
        "system,success\none,1\ntwo,1\nthree,1\nfour,1\ntwo,0\n",
        ["line 6", "two has a second row", "outcomes.dialog"],
    ),
    "no rows": ("system,success\n", ["no row of system 'one'"]),
    "empty": ("", ["the file is empty"]),
}


@pytest.mark.parametrize("what", BAD_OUTCOMES)
def test_bad_outcomes(config: Path, what: str) -> None:
    text, said = BAD_OUTCOMES[what]
    (config.parent / "outcomes.csv").write_text(text)
    assert_refused(run_in(config, config.parent / "run"), "outcomes.csv", *said)


def test_bad_outcomes_of_dialogs(config: Path) -> None:
    rows = [(name, f"d{i}", value) for name, values in PER_DIALOG.items() for i, value in enumerate(values)]
    missing = [row for row in rows if row[:2] not in (("two", "d1"), ("three", "d3"))]
    write_outcomes(config.parent, missing, "system,dialog,success")
    outcome = run_in(config, config.parent / "run", "--set", "outcomes.dialog=dialog")
    assert_refused(outcome, "session d1: system 'two' has no outcome", "session d3: system 'three'")
    write_outcomes(config.parent, [*rows, ("one", "d1", 1)], "system,dialog,success")
    outcome = run_in(config, config.parent / "run", "--set", "outcomes.dialog=dialog")
    assert_refused(outcome, "line 18", "session d1", "one has a second row")


def test_no_outcomes(config: Path) -> None:
    (config.parent / "outcomes.csv").unlink()
    assert_refused(run_in(config, config.parent / "run"), "outcomes.csv", "no such file")
    text = config.read_text()
    config.write_text(text[: text.index("[outcomes]")])
    assert_refused(run_in(config, config.parent / "run"), "nothing to correlate", "[outcomes]")


def test_systems_over_different_dialogs(config: Path) -> None:
    write_system(config.parent, "two", system(6, n_dialogs=3))
    outcome = run_in(config, config.parent / "run")
    assert_refused(outcome, "two.json", "session d3", "lacks 1 of 4 dialogs", 'states.dialogs = "shared"')
    assert "one lacks" not in outcome.text
    study = done(config, config.parent / "run", "--set", "states.dialogs=shared")
    jga = {row["tracker"]: float(row["value"]) for row in study.rows("intrinsic")}
    assert jga == {"one": 1.0, "two": 1.0, "three": 4 / 6, "four": 1 / 6}


def test_systems_without_a_common_dialog(config: Path) -> None:
    write_system(config.parent, "two", {f"e{i}": turns for i, turns in enumerate(system(6).values())})
    outcome = run_in(config, config.parent / "run", "--set", "states.dialogs=shared")
    assert_refused(outcome, "no dialogs in common")


def test_systems_with_other_numbers_of_turns(config: Path) -> None:
    for name in ("one", "three"):
        states = system(RIGHT[name])
        states["d1"]["2"] = states["d1"]["1"]
        write_system(config.parent, name, states)
    outcome = run_in(config, config.parent / "run")
    assert_refused(outcome, "one.json", "three.json", "session d1", "number of turns", "expected 2, found 3")


def test_every_broken_file_is_named(config: Path) -> None:
    write_system(config.parent, "two", {"d0": 3})
    (config.parent / "systems" / "four.json").write_text("{")
    outcome = run_in(config, config.parent / "run")
    assert_refused(outcome, "two.json", "session d0", "four.json", "ends too early")


def test_files_that_are_not_there(config: Path) -> None:
    outcome = run_in(config, config.parent / "run", "--set", 'states.files=["x.json", "y.json"]')
    assert_refused(outcome, "x.json", "y.json", "no such file")
    outcome = run_in(config, config.parent / "run", "--set", 'states.files=["nothing/*.json"]')
    assert_refused(outcome, "no file matches", "nothing/*.json")
    outcome = run_in(config, config.parent / "run", "--set", "states.files=[]")
    assert_refused(outcome, "states.files")


def test_two_files_of_one_name(config: Path) -> None:
    """Both would be the system `one`, and the outcomes could not tell which."""
    (config.parent / "others").mkdir()
    (config.parent / "others" / "one.json").write_text(json.dumps(system(2)))
    files = 'states.files=["systems/*.json", "others/one.json"]'
    outcome = run_in(config, config.parent / "run", "--set", files)
    assert_refused(outcome, "others/one.json", "'one'")


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
}


@pytest.mark.parametrize("change", REQUESTS)
def test_requests_that_make_no_sense(config: Path, change: str) -> None:
    assert_refused(run_in(config, config.parent / "run", "--set", change), REQUESTS[change])


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


def test_gold_where_it_does_not_belong(config: Path) -> None:
    outcome = run_in(config, config.parent / "run", "--set", "states.gold=systems")
    assert_refused(outcome, "systems", "a directory")
    outcome = run_in(config, config.parent / "run", "--set", "states.format=sgd")
    assert_refused(outcome, "need a gold")
    outcome = run_in(config, config.parent / "run", "--set", "states.fuzzy=0")
    assert_refused(outcome, "states.fuzzy")
