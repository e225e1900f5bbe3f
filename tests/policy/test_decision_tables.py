"""Own decisions, from arrays and from JSON lines: the same as by hand, or every problem at once."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extrinsic.errors import InputError
from extrinsic.policy.observations import stable_number
from extrinsic.policy.transitions import END, Transitions, read_transitions, write_transitions
from tests.policy.decisions import assert_same_transitions, drawn_decisions

ACTIONS = ("ask", "offer")


def given(**changes: Any) -> dict[str, Any]:
    """Two dialogs of two decisions and one."""
    return {
        "states": [[0.1, 1.0], [0.4, 0.0], [0.2, 1.0]],
        "action": ["ask", "offer", "offer"],
        "reward": [-1.0, 10.0, -5.0],
        "dialog": ["b", "b", "a"],
        "actions": ACTIONS,
        **changes,
    }


def problems_of(**changes: Any) -> list[str]:
    with pytest.raises(InputError) as raised:
        Transitions.from_arrays(**given(**changes))
    return [str(problem) for problem in raised.value.problems]


def test_dialogs_come_in_the_order_of_their_ids() -> None:
    log = Transitions.from_arrays(**given(propensities=[0.5, 0.25, 1.0]))
    assert log.sessions == ("a", "b")
    assert log.dialog.tolist() == [0, 1, 1]
    assert log.next.tolist() == [END, 2, END]
    assert log.turn.tolist() == [0, 0, 1]
    assert log.action.tolist() == [1, 0, 1]
    assert log.returns().tolist() == [-5.0, 9.0]
    assert log.logged.tolist() == [1.0, 0.5, 0.25]
    assert log.states.continuous_names == ("x0", "x1")
    assert np.isnan(log.propensities).sum() == 3


def test_every_problem_at_once_with_dialog_and_turn() -> None:
    messages = problems_of(
        states=[[0.1, np.nan], [0.4, 0.0], [np.inf, 1.0]],
        reward=[np.nan, 1.0, 2.0],
        propensities=[0.0, np.nan, 1.5],
        possible=[[False, True], [True, True], [True, True]],
        ends=[True, True, False],
    )
    text = "\n".join(messages)
    for expected in (
        "session b, turn 0: the feature 'x1' is not a finite number (expected a finite number, found nan)",
        "session a, turn 0: the feature 'x0' is not a finite number (expected a finite number, found inf)",
        "session b, turn 0: the reward is missing or not a finite number",
        "session b, turn 0: the action taken was not possible",
        "found ask",
        "session b, turn 1: the propensity of the action taken is missing",
        "session b, turn 0: the propensity of the action taken cannot be used; 2 such in all "
        "(expected above 0, at most 1, found 0.0)",
        "session a, turn 0: the propensity of the action taken cannot be used (expected above 0, at most 1, "
        "found 1.5)",
        "session b, turn 0: there are decisions after the end of the dialog",
        "session a, turn 0: the dialog does not end",
    ):
        assert expected in text, expected


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"reward": [np.nan] * 3}, "there are no rewards, and states have no labels to make them of"),
        ({"propensities": [np.nan] * 3}, "no decision has a propensity"),
        ({"propensities": [[0.5, 0.4], [0.5, 0.5], [0.5, 0.5]]}, "the propensities do not add up to 1"),
        ({"propensities": [[0.5, -0.1], [0.5, 0.5], [0.5, 0.5]]}, "of another action is not a probability"),
        ({"action": [0, 2, -1]}, "there is no such action; 2 such in all (expected 0 to 1, for ask, offer"),
        ({"action": ["ask", "ofer", "ask"]}, "there is no action 'ofer'; did you mean 'offer'?"),
        ({"action": [0.5, 1.0, 1.0]}, "actions are neither whole numbers nor names"),
        ({"actions": ("ask", "offer", "ask")}, "the action 'ask' is named twice"),
        ({"reward": [1.0]}, "reward has the wrong shape"),
        ({"propensities": np.ones((3, 3))}, "the wrong shape (expected (3,) or (3, 2), found (3, 3))"),
        ({"possible": [True, True, True]}, "possible has the wrong shape"),
        ({"states": [0.1, 0.2, 0.3]}, "states have the wrong shape (expected (n, d)"),
        ({"states": np.zeros((0, 2)), "action": [], "reward": [], "dialog": []}, "there are no decisions"),
        ({"dialog": ["b", "a", "b"]}, "session b, turn 2: the decisions of a dialog are not together"),
        ({"turn": [3, 3, 0]}, "session b, turn 3: the turns are out of order"),
    ],
)
def test_bad_columns(changes: dict[str, Any], message: str) -> None:
    assert message in "\n".join(problems_of(**changes))


def test_many_alike_are_counted_and_not_all_listed() -> None:
    n_rows = 500
    messages = problems_of(
        states=np.zeros((n_rows, 1)),
        action=np.zeros(n_rows, dtype=int),
        reward=np.ones(n_rows),
        dialog=[f"d{number:03}" for number in range(n_rows)],
        propensities=np.zeros(n_rows),
    )
    assert len(messages) == 20
    assert "500 such in all" in messages[0]


Line = dict[str, Any]

UNUSABLE = "the propensity of the action taken cannot be used (expected above 0, at most 1, found %s)"


def small() -> list[Line]:
    return [
        {"dialog": "b", "turn": 1, "state": {"x": 0.5}, "discrete": {"last": "hello"}, "action": "ask",
         "propensity": 0.5, "possible": ["ask", "offer"], "reward": -1},
        {"dialog": "b", "turn": 3, "state": {"x": 0.75}, "discrete": {"last": 7}, "action": "offer",
         "propensities": {"ask": 0.25, "offer": 0.75}, "reward": 10.0, "end": True},
        {"dialog": "a", "turn": 0, "state": {"x": 1}, "discrete": {"last": 7}, "action": "offer",
         "propensity": 1.0, "reward": -5.0, "end": True},
    ]  # fmt: skip


def write(folder: Path, lines: list[Line]) -> Path:
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_what_a_log_holds(tmp_path: Path) -> None:
    log = read_transitions(write(tmp_path, small()))
    assert log.sessions == ("a", "b")
    assert log.actions == ("ask", "offer")
    assert log.turn.tolist() == [0, 1, 3]
    assert log.states.continuous.ravel().tolist() == [1.0, 0.5, 0.75]
    assert log.states.discrete.ravel().tolist() == [7, stable_number("hello"), 7]
    assert log.logged.tolist() == [1.0, 0.5, 0.75]
    assert log.propensities[2].tolist() == [0.25, 0.75]
    assert log.possible is not None and log.possible.all()
    assert log.returns().tolist() == [-5.0, 9.0]
    assert log.source.dataset == "log"


@pytest.mark.parametrize("propensities", ["all", "taken", "none"])
def test_written_and_read_again(propensities: str, tmp_path: Path) -> None:
    log = drawn_decisions(12)
    if propensities != "all":
        taken = np.full_like(log.propensities, np.nan)
        if propensities == "taken":
            taken[np.arange(len(log)), log.action] = log.logged
        log = replace(log, propensities=taken)
    possible = np.ones((len(log), 3), dtype=bool)
    possible[np.arange(len(log)), (log.action + 1) % 3] = False
    for with_possible in (log, replace(log, possible=possible)):
        write_transitions(with_possible, tmp_path / "log.jsonl.gz")
        assert_same_transitions(with_possible, read_transitions(tmp_path / "log.jsonl.gz", log.actions))


@pytest.mark.parametrize(
    ("row", "change", "message"),
    [
        (0, {"propensity": 0.0}, f"log.jsonl:1, session b, turn 1: {UNUSABLE % '0.0'}"),
        (2, {"propensity": 1.25}, f"log.jsonl:3, session a, turn 0: {UNUSABLE % '1.25'}"),
        (2, {"propensity": None}, "log.jsonl:3, session a, turn 0: the propensity of the action taken"),
        (1, {"propensities": {"ask": 0.5, "offer": 0.25}}, "b, turn 3: the propensities do not add up"),
        (0, {"possible": ["offer"]}, "session b, turn 1: the action taken was not possible"),
        (0, {"reward": None}, "log.jsonl:1, session b, turn 1: the reward is missing or not a finite number"),
        (0, {"state": {"y": 1.0}}, "log.jsonl:1"),
        (2, {"state": {"y": 1.0}}, "other columns than at the first line: lacking x; in addition y"),
        (2, {"discrete": None}, "'discrete' has other columns than at the first line: lacking last"),
        (2, {"action": None}, "log.jsonl:3, session a, turn 0: the line lacks 'action'"),
        (1, {"turn": 1}, "session b, turn 1: the turns are out of order"),
        (2, {"end": None}, "log.jsonl:3, session a, turn 0: the dialog does not end"),
        (0, {"end": True}, "there are turns after the end of the dialog"),
    ],
)  # fmt: skip
def test_a_line_that_is_wrong(row: int, change: Line, message: str, tmp_path: Path) -> None:
    lines = small()
    lines[row] |= change
    if message == "log.jsonl:1":  # the other lines differ from the first
        message = "log.jsonl:2, session b, turn 3: 'state' has other columns"
    with pytest.raises(InputError) as raised:
        read_transitions(write(tmp_path, lines))
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("lacks", "actions", "message"),
    [
        ("nothing", ("asks", "offer"), "there is no action 'ask'; did you mean 'asks'"),
        ("reward", None, "there are no rewards, and states have no labels to make them of"),
    ],
)
def test_a_log_that_does_not_fit(lacks: str, actions: Any, message: str, tmp_path: Path) -> None:
    lines = [{key: value for key, value in line.items() if key != lacks} for line in small()]
    with pytest.raises(InputError, match=message):
        read_transitions(write(tmp_path, lines), actions)


def test_a_corpus_is_no_log_of_states(tmp_path: Path) -> None:
    lines = [{"dialog": "a", "turn": 0, "system": [], "nbest": [], "labels": {"goal": {}}}]
    with pytest.raises(InputError, match=r"no line has 'state'; .* is a corpus") as raised:
        read_transitions(write(tmp_path, lines))
    assert len(raised.value.problems) == 2
