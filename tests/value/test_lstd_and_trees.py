"""Estimators by hand: LSTD, whose kernel is a study's choice, in closed form; trees, and what bounds them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from extrinsic.arrays import Floats
from extrinsic.policy.lstd import KernelSettings
from extrinsic.registry import ESTIMATORS
from extrinsic.value.diagnostics import checked
from extrinsic.value.estimator import EvaluationProblem, with_options
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


LSTD = ("lstd", "lstd_augmented")
every_lstd = pytest.mark.parametrize("name", LSTD)


def calls(number: Floats, reward: Floats) -> EvaluationProblem:
    """Calls of one decision in states of one number; there are two actions, and all take the first."""
    n, first = len(number), np.tile([1.0, 0.0], (len(number), 1))
    states = states_of(number[:, None], np.zeros((n, 1)))
    return EvaluationProblem(decisions(states, np.zeros(n), reward, np.arange(n), 2, first), first, states)


def made(name: str, **options: object) -> Any:
    return with_options(ESTIMATORS.get(name), {name: options})


@every_lstd
@pytest.mark.parametrize(("height", "ridge"), [(4.0, 100.0), (2.0, 100.0), (4.0, 1.0), (4.0, 0.0)])
def test_height_and_ridge_in_closed_form(name: str, height: float, ridge: float) -> None:
    """Two clusters of n calls, so far apart that each has a kernel of its own; m, the mean of all, is prior.

    Q = m + p^2 w, and w minimises sum (r - Q)^2 + ridge w^2: Q = m + n p^4 / (n p^4 + ridge) (mean - m).
    """
    reward = np.array([1.0, 2.0, 3.0, 6.0, 10.0, 20.0, 30.0, 40.0])
    problem = calls(np.repeat([0.0, 100.0], 4), reward)
    share = 4 * height**4 / (4 * height**4 + ridge)
    value = made(name, height=height, ridge=ridge).estimate(problem)
    assert value.mean == pytest.approx(14.0)
    assert value.diagnostics["lowest_q"] == pytest.approx(14.0 + share * (3.0 - 14.0))
    assert value.diagnostics["highest_q"] == pytest.approx(14.0 + share * (25.0 - 14.0))


@every_lstd
@pytest.mark.parametrize(
    ("width", "nu", "kernels"), [(2.0, 1.0, 2), (3.0, 1.0, 2), (2.0, 3.0, 2), (3.0, 3.0, 1), (3.0, 1.7, 1)]
)
def test_width_and_nu_in_closed_form(name: str, width: float, nu: float, kernels: int) -> None:
    """Of two points at distance 1, 16 (1 - exp(-1 / width^2)) is left of the second: 3.54 or 1.68."""
    value = made(name, width=width, nu=nu).estimate(calls(np.array([0.0, 1.0]), np.array([1.0, 2.0])))
    assert value.diagnostics["kernels"] == kernels


@every_lstd
def test_gamma_in_closed_form(name: str) -> None:
    """A call of two decisions in states far apart, rewards 0 and 10: Q of the first is 10 gamma."""
    states = states_of(np.tile([[0.0], [100.0]], (3, 1)), np.zeros((6, 1)))
    first = np.tile([1.0, 0.0], (6, 1))
    log = decisions(states, np.zeros(6), np.tile([0.0, 10.0], 3), np.repeat([0, 1, 2], 2), 2, first)
    problem = EvaluationProblem(log, first, states)
    for gamma in (1.0, 0.5):
        assert made(name, gamma=gamma, ridge=0.0).estimate(problem).mean == pytest.approx(10.0 * gamma)


def test_what_is_not_named_stays() -> None:
    plain = ESTIMATORS.get("lstd")
    assert with_options(plain, {}) is plain
    assert with_options(plain, {"lstd_augmented": {"width": 3.0}}) is plain
    assert made("lstd", width=3).settings == KernelSettings(width=3.0)
    assert (plain.settings, made("lstd", width=3.0).needs) == (KernelSettings(), ())


def test_a_mean_follows_the_tables_of_its_parts() -> None:
    mean = with_options(
        ESTIMATORS.get("mean_augmented"), {"lstd_augmented": {"nu": 3.0}, "fqe_augmented": {"trees": 7}}
    )
    assert [part.name for part in mean.parts] == ["lstd_augmented", "fqe_augmented"]
    assert (mean.parts[0].settings.nu, mean.parts[1].settings.trees) == (3.0, 7)
    assert mean.needs == ("augmented_states",)
