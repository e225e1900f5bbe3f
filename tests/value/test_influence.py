"""What the weight of a dialog does to a value: its influence, against the value computed again."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from extrinsic.arrays import Floats, Ints
from extrinsic.policy.lstd import System
from extrinsic.value import doubly_robust, result
from extrinsic.value.doubly_robust import DoublyRobust
from extrinsic.value.estimators import DR, IS, OBSERVED, PDIS, PDWIS, WDR, WIS
from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.fqe import Fqe
from extrinsic.value.lstd_value import Lstd
from extrinsic.value.q_function import DEFAULT, KernelSettings, _model, fit_q
from extrinsic.value.result import Value, value_of
from tests.policy.decisions import drawn_decisions
from tests.value.finding import AUGMENTED, PLAIN, WEIGHTED, find
from tests.value.tables import (
    EXACT_KERNELS,
    EXACT_TREES,
    POLICY,
    case_of,
    draw_log,
    exact_value,
    repeated,
    repeated_case,
)

MANY = 50


@cache
def table_case(n_dialogs: int = 30) -> EvaluationProblem:
    return case_of(draw_log(n_dialogs, np.random.default_rng(n_dialogs)))


@cache
def numbers_case(n_dialogs: int = 60) -> EvaluationProblem:
    """States with numbers, some policy, and augmented states with one number more."""
    log = drawn_decisions(n_dialogs)
    states = log.states
    wild = np.exp(np.random.default_rng(3).normal(0, 2, (len(log), 3)))
    more = np.concatenate([states.continuous, np.tanh(wild[:, :1])], axis=1)
    augmented = replace(states, continuous=more, continuous_names=(*states.continuous_names, "more"))
    return EvaluationProblem(log, wild / wild.sum(axis=1, keepdims=True), augmented)


@pytest.fixture
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """For who does not look at the interval."""
    monkeypatch.setattr(result, "RESAMPLES", 2)


@pytest.fixture
def with_given_q(monkeypatch: pytest.MonkeyPatch) -> None:
    """Q and V as some function of state and action, so that they do not hang on who else is there."""

    def given(case: EvaluationProblem, *_: Any) -> tuple[Floats, Floats]:
        state, action = case.transitions.states.discrete[:, 0], case.transitions.action
        return np.sin(3.0 * state + action), np.cos(2.0 * state)

    monkeypatch.setattr(doubly_robust, "fit_q_of_others", given)


@pytest.mark.usefixtures("with_given_q", "few_resamples")
@pytest.mark.parametrize(
    ("estimator", "tolerance"),
    [
        *[(estimator, 1e-9) for estimator in (OBSERVED, IS, PDIS, DR)],
        *[(estimator, 0.05) for estimator in (WIS, PDWIS, WDR, Lstd(settings=EXACT_KERNELS))],
        (Lstd("lstd_behaviour", EXACT_KERNELS, of_behaviour=True), 0.05),
        (Fqe(settings=EXACT_TREES), 0.05),
    ],
    ids=lambda parameter: getattr(parameter, "name", ""),
)
def test_one_dialog_more_among_many(estimator: Any, tolerance: float) -> None:
    """Every dialog fifty times, and one of them once more: the value moves by influence / 50, the rest is of
    second order; a mean moves by just influence / (50 + 1/n)."""
    case = table_case()
    value = estimator.estimate(case)
    n_dialogs = case.transitions.n_dialogs
    found = []
    for dialog in range(0, n_dialogs, 3):
        times = np.full(n_dialogs, MANY)
        times[dialog] += 1
        found.append(
            (estimator.estimate(repeated_case(case, times)).mean - value.mean) * (MANY + 1 / n_dialogs)
        )
    expected = value.influence[::3]
    assert np.abs(np.array(found) - expected).max() <= tolerance * np.abs(expected).max()
    assert np.abs(expected).max() > 0.01


def lstd_with_weights(case: EvaluationProblem, settings: KernelSettings, weight: Floats) -> float:
    """LSTD on the same kernels with weights of dialogs (n_dialogs,), those of the prior included."""
    log = case.transitions
    model = _model(case, log.states, settings)
    system = System(
        model.basis.rows(log.states.continuous, model.basis.block_of(_table(log))),
        model.basis.offsets,
        settings.ridge,
        weight[log.dialog],
    )
    prior = float(weight @ log.returns() / weight.sum())
    solved = system.solve(model.following, log.reward, case.ends, settings.gamma, prior)
    v = solved.prior + model.here[case.first] @ solved.weights
    return float(weight @ v / weight.sum())


def _table(log: Any) -> Ints:
    return np.column_stack([log.states.discrete, log.action])


@pytest.mark.parametrize("settings", [DEFAULT, KernelSettings(ridge=1.0, width=0.5, gamma=0.9)], ids=str)
def test_lstd_against_finite_differences(settings: KernelSettings) -> None:
    """Kernels as they are; with a ridge, what all weights together do is left out: they stay n."""
    case, step = numbers_case(), 1e-5
    n_dialogs = case.transitions.n_dialogs
    value = fit_q(case, case.transitions.states, settings)
    assert lstd_with_weights(case, settings, np.ones(n_dialogs)) == pytest.approx(value.value, abs=1e-8)
    slopes = np.empty(n_dialogs)
    for dialog in range(n_dialogs):
        more, less = np.ones((2, n_dialogs))
        more[dialog] += step
        less[dialog] -= step
        slopes[dialog] = lstd_with_weights(case, settings, more) - lstd_with_weights(case, settings, less)
    slopes /= 2 * step
    assert value.influence == pytest.approx(slopes - slopes.mean(), abs=1e-5 * np.abs(slopes).max())


def bootstrap(n_dialogs: int, size: int, seed: int = 0) -> Ints:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.multinomial(n_dialogs, np.full(n_dialogs, 1 / n_dialogs), size))


@pytest.mark.parametrize(
    ("estimator", "least"),
    [
        (OBSERVED, 1 - 1e-9),
        (IS, 1 - 1e-9),
        (PDIS, 1 - 1e-9),
        (WIS, 0.97),
        (PDWIS, 0.97),
        (Lstd(settings=EXACT_KERNELS), 0.97),
        (Fqe(settings=EXACT_TREES), 0.97),
        (DoublyRobust("dr", False, EXACT_KERNELS), 0.9),
        (DoublyRobust("wdr", True, EXACT_KERNELS), 0.9),
    ],
    ids=lambda parameter: getattr(parameter, "name", ""),
)
@pytest.mark.usefixtures("few_resamples")
def test_resamples_are_those_computed_again(estimator: Any, least: float) -> None:
    """All of it computed again on resampled dialogs, Q included; 300 of them are enough for first order."""
    case = table_case(300)
    weights = bootstrap(300, 25)
    value = estimator.estimate(case)
    quick = value.resampled(weights)
    again = np.array([estimator.estimate(repeated_case(case, times)).mean for times in weights])
    assert quick.shape == (25,)
    assert np.corrcoef(quick, again)[0, 1] >= least
    assert quick.std() == pytest.approx(again.std(), rel=0.25)
    assert abs((quick - again).mean()) < 0.35 * again.std()


def test_resamples_of_kernels_computed_again() -> None:
    """With the default ridge, kernels chosen anew and the prior moved along."""
    case, estimator = numbers_case(200), Lstd()
    weights = bootstrap(200, 40)
    quick = estimator.estimate(case).resampled(weights)
    again = np.array([estimator.estimate(repeated_case(case, times)).mean for times in weights])
    assert np.corrcoef(quick, again)[0, 1] > 0.9
    assert quick.std() == pytest.approx(again.std(), rel=0.25)


@pytest.mark.parametrize("name", [*PLAIN, *AUGMENTED, *WEIGHTED])
def test_every_value(name: str) -> None:
    """Influences sum to nothing; the interval holds the mean; again is the same; weights 1 change nothing."""
    case = numbers_case()
    value, again = (find(name).estimate(case) for _ in range(2))
    assert value.n == len(value.influence) == 60
    assert value.influence.sum() == pytest.approx(0.0, abs=1e-9 * np.abs(value.influence).sum())
    assert value.low < value.mean < value.high
    assert (again.mean, again.low, again.high) == (value.mean, value.low, value.high)
    assert value.resampled(np.ones((1, 60))).tolist() == [value.mean]
    assert again.influence.tobytes() == value.influence.tobytes()


def test_the_interval_is_that_of_a_mean() -> None:
    """Of 400 numbers: mean +- 1.96 sd / 20."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(5.0, 2.0, 400)
    value = value_of("mean", numbers.mean(), (numbers - numbers.mean()) / 400, {})
    half = 1.96 * numbers.std() / 20
    assert (value.low, value.high) == pytest.approx((numbers.mean() - half, numbers.mean() + half), abs=0.02)


def test_intervals_cover() -> None:
    """Of WIS on logs of 100 dialogs: about 95 in 100 hold the truth."""
    rng = np.random.default_rng(5)
    truth, hits = exact_value(POLICY), 0
    for _ in range(200):
        value: Value = WIS.estimate(case_of(draw_log(100, rng)))
        hits += value.low <= truth <= value.high
    assert 175 <= hits <= 199


def test_the_mean_of_two() -> None:
    case = numbers_case()
    parts = [find(name).estimate(case) for name in ("lstd_augmented", "fqe_augmented")]
    both = find("mean_augmented").estimate(case)
    assert both.mean == pytest.approx((parts[0].mean + parts[1].mean) / 2)
    assert both.influence == pytest.approx((parts[0].influence + parts[1].influence) / 2)
    spread = abs(parts[0].mean - parts[1].mean)
    assert both.diagnostics["spread"] == pytest.approx(spread)
    # The interval of the dialogs, and half of what the two disagree by.
    dialogs = value_of("dialogs", both.mean, both.influence, {})
    assert both.mean - both.low == pytest.approx(np.hypot(dialogs.mean - dialogs.low, spread / 2))
    assert both.high - both.mean == pytest.approx(np.hypot(dialogs.high - dialogs.mean, spread / 2))


def test_dialogs_repeated_are_what_they_were() -> None:
    """The helper of these tests."""
    log = draw_log(5, np.random.default_rng(0))
    again, rows = repeated(log, np.array([2, 0, 1, 0, 3]))
    assert again.returns() == pytest.approx(log.returns()[[0, 0, 2, 4, 4, 4]])
    assert np.array_equal(again.reward, log.reward[rows])
    assert list(again.sessions) == sorted(again.sessions)
    assert len(set(again.sessions)) == 6
