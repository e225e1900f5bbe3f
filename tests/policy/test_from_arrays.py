"""Transitions from somebody's own arrays: the same as by hand, or every problem at once."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from extrinsic.errors import InputError
from extrinsic.policy.states import States
from extrinsic.policy.transitions import END, Transitions
from tests.policy.decisions import drawn_decisions

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


def test_the_same_as_transitions_that_were_given() -> None:
    """Every array of other transitions, put in again in another order of dialogs."""
    log = drawn_decisions(8)
    rows = np.concatenate([np.flatnonzero(log.dialog == dialog) for dialog in (5, 1, 0, 7, 2, 3, 6, 4)])
    again = Transitions.from_arrays(
        log.states.take(rows),
        log.action[rows],
        log.reward[rows],
        [log.sessions[dialog] for dialog in log.dialog[rows]],
        actions=log.actions,
        turn=log.turn[rows],
        propensities=log.propensities[rows],
        ends=log.next[rows] == END,
    )
    for field in fields(Transitions):
        old, new = getattr(log, field.name), getattr(again, field.name)
        if isinstance(old, States):
            assert np.array_equal(old.continuous, new.continuous)
            assert np.array_equal(old.discrete, new.discrete)
        elif isinstance(old, np.ndarray):
            assert np.array_equal(old, new), field.name
        else:
            assert old == new


def test_shapes() -> None:
    messages = problems_of(reward=[1.0], propensities=np.ones((3, 3)), possible=[True, True, True])
    assert [message.split(" (")[0] for message in messages] == [
        "reward has the wrong shape",
        "propensities has the wrong shape",
        "possible has the wrong shape",
    ]
    assert "expected (3,) or (3, 2), found (3, 3)" in messages[1]
    assert problems_of(states=[0.1, 0.2, 0.3])[0].startswith("states have the wrong shape (expected (n, d)")
    nothing = {"states": np.zeros((0, 2)), "action": [], "reward": [], "dialog": []}
    assert "there are no decisions" in problems_of(**nothing)


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
