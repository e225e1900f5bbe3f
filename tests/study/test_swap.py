"""Outcomes by an evaluator: trackers x generators in a small town, all values by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extrinsic.study.evaluation import slot_errors
from extrinsic.study.run import Run
from tests.builders import write_json
from tests.outcomes.town import GOLD, RESPONSES, states, write_responses, write_task
from tests.running import assert_refused, run
from tests.study.studies import Study, done, run_in

CONFIG = """name = "swap"
[states]
files = ["systems/*.json"]
[outcomes]
evaluator = "multiwoz"
names = ["success", "inform"]
[outcomes.multiwoz]
goals = "goals.json"
booked = "booked.json"
database = "database"
responses = ["responses_*.json"]
domains = "responses"
[metrics]
names = ["jga", "slot_f1"]
[correlation]
resamples = 100
permutations = 99
subsets = 5
"""

WEST = [{"hotel": {"area": "west"}}] * 2
LATE = [{"train": {"day": "monday", "arrive": "10:00"}}]
SYSTEMS: dict[str, dict[str, Any]] = {
    "good": states(),
    "west": states(d0=WEST),
    "late": states(d1=LATE),
    "both": states(d0=WEST, d1=LATE),
    "vague": states(d2=[{}, {}]),
}
SILENT = RESPONSES | {"d0": ["Hello.", "Bye."]}
"""A generator that never offers the hotel: nobody succeeds in d0."""

SUCCESS = {
    "good": ([1, 1, 1], [0, 1, 1]),
    "west": ([0, 1, 1], [0, 1, 1]),
    "late": ([1, 0, 1], [0, 0, 1]),
    "both": ([0, 0, 1], [0, 0, 1]),
    "vague": ([1, 1, 1], [0, 1, 1]),
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    write_task(tmp_path)
    write_responses(tmp_path / "responses_able.json", RESPONSES)
    write_responses(tmp_path / "responses_silent.json", SILENT)
    for name, predicted in SYSTEMS.items():
        write_states(tmp_path, name, predicted)
    (tmp_path / "study.toml").write_text(CONFIG)
    return tmp_path / "study.toml"


def write_states(folder: Path, name: str, predicted: dict[str, Any], gold: dict[str, Any] = GOLD) -> Path:
    dialogs = {
        dialog: {str(i): {"gt": gold[dialog][i], "pr": state} for i, state in enumerate(turns)}
        for dialog, turns in predicted.items()
    }
    return write_json(folder / "systems" / f"{name}.json", dialogs)


def swap_rows(study: Study, **chosen: str) -> dict[str, dict[str, str]]:
    chosen = {"target": "outcome.success", "trackers": "all", "generator": "all", "level": "tracker"} | chosen
    return {
        row["metric"]: row
        for row in study.rows("swap")
        if all(row[key] == value for key, value in chosen.items())
    }


def test_values_by_hand(config: Path) -> None:
    study = done(config, config.parent / "run")
    reached = {
        row["tracker"]: float(row["value"]) for row in study.rows("returns") if row["estimator"] == "success"
    }
    assert reached == {name: pytest.approx(np.mean(by_generator)) for name, by_generator in SUCCESS.items()}
    jga = {row["tracker"]: float(row["value"]) for row in study.rows("intrinsic") if row["metric"] == "jga"}
    assert jga == {"good": 1.0, "west": 0.6, "late": 0.8, "both": pytest.approx(0.4), "vague": 0.6}
    names = sorted(SYSTEMS)
    x = np.array([jga[name] for name in names])
    y = np.array([[np.mean(part) for part in SUCCESS[name]] for name in names]).T
    centred = (y - y.mean(axis=1, keepdims=True)).ravel()
    both = np.tile(x - x.mean(), 2)
    expected = both @ centred / np.sqrt(both @ both * (centred @ centred))
    row = swap_rows(study)["jga"]
    assert float(row["r"]) == pytest.approx(expected)
    assert (row["n_trackers"], row["n_generators"], row["n_dialogs"]) == ("5", "2", "3")
    assert row["difference"] == ""
    assert swap_rows(study)["slot_f1"]["difference"] != ""
    assert [row["rank"] for row in swap_rows(study).values()] == ["2", "1"]
    assert {row["in_set"] for row in swap_rows(study).values()} <= {"true", "false"}
    able = swap_rows(study, generator="able")["jga"]
    assert able["in_set"] == able["rank"] == ""
    assert float(able["r"]) == pytest.approx(np.corrcoef(x, y[0])[0, 1])


def test_one_answer_in_verdict_best_set_report_and_swap(config: Path) -> None:
    """Of more systems, so that something is decided; r and the set are those over trackers x generators."""
    for number in range(1, 6):
        wrong = {f"d{i}": [{"hotel": {"area": "west"}}] * len(GOLD[f"d{i}"]) for i in range(number % 3)}
        write_states(config.parent, f"other{number}", states(**wrong))
    for target in ("success", "inform"):
        folder = config.parent / f"run_{target}"
        study = done(config, folder, "--set", f"correlation.primary=outcome.{target}")
        rows = swap_rows(study, trackers="core", target=f"outcome.{target}")
        made = Run(folder)
        assert made.table("best_set")[0].target == f"outcome.{target}" == made.table("swap")[0].target
        for row in made.table("best_set"):
            crossed = swap_rows(study, trackers=row.trackers, target=row.target)[row.metric]
            assert (row.r, row.rank, row.n_generators) == (float(crossed["r"]), int(crossed["rank"]), 2)
            assert str(row.in_set).lower() == (crossed["in_set"] or "false")
        inside = {metric for metric, row in rows.items() if row["in_set"] == "true"}
        assert {row.metric for row in made.best()} == inside
        verdict = made.verdict().verdicts[0]
        assert verdict.n_generators == 2 and verdict.target == f"outcome.{target}"
        first = min(rows, key=lambda metric: int(rows[metric]["rank"] or 99))
        assert {one.metric for one in verdict.candidates} <= inside
        assert verdict.metric is None or verdict.metric.metric == first


def test_what_errors_cost(config: Path) -> None:
    """A wrong area costs d0 under the able generator alone: 1 of 2 cells."""
    study = done(config, config.parent / "run")
    costs = {(row["error"], row["slots"]): row for row in study.rows("costs") if row["trackers"] == "all"}
    assert float(costs["wrong", "hotel-area"]["cost"]) == pytest.approx(0.5)
    assert float(costs["wrong", "hotel-area"]["share"]) == pytest.approx(2 / 15)
    # Two systems are late, and fail in d1 whoever answers.
    assert float(costs["wrong", "train-arrive"]["cost"]) == pytest.approx(1.0)
    assert float(costs["missed", "hotel-name"]["cost"]) == pytest.approx(0.0)
    assert ("overshot", "all") not in costs


def test_a_second_run_computes_nothing(config: Path) -> None:
    study = done(config, config.parent / "run")
    before = (study.folder / "swap.csv").read_bytes()
    done(config, study.folder)
    assert {row["status"] for row in study.rows("timings") if row["key"]} == {"reused"}
    assert (study.folder / "swap.csv").read_bytes() == before
    write_responses(config.parent / "responses_silent.json", RESPONSES)
    done(config, study.folder)
    statuses = {row["stage"]: row["status"] for row in study.rows("timings") if row["key"]}
    assert (statuses["score"], statuses["evaluate"]) == ("reused", "computed")


def test_dialogs_as_points_where_a_table_has_their_outcomes(config: Path) -> None:
    """r within a system and on the same dialog, by hand, of what dialogs contribute to JGA."""
    reached = {name: by_generator[0] for name, by_generator in SUCCESS.items()}
    lines = [f"{name},d{i},{value}" for name, values in reached.items() for i, value in enumerate(values)]
    (config.parent / "outcomes.csv").write_text("\n".join(["system,dialog,success", *lines]) + "\n")
    text = CONFIG[: CONFIG.index("[outcomes]")] + '[outcomes]\nfile = "outcomes.csv"\n'
    text += 'names = ["success"]\ndialog = "dialog"\n'
    config.write_text(text + CONFIG[CONFIG.index("[metrics]") :])
    study = done(config, config.parent / "run")
    # Of right turns: by dialog, out of 2, 1 and 2.
    right = {"good": (2, 1, 2), "west": (0, 1, 2), "late": (2, 0, 2), "both": (0, 0, 2), "vague": (2, 1, 0)}
    turns = np.array([2.0, 1.0, 2.0])
    names = sorted(SYSTEMS)
    counts = np.array([right[name] for name in names], dtype=float)
    value = counts.sum(axis=1, keepdims=True) / turns.sum()
    without = (counts.sum(axis=1, keepdims=True) - counts) / (turns.sum() - turns)
    away = (value - without) * 2 / 3
    x = value / 3 + away - away.mean(axis=1, keepdims=True)
    y = np.array([reached[name] for name in names], dtype=float)
    for level, axis in (("within", 1), ("dialog", 0)):
        a, b = (part - part.mean(axis=axis, keepdims=True) for part in (x, y))
        expected = (a * b).sum() / np.sqrt((a**2).sum() * (b**2).sum())
        row = swap_rows(study, generator="own", level=level)["jga"]
        assert float(row["r"]) == pytest.approx(expected)
    assert study.rows("costs") == []
    assert run("report", study.folder).code == 0
    assert "Dialogs as points" in (study.folder / "report.html").read_text()


def test_other_studies_have_empty_tables(config: Path) -> None:
    (config.parent / "outcomes.csv").write_text(
        "system,success\n" + "".join(f"{name},1\n" for name in SYSTEMS)
    )
    text = CONFIG[: CONFIG.index("[outcomes]")] + '[outcomes]\nfile = "outcomes.csv"\nnames = ["success"]\n'
    config.write_text(text + CONFIG[CONFIG.index("[metrics]") :])
    study = done(config, config.parent / "run")
    assert study.rows("swap") == study.rows("costs") == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("outcomes.evaluator=multiwos", ("outcomes", "did you mean 'multiwoz'?")),
        ('outcomes.names=["sucess"]', ("outcomes.names", "did you mean 'success'?")),
        ("outcomes.file=x.csv", ("`file`", "`evaluator`", "not both")),
        ("outcomes.multiwoz.domain=states", ("outcomes.multiwoz", "domain")),
        ("outcomes.multiwoz.domains=state", ("outcomes.multiwoz.domains",)),
        ("outcomes.dialog=dialog", ("outcomes.dialog",)),
        ("outcomes.multiwoz.goals=no.json", ("no.json", "no such file")),
        ('outcomes.multiwoz.responses=["no_*.json"]', ("outcomes.multiwoz.responses", "no file matches")),
        ("outcomes.multiwoz.responses=[]", ("responses names no file",)),
        ("states.normalise=trad", ("key states.normalise", "did you mean 'trade'?")),
    ],
)
def test_settings_that_make_no_sense(config: Path, change: str, said: tuple[str, ...]) -> None:
    assert_refused(run_in(config, config.parent / "run", "--set", change), *said)


def test_responses_of_other_turns(config: Path) -> None:
    write_responses(config.parent / "responses_silent.json", SILENT | {"d1": ["a", "b"]})
    outcome = run_in(config, config.parent / "run")
    assert_refused(outcome, "responses_silent.json, session d1", "'silent'", "expected 1 turn, found 2")
    write_responses(config.parent / "responses_silent.json", {"d0": SILENT["d0"]})
    outcome = run_in(config, config.parent / "run")
    assert_refused(outcome, "responses_silent.json, session d1", "session d2", "lack this dialog")
    # Once, not of every system.
    assert outcome.errors.count("session d1") == 1


def test_gold_that_differs(config: Path) -> None:
    write_states(config.parent, "vague", states(), GOLD | {"d1": [{"train": {"day": "friday"}}]})
    outcome = run_in(config, config.parent / "run")
    assert_refused(
        outcome, "vague", "another gold", "session d1", "turn 0", "slot train-day", "'monday'", "'friday'"
    )
    assert run_in(config, config.parent / "run", "--set", "states.own_gold=true").code == 0


def test_flagged_systems_are_not_in_the_core(config: Path) -> None:
    """Many dialogs, so that there is enough to judge; one system is the gold."""
    folder = config.parent / "many"
    goals, gold, answers = {}, {}, {}
    for number in range(120):
        goals[f"d{number}"] = {"hotel": {"constraints": {"area": "north"}, "requests": [], "book": {}}}
        gold[f"d{number}"] = [{"hotel": {"area": "north", "stars": "4"}}] * 2
        answers[f"d{number}"] = ["[hotel_name]", "Bye."]
    write_task(folder, goals)
    write_json(folder / "booked.json", {dialog: [[], []] for dialog in goals})
    write_responses(folder / "responses_g.json", answers)
    for name, every in (("a", 2), ("b", 3), ("c", 4), ("oracle", 1000)):
        predicted = {
            dialog: [{"hotel": {"area": "west" if number % every == 1 else "north", "stars": "4"}}] * 2
            for number, dialog in enumerate(gold)
        }
        write_states(folder, name, predicted, gold)
    (folder / "study.toml").write_text(CONFIG)
    study = done(folder / "study.toml", folder / "run", "--set", "trackers.near_duplicate=1.0")
    rows = {row["tracker"]: (row["core"], row["flags"]) for row in study.rows("trackers")}
    assert rows == {"a": ("true", ""), "b": ("true", ""), "c": ("true", ""), "oracle": ("false", "gold")}
    assert run("report", study.folder).code == 0
    page = (study.folder / "report.html").read_text()
    assert "not among the core, since they" in page
    assert "Trackers under the same responses" in page
    assert "Flagged and left out: oracle (gold)." in page
    assert "All 4 trackers" in page
    assert "may be the best" in page


def test_slot_errors(tmp_path: Path) -> None:
    from extrinsic.corpus.formats import read_states

    gold = {"d": [{"h": {"a": "1", "b": "1"}}, {"h": {"a": "1", "b": "1"}}]}
    path = write_states(
        tmp_path, "x", {"d": [{"h": {"a": "2", "c": "1"}}, {"h": {"a": "1", "b": "1"}}]}, gold
    )
    states_of = read_states(path)
    slots = (("h", "a"), ("h", "b"), ("h", "c"), ("t", "z"))
    missed, wrong, overshot = slot_errors(states_of, slots)[:, :, 0].tolist()
    assert (missed, wrong, overshot) == ([0, 0.5, 0, 0], [0.5, 0, 0, 0], [0, 0, 0.5, 0])
