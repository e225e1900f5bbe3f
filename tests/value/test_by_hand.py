"""Two dialogs, worked out by hand.

Dialog a has two decisions, with rewards 1 and 2. The system took them with .25 and .8, the policy would with
.5 and .4: ratios 2 and .5, so that rho is 2 and then 1. Dialog b has one decision with reward 4, .5 against
.25: rho is .5, and stays so. The returns are 3 and 4.

is:     (1 * 3 + .5 * 4) / 2 = 2.5                    wis:   (1 * 3 + .5 * 4) / (1 + .5) = 10/3
pdis:   ((2 * 1 + 1 * 2) + .5 * 4) / 2 = 3
pdwis:  (2 * 1 + .5 * 4) / 2.5 + (1 * 2 + .5 * 0) / 1.5 = 1.6 + 4/3

Let Q be 1.5 and 1 in a, 3 in b, and V 2 and 1.5 in a, 2.5 in b.

dr:     a: 2 + 2 (1 + 1.5 - 1.5) + 1 (2 + 0 - 1) = 5; b: 2.5 + .5 (4 + 0 - 3) = 3; their mean: 4
wdr:    weights 1/2 each of the first V, (.8, .2) of first decisions, (2/3, 1/3) of second ones:
        (2 + 2.5) / 2 + .8 (1 + 1.5 - 1.5) + .2 (4 - 3) + 2/3 (2 - 1) = 2.25 + 1 + 2/3
"""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.value import doubly_robust
from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.importance import cumulative_ratios
from extrinsic.value.result import Value
from tests.policy.decisions import decisions, states_of
from tests.value.finding import find

LOGGED = np.array([[0.25, 0.75], [0.2, 0.8], [0.5, 0.5]])
TARGET = np.array([[0.5, 0.5], [0.6, 0.4], [0.25, 0.75]])
Q, V = np.array([1.5, 1.0, 3.0]), np.array([2.0, 1.5, 2.5])


@pytest.fixture
def case(monkeypatch: pytest.MonkeyPatch) -> EvaluationProblem:
    monkeypatch.setattr(doubly_robust, "fit_q_of_others", lambda *_: (Q, V))
    states = states_of(np.zeros((3, 1)), [[0], [1], [2]])
    log = decisions(states, [0, 1, 0], [1.0, 2.0, 4.0], [0, 0, 1], 2, LOGGED, ("a", "b"))
    return EvaluationProblem(log, TARGET)


def test_ratios(case: EvaluationProblem) -> None:
    assert case.ratios == pytest.approx([2.0, 0.5, 0.5])
    assert cumulative_ratios(case) == pytest.approx(np.array([[2.0, 1.0], [0.5, 0.5]]))
    assert case.transitions.returns_to_go().tolist() == [3.0, 2.0, 4.0]
    assert case.first.tolist() == [0, 2]
    assert case.ends.tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("observed", 3.5),
        ("is", 2.5),
        ("wis", 10 / 3),
        ("pdis", 3.0),
        ("pdwis", 1.6 + 4 / 3),
        ("dr", 4.0),
        ("wdr", 3.25 + 2 / 3),
    ],
)
def test_values(case: EvaluationProblem, name: str, expected: float) -> None:
    found = find(name).estimate(case)
    assert isinstance(found, Value)
    assert (found.estimator, found.n) == (name, 2)
    assert found.mean == pytest.approx(expected, abs=1e-12)
    assert found.low <= found.mean <= found.high


@pytest.mark.parametrize("name", ["is", "wis", "pdis", "pdwis", "dr", "wdr"])
def test_the_effective_size(case: EvaluationProblem, name: str) -> None:
    """Of the weights 1 and .5: 1.5^2 / 1.25."""
    assert find(name).estimate(case).diagnostics == pytest.approx(
        {"effective_size": 1.8, "nonzero_share": 1.0}
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("observed", [-0.25, 0.25]),  # (3 - 3.5) / 2
        ("is", [0.25, -0.25]),  # (3 - 2.5) / 2
        ("wis", [-2 / 9, 2 / 9]),  # 2/3 (3 - 10/3)
        ("pdis", [0.5, -0.5]),  # (4 - 3) / 2
        ("pdwis", [-0.48 + 4 / 9, 0.48 - 4 / 9]),  # .8 (1 - 1.6) + 2/3 (2 - 4/3)
        ("dr", [0.5, -0.5]),  # (5 - 4) / 2
    ],
)
def test_influences(case: EvaluationProblem, name: str, expected: list[float]) -> None:
    assert find(name).estimate(case).influence == pytest.approx(expected, abs=1e-12)
