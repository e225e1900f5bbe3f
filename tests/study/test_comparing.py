"""Two trackers of a run: differences, intervals, p-values (by enumeration), and the dialogs behind them."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extrinsic
from extrinsic.corpus.formats import read_states
from extrinsic.corpus.transcript import heard_at, right_values, transcript_of_dialog
from extrinsic.metrics.definition import parse_metric
from extrinsic.metrics.measuring import Source
from extrinsic.panel import Note, Target
from extrinsic.registry import TRACKERS
from extrinsic.simulation import read_simulation, simulate
from extrinsic.study.comparing import compare_trackers, differing_dialogs, most_different_dialogs
from extrinsic.study.paired_scores import align, paired_scores
from extrinsic.study.run import Run
from extrinsic.trackers.track import track
from extrinsic.verdict.compare import MEAN, PERMUTATIONS, ComparisonRow, better_one, value_flags
from tests.builders import write_json
from tests.running import assert_refused, run, succeed
from tests.study.studies import Study
from tests.verdict.panels import made_panel


@pytest.fixture(scope="module")
def rows(tiny: Study) -> list[ComparisonRow]:
    return compare_trackers(Run(tiny.folder), "hwu", "vote")


def one(rows: list[ComparisonRow], **wanted: object) -> ComparisonRow:
    (row,) = (row for row in rows if all(getattr(row, key) == value for key, value in wanted.items()))
    return row


def test_values_are_those_of_the_tables(rows: list[ComparisonRow], tiny: Study) -> None:
    metric = one(rows, dataset="a", name="l2", schedule=1, component="joint")
    stored = tiny.values("intrinsic", dataset="a", metric="l2", schedule="1", component="joint")
    assert (metric.a, metric.b) == (stored["hwu"], stored["vote"])
    assert metric.difference == pytest.approx(stored["hwu"] - stored["vote"])
    live = one(rows, dataset="a", name="rl.live")
    stored = tiny.values("returns", dataset="a", policy="rl", estimator="live")
    assert (live.a, live.b) == (stored["hwu"], stored["vote"])


def test_the_mean_over_datasets(rows: list[ComparisonRow]) -> None:
    name = {"name": "accuracy", "schedule": 1, "component": "joint"}
    parts = [one(rows, dataset=dataset, **name).difference for dataset in ("a", "b")]
    assert one(rows, dataset=MEAN, **name).difference == pytest.approx(np.mean(parts))


def test_intervals_and_p_values(rows: list[ComparisonRow]) -> None:
    for row in rows:
        if row.difference is not None:
            assert 1 / (PERMUTATIONS + 1) <= row.p <= 1.0
            assert row.low <= row.high
        decided = row.p is not None and row.p < 0.05 and not row.low <= 0.0 <= row.high
        assert decided or row.better is None
    decided = [row for row in rows if row.name == "l2" and row.better]
    assert decided
    assert all(row.better == ("a" if row.difference < 0 else "b") for row in decided)


def test_p_by_exchanging_dialogs_one_by_one(rows: list[ComparisonRow], tiny: Study) -> None:
    """The accuracy of many exchanges done by hand has the share of as large differences that p tells."""
    settings = extrinsic.read_study(tiny.config)
    assert settings.simulation is not None
    simulation = read_simulation(settings.simulation.config)
    test = simulate(simulation, "a", "test").corpus
    counts = []
    for name in ("hwu", "vote"):
        beliefs = track(TRACKERS.get(name), test, name).joint
        right = beliefs.correct[beliefs.top]
        counts.append(np.add.reduceat(right.astype(float), test.offsets[:-1]))
    rng = np.random.default_rng(5)
    apart = counts[0] - counts[1]
    signs = rng.choice([-1.0, 1.0], (20_000, len(apart)))
    share = (np.abs(signs @ apart) >= abs(apart.sum()) - 1e-9).mean()
    row = one(rows, dataset="a", name="accuracy", schedule=1, component="joint")
    assert row.difference == pytest.approx(apart.sum() / test.n_turns)
    # Every turn counts once for either tracker, so exchanging dialogs is exchanging signs.
    assert row.p == pytest.approx(share, abs=0.03)


def test_dialogs_that_differ_most() -> None:
    right = np.array([3, 3, 1, 0, 5]), np.array([1, 3, 2, 2, 5])
    # Dialogs of two, two and one turn: +2, -3, 0.
    assert differing_dialogs(right, np.array([0, 2, 4, 5]), 5) == [(1, -3), (0, 2)]


def test_told_dialogs_hold_what_was_said(tiny: Study) -> None:
    dialogs = most_different_dialogs(Run(tiny.folder), "hwu", "last_turn", 3)
    assert [abs(told.difference) for told in dialogs] == sorted(
        (abs(told.difference) for told in dialogs), reverse=True
    )
    for told in dialogs:
        counted = sum(
            int(slot.correct[0]) - int(slot.correct[1]) for turn in told.turns for slot in turn.slots
        )
        # Slots that nobody speaks of are left out, and both are right about them.
        assert counted == told.difference


def test_a_turn_in_words() -> None:
    corpus = simulate(read_simulation(), "ds4", "test").corpus
    output = track(TRACKERS.get("hwu"), corpus, "hwu")
    turns = transcript_of_dialog(corpus, (output,), 0)
    assert [turn.number for turn in turns] == list(range(int(corpus.offsets[1])))
    assert turns[0].system.startswith("hello()")
    scores = [score for _, score in heard_at(corpus, 0)]
    assert scores == sorted(scores, reverse=True)
    for turn in turns:
        for slot in turn.slots:
            column = corpus.slots.index(slot.slot)
            assert slot.right == right_values(corpus, turn.number, column)
            assert slot.correct[0] == (slot.beliefs[0][0][0] in (slot.right or ("none",)))


def test_flags_of_the_two_values_are_said(rows: list[ComparisonRow]) -> None:
    live = one(rows, dataset=MEAN, name="rl.live")
    targets = [Target("rl.live", live.variant, items="none"), Target("rl.lstd", live.variant, items="none")]
    flags = (("hwu", 0, ("q_range",)), ("vote", 0, ("q_range", "steps")), ("focus", 0, ("misfit",)))
    systems = ["hwu", "vote", "focus"]
    notes = [Note(target, 0, systems.index(name), of_value) for name, target, of_value in flags]
    panel = made_panel(systems, targets, notes=[*notes, Note(1, 0, 0, ("support",))])
    assert [text.partition(":")[0] for text in value_flags(panel, live, ("hwu", "vote"))] == [
        "q_range on both values",
        "steps on the value of vote",
    ]


def test_the_command(tiny: Study, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    outcome = succeed("compare", tiny.folder, "hwu", "vote", "--output", page, "--all")
    first, _, rest = outcome.output.partition("\n")
    assert re.search(r"earns \d+\.\d more \[.+\] than (hwu|vote): ", first)
    brief = run("compare", tiny.folder, "hwu", "vote", "--output", page).output
    assert brief.startswith(first) and len(brief.splitlines()) < min(40, len(rest.splitlines()))
    assert "Values of policies built on them" in outcome.output and "Dialog " in outcome.output
    lines = [line for line in outcome.output.splitlines() if line.startswith(("L2", "accuracy"))]
    assert all(("(lower is better)" in line) == line.startswith("L2") for line in lines) and lines
    assert "(lower is better)" in page.read_text()
    assert outcome.errors == f"the page: {page}\n"
    assert "<title>hwu against vote</title>" in page.read_text()
    as_json = run("compare", tiny.folder, "hwu", "vote", "--json").json()
    assert as_json["verdict"][0]["sentence"] == first
    shown = {row["kind"]: row for row in as_json["rows"]}
    numbers = ["a", "b", "difference", "low", "high", "p", "better"]
    assert list(shown["return"]) == ["dataset", "kind", "name", "variant", *numbers]
    assert list(shown["metric"]) == ["dataset", "kind", "name", "schedule", "component", *numbers]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere", "hwu", "vote"), "found no such directory"),
        (("{run}", "hwu", "votee"), "no tracker 'votee'; did you mean 'vote'?"),
        (("{run}", "hwu", "hwu"), "cannot be compared with itself"),
        (("{run}", "hwu", "vote", "--dataset", "c"), "no dataset 'c'"),
        (("{run}", "hwu", "vote", "--dialogs", "-1"), "at least 0"),
    ],
)
def test_commands_that_make_no_sense(tiny: Study, arguments: tuple[str, ...], said: str) -> None:
    outcome = run("compare", *(part.replace("{run}", str(tiny.folder)) for part in arguments))
    assert_refused(outcome, said)


def write_system(path: Path, right: list[list[int]], reverse: bool = False) -> Path:
    """A dialog for each list; a turn of it is right or not."""
    dialogs: dict[str, Any] = {
        f"d{number}": {
            str(turn): {
                "gt": {"hotel": {"area": "north"}},
                "pr": {"hotel": {"area": "north" if is_right else "south"}},
            }
            for turn, is_right in enumerate(turns)
        }
        for number, turns in enumerate(right)
    }
    return write_json(path, dict(reversed(dialogs.items())) if reverse else dialogs)


FIRST = [[1, 1], [1, 0, 1], [1], [1, 1], [0, 1], [1], [1, 1], [1]]
SECOND = [[1, 0], [0, 0, 1], [1], [1, 0], [0, 1], [0], [1, 1], [0]]


def jga(chosen: list[list[int]]) -> float:
    turns = [turn for dialog in chosen for turn in dialog]
    return sum(turns) / len(turns)


def test_against_all_exchanges(tmp_path: Path) -> None:
    first = read_states(write_system(tmp_path / "a.json", FIRST))
    second = align(first, read_states(write_system(tmp_path / "b.json", SECOND, reverse=True)))
    (row,) = paired_scores(
        Source(None, first), Source(None, second), [parse_metric("jga")], permutations=20_000, seed=3
    )
    difference = jga(FIRST) - jga(SECOND)
    assert (row.first, row.second) == (jga(FIRST), jga(SECOND))
    assert row.difference == pytest.approx(difference)
    extreme = 0
    for coins in product((0, 1), repeat=len(FIRST)):
        swapped = [
            jga(
                [pair[coin ^ side] for coin, pair in zip(coins, zip(FIRST, SECOND, strict=True), strict=True)]
            )
            for side in (0, 1)
        ]
        extreme += abs(swapped[0] - swapped[1]) >= difference - 1e-12
    exact = extreme / 2 ** len(FIRST)
    # Five standard errors of 20,000 draws.
    assert row.p == pytest.approx(exact, abs=5 * np.sqrt(exact * (1 - exact) / 20_000))
    assert row.low is not None and row.high is not None and row.low <= difference <= row.high
    assert exact > 0.05 and row.better is None  # ahead, but by chance as often as once in 16 times


def test_a_better_one_is_named_only_where_it_is_decided() -> None:
    cases = {
        (True, 0.2, 0.1, 0.3, 0.01): "a",
        (False, 0.2, 0.1, 0.3, 0.01): "b",
        (True, -0.2, -0.3, -0.1, 0.01): "b",
        (True, 0.2, -0.1, 0.3, 0.01): None,
        (True, 0.2, 0.1, 0.3, 0.05): None,
        (None, 0.2, 0.1, 0.3, 0.01): None,
        (True, None, None, None, None): None,
    }
    assert {case: better_one(("a", "b"), *case) for case in cases} == cases


def test_equal_systems(tmp_path: Path) -> None:
    files = [write_system(tmp_path / f"{name}.json", FIRST) for name in "ab"]
    outcome = succeed("score", "--format", "state-sets", "--paired", *files, "--json")
    for row in outcome.json()["rows"]:
        if row["difference"] is not None:
            assert (row["difference"], row["low"], row["high"], row["p"]) == (0, 0, 0, 1)
        assert row["better"] is None


def test_the_table_and_its_forms(tmp_path: Path) -> None:
    files = [write_system(tmp_path / "a.json", FIRST), write_system(tmp_path / "b.json", SECOND)]
    arguments = ("score", "--format", "state-sets", "--paired", *files, "--metric", "jga")
    table = run(*arguments).output
    head = "metric component schedule a b difference low high p better"
    assert table.splitlines()[0].split() == head.split()
    assert "permutations:4999" in table
    assert "not decided" in table
    assert run(*arguments).output == table
    assert run(*arguments, "--json").json()["rows"][0]["metric"] == "jga"


def test_what_is_refused(tmp_path: Path) -> None:
    a = write_system(tmp_path / "a.json", FIRST)
    fewer = write_system(tmp_path / "b.json", SECOND[:-1])
    longer = write_system(tmp_path / "c.json", [*SECOND[:-1], [1, 1]])
    paired = ("score", "--format", "state-sets", "--paired")
    assert_refused(run(*paired, a, fewer), "1 are in one file only", "d7")
    assert_refused(run(*paired, a, longer), "number of turns", "d7")
    assert_refused(run(*paired, a), "two files")
    assert_refused(run(*paired, a, fewer, "--turn-correlation"), "--turn-correlation")
    gold = json.loads(a.read_text())
    gold["d0"]["0"]["gt"] = {"hotel": {"area": "east"}}
    other = write_json(tmp_path / "d.json", gold)
    assert_refused(run(*paired, a, other), "another gold", "d0", "turn 0", "hotel-area")
