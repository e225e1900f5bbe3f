"""Outcomes by an evaluator: trackers x generators in a small town, all values by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extrinsic.study.run import Run
from extrinsic.study.score_stage import slot_errors
from tests.builders import write_json
from tests.outcomes.town import GOLD, RESPONSES, states, write_responses, write_task
from tests.running import assert_refused, succeed
from tests.study.studies import computed, done, run_in

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
permutations = 99
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


def test_values_by_hand(config: Path) -> None:
    study = done(config, config.parent / "run")
    reached = study.values("returns", estimator="success")
    assert reached == {name: pytest.approx(np.mean(by_generator)) for name, by_generator in SUCCESS.items()}
    jga = study.values("intrinsic", metric="jga")
    assert jga == {"good": 1.0, "west": 0.6, "late": 0.8, "both": pytest.approx(0.4), "vague": 0.6}
    (row,) = study.rows("choices", metric="jga", target="outcome.success", systems="all")
    pairs = [(a, b) for a in SYSTEMS for b in SYSTEMS if a < b]
    earned = [
        np.sign(jga[a] - jga[b]) * (np.mean(SUCCESS[a][g]) - np.mean(SUCCESS[b][g])) / 2
        for g in range(2)
        for a, b in pairs
    ]
    assert float(row["earned"]) == pytest.approx(np.mean(earned))
    # Every generator is a dataset.
    assert (row["n"], row["datasets"]) == ("5", "2")


def test_the_verdict_is_over_generators(config: Path) -> None:
    """Of more systems, so that something is decided; the primary target comes first in everything."""
    for number in range(1, 6):
        wrong = {f"d{i}": [{"hotel": {"area": "west"}}] * len(GOLD[f"d{i}"]) for i in range(number % 3)}
        write_states(config.parent, f"other{number}", states(**wrong))
    for target in ("success", "inform"):
        folder = config.parent / f"run_{target}"
        done(config, folder, "--set", f"correlation.primary=outcome.{target}")
        made = Run(folder)
        verdict = made.verdict().verdicts[0]
        assert made.choices[0].target == verdict.target == f"outcome.{target}"
        assert verdict.n_datasets == 2 and verdict.unit == "share"
        assert made.recommended() == verdict.recommended


def test_what_errors_cost(config: Path) -> None:
    """A wrong area costs d0 under the able generator alone: 1 of 2 cells."""
    study = done(config, config.parent / "run")
    rows = study.rows("errors", systems="all", target="outcome.success")
    costs = {(row["error"], row["slots"]): row for row in rows}
    assert float(costs["wrong", "hotel-area"]["cost"]) == pytest.approx(0.5)
    assert float(costs["wrong", "hotel-area"]["share"]) == pytest.approx(2 / 15)
    # Two systems are late, and fail in d1 whoever answers.
    assert float(costs["wrong", "train-arrive"]["cost"]) == pytest.approx(1.0)
    assert float(costs["missed", "hotel-name"]["cost"]) == pytest.approx(0.0)
    assert ("overshot", "all") not in costs


def test_a_second_run_computes_nothing(config: Path) -> None:
    study = done(config, config.parent / "run")
    before = (study.folder / "errors.csv").read_bytes()
    done(config, study.folder)
    assert computed(study.folder) == set()
    assert (study.folder / "errors.csv").read_bytes() == before
    write_responses(config.parent / "responses_silent.json", RESPONSES)
    done(config, study.folder)
    assert "evaluate" in computed(study.folder) and "score" not in computed(study.folder)


def test_other_studies_have_no_table_of_errors(config: Path) -> None:
    (config.parent / "outcomes.csv").write_text(
        "system,success\n" + "".join(f"{name},1\n" for name in SYSTEMS)
    )
    text = CONFIG[: CONFIG.index("[outcomes]")] + '[outcomes]\nfile = "outcomes.csv"\nnames = ["success"]\n'
    config.write_text(text + CONFIG[CONFIG.index("[metrics]") :])
    study = done(config, config.parent / "run")
    assert not (study.folder / "errors.csv").exists()


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
    place = "session d1, turn 0, slot train-day"
    assert_refused(outcome, "vague", "another gold", place, "'monday'", "'friday'")
    done(config, config.parent / "run", "--set", "states.own_gold=true")


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
    succeed("report", study.folder)
    page = (study.folder / "report.html").read_text()
    assert "not among the core, since they" in page
    assert "have the gold states on the slots that they fill: oracle" in page.replace("<wbr>", "")


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
