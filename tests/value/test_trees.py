"""Trees: what they average over, and that no value leaves the range of what was earned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from extrinsic.value.diagnostics import checked
from extrinsic.value.estimator import EvaluationProblem
from extrinsic.value.trees import MOST_STEPS, Fqe, TreeSettings
from tests.policy.decisions import decisions, states_of

SMALL = Fqe(settings=TreeSettings(trees=5, smallest_leaf=2))


def random_case(seed: int, n_dialogs: int, longest: int, n_states: int) -> EvaluationProblem:
    """Any rewards, and a policy that only goes by signs: what it does may never have ended a dialog."""
    rng = np.random.default_rng(seed)
    dialog = np.repeat(np.arange(n_dialogs), rng.integers(1, longest + 1, n_dialogs))
    n_rows = len(dialog)
    states = states_of(rng.random((n_rows, 1)), rng.integers(0, n_states, (n_rows, 1)))
    log = decisions(states, rng.integers(0, 3, n_rows), rng.normal(-5, 10, n_rows), dialog, 3)
    return EvaluationProblem(log, np.eye(3)[rng.integers(0, 3, n_states)][states.discrete[:, 0]])


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 15), st.integers(1, 6), st.integers(1, 3))
@example(283, 3, 5, 3)
def test_no_value_leaves_the_range(seed: int, n_dialogs: int, longest: int, n_states: int) -> None:
    case = random_case(seed, n_dialogs, longest, n_states)
    to_go = case.transitions.returns_to_go()
    found = SMALL.estimate(case)
    assert to_go.min() - 1e-6 <= found.mean <= to_go.max() + 1e-6
    assert found.diagnostics["lowest_q"] >= to_go.min() - 1e-6
    assert found.diagnostics["highest_q"] <= to_go.max() + 1e-6


def circles(cost: float, feasible: tuple[float, float] | None = None) -> EvaluationProblem:
    """a, a, b in one state at the same cost each; a policy of nothing but a never comes to an end."""
    states = states_of(np.zeros((30, 1)), np.zeros((30, 1)))
    log = decisions(states, [0, 0, 1] * 10, np.full(30, cost), np.arange(30) // 3, 2)
    return EvaluationProblem(replace(log, feasible=feasible), np.tile([1.0, 0.0], (30, 1)))


@pytest.mark.parametrize(("feasible", "least"), [(None, -60.0), ((-500.0, 100.0), -500.0)])
def test_going_round_in_circles(feasible: tuple[float, float] | None, least: float) -> None:
    """Is worth the least there is: of what can be earned or, where that is not known, of what was earned."""
    found = Fqe().estimate(circles(-20.0, feasible))
    assert found.mean == pytest.approx(least)
    assert found.diagnostics["lowest_q"] == pytest.approx(least)


def test_circles_too_slow_to_come_to_rest_are_flagged() -> None:
    """At a tenth of a point each, 500 steps are not enough to come to -500."""
    slow, quick = circles(-0.1, (-500.0, 100.0)), circles(-20.0, (-500.0, 100.0))
    found = checked(Fqe().estimate(slow), slow)
    assert found.diagnostics["steps"] == MOST_STEPS
    assert "steps" in found.flags
    assert checked(Fqe().estimate(quick), quick).flags == ()


def test_the_best_of_two_dialogs() -> None:
    """10 and then 0, or 0 and then 10, by what is done: 20 was never earned."""
    states = states_of(np.zeros((40, 1)), np.tile([0, 1], 20)[:, None])
    log = decisions(states, [0, 0, 1, 1] * 10, [10.0, 0.0, 0.0, 10.0] * 10, np.arange(40) // 2, 2)
    assert Fqe().estimate(EvaluationProblem(log, np.tile([[1.0, 0.0], [0.0, 1.0]], (20, 1)))).mean <= 10.0
