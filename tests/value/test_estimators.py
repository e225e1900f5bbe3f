"""What every estimator has to keep: exact in a table, and the influence of dialogs.

A table with known chances is the oracle of the mean; the value computed again, that of the influence.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from extrinsic.arrays import Floats, Ints
from extrinsic.errors import UsageError
from extrinsic.policy import lstd
from extrinsic.policy.basis import StateActions
from extrinsic.policy.lstd import KernelSettings, KernelsOfLog
from extrinsic.policy.transitions import transitions_of
from extrinsic.registry import ESTIMATORS, TRACKERS
from extrinsic.trackers.track import track
from extrinsic.value import value as value_module
from extrinsic.value.estimator import OBSERVED, EvaluationProblem
from extrinsic.value.lstd import PROXIES, Lstd, augment
from extrinsic.value.trees import Fqe, TreeSettings
from extrinsic.value.value import value_of
from tests.policy.decisions import decisions, drawn_decisions, states_of
from tests.simulation.worlds import expert_play, world
from tests.value.tables import (
    AUGMENTED,
    BEHAVIOUR,
    EXACT_KERNELS,
    EXACT_TREES,
    GOES,
    MEAN,
    N_STATES,
    PLAIN,
    POLICY,
    START,
    case_of,
    counted_value,
    draw_log,
    exact_value,
    find,
    repeated_case,
)
from tests.value.test_lstd_and_trees import random_case

LSTD, FQE = Lstd(settings=EXACT_KERNELS), Fqe(settings=EXACT_TREES)
POLICIES = {
    "policy": POLICY,
    "behaviour": BEHAVIOUR,
    "certain": np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]),
}
every_estimator = pytest.mark.parametrize("name", [*PLAIN, *AUGMENTED])


@pytest.fixture
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """For who does not look at the interval."""
    monkeypatch.setattr(value_module, "RESAMPLES", 2)


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


def test_every_estimator_is_in_one_of_the_lists() -> None:
    assert {*PLAIN, *AUGMENTED, "live"} == set(ESTIMATORS.names())
    with pytest.raises(UsageError, match="did you mean 'lstd'"):
        ESTIMATORS.get("lsdt")


@every_estimator
def test_every_value(name: str) -> None:
    """Influences sum to nothing; the interval holds the mean; again is the same; weights 1 change nothing; no
    propensities are needed; two dialogs are enough."""
    case = numbers_case()
    value, again = (find(name).estimate(case) for _ in range(2))
    assert (value.estimator, value.n, len(value.influence)) == (name, 60, 60)
    assert value.influence.sum() == pytest.approx(0.0, abs=1e-9 * np.abs(value.influence).sum())
    assert value.low < value.mean < value.high
    assert (again.mean, again.low, again.high) == (value.mean, value.low, value.high)
    assert value.resampled(np.ones((1, 60))).tolist() == [value.mean]
    assert again.influence.tobytes() == value.influence.tobytes()
    log = case.transitions
    bare = replace(log, propensities=np.full_like(log.propensities, np.nan))
    assert find(name).estimate(replace(case, transitions=bare)).mean == value.mean
    two = drawn_decisions(2)
    few = find(name).estimate(EvaluationProblem(two, np.full((len(two), 3), 1 / 3), two.states))
    assert few.n == 2
    assert few.low <= few.mean <= few.high


def enumerated(policy: Floats, state: int, chance: float) -> float:
    """The sum over all that can happen, one path at a time."""
    total = 0.0
    for action, of_action in enumerate(policy[state]):
        total += chance * of_action * MEAN[state, action]
        for after in np.flatnonzero(GOES[state, action]):
            total += enumerated(policy, after, chance * of_action * GOES[state, action, after])
    return total


def test_the_oracle_itself() -> None:
    for policy in POLICIES.values():
        paths = sum(enumerated(policy, state, START[state]) for state in range(N_STATES) if START[state] > 0)
        assert exact_value(policy) == pytest.approx(paths, abs=1e-12)
    # So is what a long log shows.
    log = draw_log(20_000, np.random.default_rng(0))
    returns = log.returns()
    assert returns.mean() == pytest.approx(exact_value(BEHAVIOUR), abs=4 * returns.std() / np.sqrt(20_000))
    assert exact_value(POLICY) - exact_value(BEHAVIOUR) > 2.0


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("n_dialogs", [80, 400])
def test_exact_in_the_table_that_was_counted(
    policy: str, n_dialogs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LSTD by both solvers; trees when their leaves are the states and actions."""
    case = case_of(draw_log(n_dialogs, np.random.default_rng(n_dialogs)), POLICIES[policy])
    expected = counted_value(case.transitions, POLICIES[policy])
    assert FQE.estimate(case).mean == pytest.approx(expected, abs=1e-5)
    for largest in (lstd.DENSE_UP_TO, 0):
        monkeypatch.setattr(lstd, "DENSE_UP_TO", largest)
        value = LSTD.estimate(case)
        assert value.mean == pytest.approx(expected, abs=1e-7)
        assert (value.diagnostics["zero_kernel"], value.diagnostics["kernels"]) == (0.0, 8)


def test_the_observed_value_by_hand() -> None:
    """Rewards 1 and 2 in the first dialog, 4 in the second; the returns are 3 and 4."""
    states = states_of(np.zeros((3, 1)), [[0], [1], [2]])
    log = decisions(states, [0, 1, 0], [1.0, 2.0, 4.0], [0, 0, 1], 2, np.full((3, 2), 0.5), ("a", "b"))
    case = EvaluationProblem(log, np.full((3, 2), 0.5))
    assert log.returns_to_go().tolist() == [3.0, 2.0, 4.0]
    assert (case.first.tolist(), log.ends.tolist()) == ([0, 2], [False, True, True])
    value = OBSERVED.estimate(case)
    assert (value.n, value.mean) == (2, 3.5)
    assert value.influence == pytest.approx([-0.25, 0.25])  # (3 - 3.5) / 2


@cache
def calls() -> EvaluationProblem:
    """200 calls of the expert, as a tracker sees them; of a policy that always asks, as if that mattered."""
    corpus = expert_play(world(), 200).corpus
    output = track(TRACKERS.get("focus"), corpus, "focus")
    log = transitions_of(corpus, output)
    proxies = [track(TRACKERS.get(name), corpus, name) for name in PROXIES]
    asks = np.tile(np.array(log.actions) == "request", (len(log), 1)).astype(float)
    return EvaluationProblem(log, asks, augment(log, corpus, output, proxies))


@every_estimator
def test_of_the_logged_policy_itself_what_was_observed(name: str) -> None:
    case = calls()
    taken = case.behaviour()
    assert np.array_equal(taken.target, np.eye(len(case.transitions.actions))[case.transitions.action])
    assert case.behaviour(logged=True).target is case.transitions.propensities
    assert taken.augmented is case.augmented
    returns = case.transitions.returns()
    value = find(name).estimate(case.behaviour(logged=True))
    assert value.mean == pytest.approx(returns.mean(), abs=20.0)
    if name == "observed":
        assert value.mean == find(name).estimate(case).mean == pytest.approx(returns.mean())
        assert value.high - value.low == pytest.approx(2 * 1.96 * returns.std() / np.sqrt(200), rel=0.1)


@pytest.mark.usefixtures("few_resamples")
@pytest.mark.parametrize(
    ("estimator", "tolerance", "least"),
    [(OBSERVED, 1e-9, 1 - 1e-9), (LSTD, 0.05, 0.97), (FQE, 0.05, 0.97)],
    ids=lambda parameter: getattr(parameter, "name", ""),
)
def test_influence_is_the_value_computed_again(estimator: Any, tolerance: float, least: float) -> None:
    """Every dialog fifty times, and one of them once more: the value moves by influence / 50, the rest is of
    second order; a mean moves by just influence / (50 + 1/n). And all of it, Q included, computed again on
    resampled dialogs: 300 of them are enough for first order."""
    case, many = table_case(), 50
    value, n_dialogs = estimator.estimate(case), case.transitions.n_dialogs
    moved = []
    for dialog in range(0, n_dialogs, 3):
        times = np.full(n_dialogs, many)
        times[dialog] += 1
        again = estimator.estimate(repeated_case(case, times)).mean
        moved.append((again - value.mean) * (many + 1 / n_dialogs))
    expected = value.influence[::3]
    assert np.abs(np.array(moved) - expected).max() <= tolerance * np.abs(expected).max()
    assert np.abs(expected).max() > 0.01
    compare_with_resamples(estimator, table_case(300), 25, least)


def compare_with_resamples(estimator: Any, case: EvaluationProblem, n_samples: int, least: float) -> None:
    n_dialogs = case.transitions.n_dialogs
    chances = np.full(n_dialogs, 1 / n_dialogs)
    weights: Ints = np.random.default_rng(0).multinomial(n_dialogs, chances, n_samples)
    quick = estimator.estimate(case).resampled(weights)
    again = np.array([estimator.estimate(repeated_case(case, times)).mean for times in weights])
    assert quick.shape == (n_samples,)
    assert np.corrcoef(quick, again)[0, 1] >= least
    assert quick.std() == pytest.approx(again.std(), rel=0.25)
    assert abs((quick - again).mean()) < 0.35 * again.std()


@pytest.mark.usefixtures("few_resamples")
def test_resamples_of_kernels_computed_again() -> None:
    """With the default ridge, kernels chosen anew and the prior moved along."""
    compare_with_resamples(Lstd(), numbers_case(200), 40, 0.9)


def weighted_lstd(case: EvaluationProblem, kernels: KernelsOfLog, gamma: float, weight: Floats) -> float:
    """LSTD by plain dense algebra on the same kernels, with weights of dialogs (n_dialogs,), those of the
    prior included."""
    log, phi = case.transitions, kernels.system.phi.toarray()
    here = StateActions.of(kernels.basis, log.states, case.target > 0.0).mixed(case.target).toarray()
    following = np.where(log.ends[:, None], 0.0, here[np.maximum(log.next, 0)])
    left = phi.T * weight[log.dialog]
    prior = float(weight @ log.returns() / weight.sum())
    system = left @ (phi - gamma * following) + kernels.system.ridge * np.eye(len(kernels.basis))
    w = np.linalg.solve(system, left @ (log.reward + gamma * prior * ~log.ends - prior))
    return float(weight @ (prior + here[log.first] @ w) / weight.sum())


@pytest.mark.parametrize(
    "settings", [KernelSettings(), KernelSettings(ridge=1.0, width=0.5, gamma=0.9)], ids=str
)
def test_lstd_against_finite_differences(settings: KernelSettings) -> None:
    """Kernels as they are; with a ridge, what all weights together do is left out: they stay n."""
    case, step = numbers_case(), 1e-5
    log, n_dialogs = case.transitions, case.transitions.n_dialogs
    kernels = settings.kernels_of(log.states, log.action)
    value = Lstd(settings=settings).estimate(case)

    def changed(weight: Floats) -> float:
        return weighted_lstd(case, kernels, settings.gamma, weight)

    assert changed(np.ones(n_dialogs)) == pytest.approx(value.mean, abs=1e-8)
    slopes = np.empty(n_dialogs)
    for dialog in range(n_dialogs):
        more, less = np.ones((2, n_dialogs))
        more[dialog] += step
        less[dialog] -= step
        slopes[dialog] = changed(more) - changed(less)
    slopes /= 2 * step
    assert value.influence == pytest.approx(slopes - slopes.mean(), abs=1e-5 * np.abs(slopes).max())


def test_the_interval_is_that_of_a_mean() -> None:
    """Of 400 numbers: mean +- 1.96 sd / 20."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(5.0, 2.0, 400)
    value = value_of("mean", numbers.mean(), (numbers - numbers.mean()) / 400, {})
    half = 1.96 * numbers.std() / 20
    assert (value.low, value.high) == pytest.approx((numbers.mean() - half, numbers.mean() + half), abs=0.02)


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


@pytest.mark.parametrize("estimator", [Fqe(settings=TreeSettings(trees=5)), Lstd()])
def test_policies_on_the_same_decisions(estimator: Fqe | Lstd) -> None:
    """In whatever order they come, and whether or not another came before."""
    case = random_case(4, 12, 6, 3)
    targets = [np.eye(3)[np.random.default_rng(seed).integers(0, 3, len(case.target))] for seed in range(3)]

    def values(order: list[int], again: bool) -> dict[int, float]:
        transitions = replace(case.transitions) if again else case.transitions
        return {
            number: estimator.estimate(EvaluationProblem(transitions, targets[number])).mean
            for number in order
        }

    together = values([0, 1, 2], again=False)
    assert values([2, 0, 1], again=True) == together
    for number in range(3):
        assert values([number], again=True) == {number: together[number]}
    assert len(set(together.values())) == 3


def test_other_settings_and_states_are_not_confused() -> None:
    case = random_case(5, 12, 6, 3)
    small, large = (Fqe(settings=TreeSettings(trees=5, smallest_leaf=size)) for size in (2, 6))
    first = small.estimate(case).mean
    assert large.estimate(case).mean != first
    moved = replace(case.transitions.states, continuous=case.transitions.states.continuous[::-1].copy())
    other = replace(case, transitions=replace(case.transitions, states=moved))
    assert small.estimate(other).mean != first
    assert small.estimate(case).mean == first


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        *[
            ({"target": np.full(shape, 1 / 3)}, r"the wrong shape \(expected \(60, 3\), found")
            for shape in ((59, 3), (60, 2), (60,), (3, 60))
        ],
        *[
            ({"target": np.concatenate([np.full((59, 3), 1 / 3), [row]])}, "at least 0 and sum to 1")
            for row in ([0.5, 0.5, 0.1], [0.0, 0.0, 0.0], [1.1, -0.1, 0.0], [np.nan, 0.5, 0.5])
        ],
        ({"augmented": drawn_decisions(8).states}, r"of other decisions \(expected 60, found 40\)"),
        (
            {"transitions": drawn_decisions(1), "target": np.full((5, 3), 1 / 3)},
            r"at least two dialogs \(found 1\)",
        ),
    ],
)
def test_what_is_no_problem(changes: dict[str, Any], message: str) -> None:
    problem = EvaluationProblem(drawn_decisions(12), np.full((60, 3), 1 / 3))
    with pytest.raises(UsageError, match=message):
        replace(problem, **changes)


@pytest.mark.parametrize("name", [*AUGMENTED, "live"])
def test_what_an_estimator_needs(name: str) -> None:
    problem = EvaluationProblem(drawn_decisions(12), np.full((60, 3), 1 / 3))
    needed = "no simulator" if name == "live" else "needs augmented states.*proxy"
    with pytest.raises(UsageError, match=needed):
        find(name).estimate(problem)
