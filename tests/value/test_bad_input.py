"""What estimators cannot do, told with where it fails and what still works."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from extrinsic.errors import InputError, UsageError
from extrinsic.registry import ESTIMATORS
from extrinsic.value.evaluation_problem import WITHOUT_PROPENSITIES, EvaluationProblem
from tests.policy.decisions import drawn_decisions
from tests.value.finding import AUGMENTED, FITTED, PLAIN, WEIGHTED, find


def case_of(n_dialogs: int = 12) -> EvaluationProblem:
    log = drawn_decisions(n_dialogs)
    return EvaluationProblem(log, np.full((len(log), 3), 1 / 3), log.states)


def spoilt(rows: list[int], number: float) -> EvaluationProblem:
    """With another propensity of what was done."""
    case = case_of()
    propensities = case.transitions.propensities.copy()
    propensities[rows, case.transitions.action[rows]] = number
    return replace(case, transitions=replace(case.transitions, propensities=propensities))


@pytest.mark.parametrize("name", WEIGHTED)
@pytest.mark.parametrize(
    ("number", "found"), [(np.nan, "nothing"), (0.0, "0.0"), (-0.1, "-0.1"), (1.01, "1.01"), (np.inf, "inf")]
)
def test_propensities_that_cannot_be_used(name: str, number: float, found: str) -> None:
    """Dialogs have five decisions: 7 and 33 are in the second and the seventh, at turns 3 and 4."""
    with pytest.raises(InputError) as raised:
        find(name).estimate(spoilt([7, 33], number))
    told, *places = raised.value.problems
    assert told.message.startswith("2 of 60 decisions have no usable propensity; ")
    assert [(place.session, place.turn, place.found) for place in places] == [
        ("call-00001", 3, found),
        ("call-00006", 4, found),
    ]
    assert all(place.expected == "a number above 0, at most 1" for place in places)


def test_a_long_list_is_cut() -> None:
    with pytest.raises(InputError) as raised:
        find("is").estimate(spoilt(list(range(60)), np.nan))
    assert raised.value.problems[0].message.startswith("60 of 60 decisions")
    assert len(raised.value.problems) == 21


@pytest.mark.parametrize("name", [*PLAIN, *AUGMENTED])
def test_the_others_need_none(name: str) -> None:
    case = case_of()
    bare = replace(case.transitions, propensities=np.full((60, 3), np.nan))
    found = find(name).estimate(replace(case, transitions=bare))
    assert found.mean == find(name).estimate(case).mean


def test_every_estimator_is_in_one_of_the_lists() -> None:
    assert {*PLAIN, *AUGMENTED, *WEIGHTED, *FITTED, "live"} == set(ESTIMATORS.names())


@pytest.mark.parametrize("name", FITTED)
def test_a_fitted_world_is_needed(name: str) -> None:
    with pytest.raises(UsageError, match="no world was fitted to this log"):
        find(name).estimate(case_of())


@pytest.mark.parametrize("name", [*PLAIN, *AUGMENTED, *FITTED, "live"])
def test_those_that_need_none_are_named(name: str) -> None:
    assert name in WITHOUT_PROPENSITIES.replace(",", "").split()


def test_those_that_need_some_are_not_named() -> None:
    assert not set(WEIGHTED) & set(WITHOUT_PROPENSITIES.replace(",", "").split())


def test_a_probability_of_one_is_one() -> None:
    """Only what was done has to be likely; of the rest nothing is asked."""
    case = case_of()
    taken = case.behaviour().target
    sure = replace(case.transitions, propensities=np.where(taken == 1.0, 1.0, np.nan))
    found = find("is").estimate(replace(case, transitions=sure, target=taken))
    assert found.mean == pytest.approx(sure.returns().mean())


@pytest.mark.parametrize("shape", [(59, 3), (60, 2), (60,), (3, 60)])
def test_targets_of_another_shape(shape: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="the policy's probabilities have the wrong shape") as raised:
        EvaluationProblem(drawn_decisions(12), np.full(shape, 1 / 3))
    (problem,) = raised.value.problems
    assert (problem.expected, problem.found) == ("(60, 3)", str(shape))


@pytest.mark.parametrize("row", [[0.5, 0.5, 0.1], [0.0, 0.0, 0.0], [1.1, -0.1, 0.0], [np.nan, 0.5, 0.5]])
def test_targets_that_are_no_probabilities(row: list[float]) -> None:
    target = np.full((60, 3), 1 / 3)
    target[17] = row
    with pytest.raises(UsageError, match="at least 0 and sum to 1"):
        EvaluationProblem(drawn_decisions(12), target)


def test_one_dialog_is_too_few() -> None:
    log = drawn_decisions(1)
    with pytest.raises(UsageError, match=r"at least two dialogs \(found 1\)"):
        EvaluationProblem(log, np.full((len(log), 3), 1 / 3))


@pytest.mark.parametrize("name", ["lstd", "fqe", "observed", "is", "wis"])
def test_two_dialogs_are_enough(name: str) -> None:
    found = find(name).estimate(case_of(2))
    assert found.n == 2
    assert found.low <= found.mean <= found.high


@pytest.mark.parametrize("name", ["dr", "wdr"])
@pytest.mark.parametrize("n_dialogs", [2, 3])
def test_doubly_robust_with_few_dialogs(name: str, n_dialogs: int) -> None:
    """Nobody has a Q of others; that is told in terms of what was given."""
    with pytest.raises(UsageError, match=rf"too few dialogs to learn from.*\(found {n_dialogs}\)"):
        find(name).estimate(case_of(n_dialogs))


@pytest.mark.parametrize("name", ["dr", "wdr"])
def test_doubly_robust_with_enough_dialogs(name: str) -> None:
    assert find(name).estimate(case_of(4)).n == 4


@pytest.mark.parametrize("name", AUGMENTED)
def test_augmented_without_proxies(name: str) -> None:
    with pytest.raises(UsageError, match=f"'{name.replace('mean', 'lstd')}' needs augmented states.*proxy"):
        find(name).estimate(replace(case_of(), augmented=None))


def test_augmented_states_of_other_decisions() -> None:
    case = case_of()
    with pytest.raises(UsageError, match="augmented states are of other decisions") as raised:
        EvaluationProblem(case.transitions, case.target, drawn_decisions(8).states)
    (problem,) = raised.value.problems
    assert (problem.expected, problem.found) == ("60", "40")


def test_live_without_a_stage() -> None:
    with pytest.raises(UsageError, match="no simulator"):
        find("live").estimate(case_of())


def test_unknown_names() -> None:
    with pytest.raises(UsageError, match="did you mean 'lstd'"):
        ESTIMATORS.get("lsdt")
