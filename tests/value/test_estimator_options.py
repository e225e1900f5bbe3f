"""Estimators with options: the kernel that LSTD values with is a study's choice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from extrinsic.arrays import Floats
from extrinsic.policy.lstd import KernelSettings
from extrinsic.registry import ESTIMATORS
from extrinsic.value.estimator import EvaluationProblem, with_options
from tests.policy.decisions import decisions, states_of

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
