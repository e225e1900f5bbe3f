"""Two trackers of a run: differences, intervals, p-values, and the dialogs behind them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import extrinsic
from extrinsic.corpus.transcript import heard_at, right_values, transcript_of_dialog
from extrinsic.panel import Note, Target
from extrinsic.registry import TRACKERS
from extrinsic.simulation import read_simulation, simulate
from extrinsic.study.comparing import compare_trackers, differing_dialogs, most_different_dialogs
from extrinsic.study.run import Run
from extrinsic.trackers.track import track
from extrinsic.verdict.compare import MEAN, PERMUTATIONS, ComparisonRow, value_flags
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
