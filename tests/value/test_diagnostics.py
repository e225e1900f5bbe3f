"""Values: whether to believe them (every flag), their differences and means, against resampling by hand."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from extrinsic.policy.lstd import KernelSettings
from extrinsic.value.diagnostics import (
    WORDS,
    Thresholds,
    checked,
    gain_of,
    placebo,
    shuffled,
    with_on_policy_gap,
)
from extrinsic.value.estimator import OBSERVED, EvaluationProblem
from extrinsic.value.lstd import LSTD, Lstd
from extrinsic.value.trees import MOST_STEPS
from extrinsic.value.value import Paired, Value, mean_of, value_of
from tests.policy.decisions import drawn_decisions, learn

RANGE = (-100.0, 50.0)
GOOD: dict[str, float] = {
    "lowest_q": -100.0,
    "highest_q": 50.0,
    "zero_kernel": 0.2,
    "condition": 1e10,
    "steps": MOST_STEPS - 1,
    "on_policy_gap": -20.0,
    "placebo_gain": 15.0,
}
"""Just within every bound."""

BAD: dict[str, list[float]] = {
    "q_range": [50.5, 1e9, np.inf],
    "zero_kernel": [0.201, 1.0],
    "condition": [1.1e10, np.inf],
    "steps": [MOST_STEPS],
    "on_policy_gap": [20.1, -20.1, 1e6],
    "placebo_gain": [15.1, 300.0],
}
"""For q_range: of highest_q."""


def case_in_range(feasible: tuple[float, float] | None = RANGE) -> EvaluationProblem:
    log = replace(drawn_decisions(10), feasible=feasible)
    return EvaluationProblem(log, np.full((len(log), 3), 1 / 3))


def value(mean: float = 0.0, **diagnostics: float) -> Value:
    return Value("some", mean, mean, mean, 10, np.zeros(10), {**GOOD, **diagnostics})


def flags(mean: float = 0.0, feasible: tuple[float, float] | None = RANGE, **diagnostics: float) -> Any:
    """Without `gain_over_log`, which follows from the mean and not from a diagnostic; it has its own test."""
    raised = checked(value(mean, **diagnostics), case_in_range(feasible)).flags
    return tuple(flag for flag in raised if flag != "gain_over_log")


def test_there_are_words_for_every_flag() -> None:
    assert {"infeasible", "unseen_share", "gain_over_log", *BAD} == set(WORDS)
    bounded = set(WORDS) - {"infeasible", "q_range", "steps"}
    assert {field.name for field in fields(Thresholds)} == bounded


def test_nothing_is_flagged_within_bounds() -> None:
    assert flags() == ()
    assert [flags(mean) for mean in RANGE] == [(), ()]
    assert checked(value_of("some", 0.0, np.zeros(10), {}), case_in_range()).flags == ()


@pytest.mark.parametrize(
    ("flag", "number"), [(flag, number) for flag, of in BAD.items() for number in (*of, np.nan)]
)
def test_each_flag_by_itself(flag: str, number: float) -> None:
    assert flags(**{"highest_q" if flag == "q_range" else flag: number}) == (flag,)


@pytest.mark.parametrize("number", [-100.5, -1e9, -np.inf])
def test_what_cannot_be_earned(number: float) -> None:
    assert flags(lowest_q=number) == ("q_range",)
    assert flags(lowest_q=number, feasible=None) == ()
    for mean in (number, -50.0 - number, np.nan):
        assert flags(mean) == ("infeasible",)
        assert flags(mean, feasible=None) == ()


def test_more_than_a_log_shows_is_flagged() -> None:
    """In standard deviations of the logged returns; only of estimates by a Q, and only upwards."""
    case = case_in_range()
    returns = case.transitions.returns()
    for times, is_flagged in ((0.29, False), (0.31, True), (-2.0, False), (np.nan, True)):
        found = checked(value(float(returns.mean() + times * returns.std())), case)
        assert found.diagnostics["gain_over_log"] == pytest.approx(times, nan_ok=True)
        assert ("gain_over_log" in found.flags) == is_flagged
        without_q = replace(found, flags=(), diagnostics={})
        assert "gain_over_log" not in checked(without_q, case).flags


def test_all_at_once_and_what_was_flagged_before() -> None:
    bad = {("highest_q" if flag == "q_range" else flag): of[0] for flag, of in BAD.items()}
    found = checked(replace(value(99.0, **bad), flags=("condition", "mine")), case_in_range())
    assert set(found.flags) == {*WORDS, "mine"} - {"unseen_share"}
    assert len(found.flags) == len(WORDS)
    assert checked(found, case_in_range()).flags == found.flags


def test_a_policy_of_what_nobody_did() -> None:
    """No kernel covers it, which is flagged; LSTD has but the prior."""
    log = drawn_decisions(60)
    unseen = replace(log, action=np.minimum(log.action, 1))
    case = EvaluationProblem(unseen, np.tile([0.0, 0.0, 1.0], (len(log), 1)))
    found = checked(LSTD.estimate(case), case)
    assert found.flags == ("unseen_share", "zero_kernel")
    assert found.diagnostics["zero_kernel"] == found.diagnostics["unseen_share"] == 1.0
    assert found.mean == pytest.approx(log.returns().mean())


def test_a_near_singular_system() -> None:
    """Two kernels that hardly differ, and no ridge to speak of."""
    log = drawn_decisions(60)
    close = replace(log, states=replace(log.states, continuous=log.states.continuous * 1e-4))
    case = EvaluationProblem(close, np.full((len(log), 3), 1 / 3))
    close_kernels = KernelSettings(nu=1e-9, ridge=1e-9)
    found = checked(Lstd(settings=close_kernels).estimate(case), case)
    assert "condition" in found.flags
    assert "condition" not in checked(LSTD.estimate(case), case).flags


def test_on_policy_gaps() -> None:
    """Of the observed value, nothing; of an estimator that is off by 7, 7."""

    class Off:
        name = "off"

        def estimate(self, case: EvaluationProblem) -> Value:
            return value_of("off", case.transitions.returns().mean() + 7.0, np.zeros(10), {})

    log = drawn_decisions(10)
    case = EvaluationProblem(log, np.tile([1.0, 0.0, 0.0], (len(log), 1)))
    for estimator, gap in ((OBSERVED, 0.0), (Off(), 7.0)):
        plain = estimator.estimate(case)
        found = with_on_policy_gap(plain, estimator, case)
        assert found.diagnostics["on_policy_gap"] == pytest.approx(gap, abs=1e-9)
        assert found.mean == plain.mean
        assert "on_policy_gap" not in plain.diagnostics


TRAIN, TEST = drawn_decisions(150), drawn_decisions(150, seed=1)


def test_shuffled_actions() -> None:
    """In every discrete state as many of each as before, with their probabilities; all else as it was."""
    found = shuffled(TRAIN, np.random.default_rng(0))
    key = TRAIN.states.discrete @ [2, 1]
    for state in range(4):
        rows = key == state
        pairs = [
            sorted(zip(log.action[rows].tolist(), map(tuple, log.propensities[rows].tolist()), strict=True))
            for log in (TRAIN, found)
        ]
        assert pairs[0] == pairs[1]
    assert 0.2 < (found.action != TRAIN.action).mean() < 0.9
    assert found.reward is TRAIN.reward
    assert found.states is TRAIN.states
    again, other = (shuffled(TRAIN, np.random.default_rng(seed)).action for seed in (0, 1))
    assert np.array_equal(found.action, again)
    assert not np.array_equal(found.action, other)


def test_a_placebo_does_not_help() -> None:
    """One action earns 10, others cost 5, five times: much can be gained; once they are shuffled, nothing."""
    true, shuffled_gain = gain_of(learn(TRAIN), TEST, LSTD), placebo(learn, TRAIN, [TEST], LSTD)[0]
    assert true.gain > 20.0
    assert abs(shuffled_gain.gain) < 5.0
    assert true.behaviour == pytest.approx(TEST.returns().mean(), abs=1.0)
    assert placebo(learn, TRAIN, [TEST, TEST], LSTD) == [shuffled_gain, shuffled_gain]
    assert placebo(learn, TRAIN, [TEST], LSTD, seed=1)[0] != shuffled_gain


def returns(seed: int, n: int = 80) -> np.ndarray:
    return np.random.default_rng(seed).normal(10.0, 30.0, n)


def paired(earned: np.ndarray, dialogs: str = "a") -> Paired:
    mean = float(earned.mean())
    return Paired(mean, {dialogs: (earned - mean) / len(earned)})


def test_a_value_alone_has_its_own_interval() -> None:
    earned = returns(1)
    value = value_of("observed", float(earned.mean()), (earned - earned.mean()) / len(earned), {})
    assert paired(earned).interval() == pytest.approx((value.low, value.high))


def test_what_both_share_cancels() -> None:
    """A constant more on every dialog: the difference has no uncertainty at all."""
    earned = returns(1)
    difference = paired(earned + 7.0).minus(paired(earned))
    assert difference.mean == pytest.approx(7.0)
    assert difference.interval() == pytest.approx((7.0, 7.0))


def test_paired_is_the_interval_of_the_differences() -> None:
    first, second = returns(1), returns(2)
    difference = first - second
    expected = paired(difference).interval()
    assert paired(first).minus(paired(second)).interval() == pytest.approx(expected)


def test_other_dialogs_are_resampled_independently() -> None:
    """The variances add: of a standard normal's 95 %, within the error of 1,000 resamples."""
    first, second = returns(1, 400), returns(2, 300)
    low, high = paired(first).minus(paired(second, "b")).interval()
    half_width = 1.96 * np.sqrt(first.var() / 400 + second.var() / 300)
    assert (high - low) / 2 == pytest.approx(half_width, rel=0.1)
    # The same numbers under another name are other dialogs: nothing cancels.
    same = paired(first).minus(paired(first, "b"))
    assert np.diff(same.interval())[0] == pytest.approx(2 * 1.96 * np.sqrt(2 * first.var() / 400), rel=0.1)


def test_a_mean_over_trackers_and_datasets() -> None:
    tables = [returns(seed) for seed in range(4)]
    cells = [paired(table, name) for table, name in zip(tables, "aabb", strict=True)]
    together = mean_of(cells)
    assert together.mean == pytest.approx(np.mean(tables))
    by_dataset = [(tables[0] + tables[1]) / 2, (tables[2] + tables[3]) / 2]
    half_width = 1.96 * np.sqrt(sum(table.var() / 80 for table in by_dataset)) / 2
    assert np.diff(together.interval())[0] / 2 == pytest.approx(half_width, rel=0.1)


def test_parts_that_disagree_widen_the_interval() -> None:
    """By half of their distance; a disagreement that both values share cancels."""
    earned = returns(1)
    plain = paired(earned)
    apart = Paired(plain.mean, plain.influence, {"lstd": plain.mean + 20.0, "fqe": plain.mean - 20.0})
    low, high = plain.interval()
    expected = (plain.mean - np.hypot(plain.mean - low, 20.0), plain.mean + np.hypot(high - plain.mean, 20.0))
    assert apart.interval() == pytest.approx(expected)
    other = paired(returns(2))
    shared = Paired(other.mean, other.influence, {"lstd": other.mean + 20.0, "fqe": other.mean - 20.0})
    assert apart.minus(shared).interval() == pytest.approx(plain.minus(other).interval())
    assert apart.minus(plain).parts == pytest.approx({"fqe": -20.0, "lstd": 20.0})
