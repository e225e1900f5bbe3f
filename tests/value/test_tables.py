"""Every estimator in a table with known chances: exact, unbiased or consistent, as it claims."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from extrinsic.arrays import Floats
from extrinsic.policy import lstd
from extrinsic.value import doubly_robust, result
from extrinsic.value.doubly_robust import DoublyRobust
from extrinsic.value.estimators import IS, OBSERVED, PDIS, PDWIS, WIS
from extrinsic.value.fqe import Fqe
from extrinsic.value.lstd_value import Lstd
from tests.value.tables import (
    BEHAVIOUR,
    EXACT_KERNELS,
    EXACT_TREES,
    GOES,
    MEAN,
    N_STATES,
    POLICY,
    START,
    case_of,
    counted_value,
    draw_log,
    exact_q,
    exact_value,
    state_of,
)

LSTD, FQE = Lstd(settings=EXACT_KERNELS), Fqe(settings=EXACT_TREES)
DR, WDR = (DoublyRobust(name, name == "wdr", EXACT_KERNELS) for name in ("dr", "wdr"))
POLICIES = {
    "policy": POLICY,
    "behaviour": BEHAVIOUR,
    "certain": np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]),
}


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks at intervals here."""
    monkeypatch.setattr(result, "RESAMPLES", 2)


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


@pytest.mark.parametrize("way", ["dense", "by steps"])
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("n_dialogs", [80, 400])
def test_lstd_is_exact_in_the_table_that_was_counted(
    policy: str, n_dialogs: int, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "by steps":
        monkeypatch.setattr(lstd, "DENSE_UP_TO", 0)
    log = draw_log(n_dialogs, np.random.default_rng(n_dialogs))
    found = LSTD.estimate(case_of(log, POLICIES[policy]))
    assert found.mean == pytest.approx(counted_value(log, POLICIES[policy]), abs=1e-7)
    assert found.diagnostics["zero_kernel"] == 0.0
    assert found.diagnostics["kernels"] == 8


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("n_dialogs", [80, 400])
def test_fqe_is_exact_in_the_table_that_was_counted(policy: str, n_dialogs: int) -> None:
    """When the leaves are the states and actions."""
    log = draw_log(n_dialogs, np.random.default_rng(n_dialogs))
    found = FQE.estimate(case_of(log, POLICIES[policy]))
    assert found.mean == pytest.approx(counted_value(log, POLICIES[policy]), abs=1e-5)


def test_both_converge() -> None:
    case = case_of(draw_log(20_000, np.random.default_rng(1)))
    for estimator in (LSTD, FQE):
        assert estimator.estimate(case).mean == pytest.approx(exact_value(POLICY), abs=0.15)


def estimates(estimator: Any, n_dialogs: int, n_logs: int, seed: int = 0) -> Floats:
    """(n_logs,) of so many logs."""
    rng = np.random.default_rng(seed)
    return np.array([estimator.estimate(case_of(draw_log(n_dialogs, rng))).mean for _ in range(n_logs)])


@pytest.mark.parametrize("estimator", [IS, PDIS, DR], ids=lambda estimator: estimator.name)
def test_unbiased_on_short_logs(estimator: Any) -> None:
    """The mean of many logs of ten dialogs, within 4 standard errors; they tell much less than that apart."""
    found = estimates(estimator, 10, 400)
    error = found.std(ddof=1) / np.sqrt(len(found))
    assert abs(found.mean() - exact_value(POLICY)) < 4 * error
    assert 4 * error < 0.5 * abs(exact_value(POLICY) - exact_value(BEHAVIOUR))


@pytest.mark.parametrize("estimator", [WIS, PDWIS, WDR], ids=lambda estimator: estimator.name)
def test_consistent(estimator: Any) -> None:
    """With 64 times the dialogs an eighth of the error."""
    errors = [
        np.sqrt(((estimates(estimator, n, 40) - exact_value(POLICY)) ** 2).mean()) for n in (30, 30 * 64)
    ]
    assert errors[1] < errors[0] / 4
    assert errors[1] < 0.15 * abs(exact_value(POLICY) - exact_value(BEHAVIOUR))


def test_observed_is_the_logged_policy() -> None:
    found = estimates(OBSERVED, 50, 100)
    assert abs(found.mean() - exact_value(BEHAVIOUR)) < 4 * found.std(ddof=1) / 10.0


@pytest.fixture
def with_exact_q(monkeypatch: pytest.MonkeyPatch) -> None:
    """Doubly robust with the true Q."""

    def known(case: Any, *_: Any) -> tuple[Floats, Floats]:
        q, state = exact_q(POLICY), state_of(case.transitions)
        return q[state, case.transitions.action], (POLICY * q).sum(axis=1)[state]

    monkeypatch.setattr(doubly_robust, "fit_q_of_others", known)


@pytest.mark.usefixtures("with_exact_q")
@pytest.mark.parametrize("estimator", [DR, WDR], ids=lambda estimator: estimator.name)
def test_the_true_q_leaves_little_to_chance(estimator: Any) -> None:
    """Less than half of what importance sampling has."""
    plain, robust = (estimates(of, 30, 150).std() for of in (PDIS, estimator))
    assert robust < 0.5 * plain


@pytest.mark.usefixtures("with_exact_q")
@pytest.mark.parametrize("estimator", [DR, WDR], ids=lambda estimator: estimator.name)
def test_what_is_certain_is_exact(estimator: Any) -> None:
    """One decision that pays just Q: V(s0) + rho (r - Q) is V(s0), whatever was done."""
    log = draw_log(500, np.random.default_rng(2))
    log = log.take_dialogs(np.flatnonzero(np.bincount(log.dialog) == 1))
    q, state = exact_q(POLICY), state_of(log)
    certain = case_of(replace(log, reward=q[state, log.action]))
    expected = (POLICY * q).sum(axis=1)[state].mean()
    assert estimator.estimate(certain).mean == pytest.approx(expected, abs=1e-12)
