"""What values cost at Lee's sizes: all estimators of one tracker, resamples, live dialogs."""

from __future__ import annotations

from functools import cache

import numpy as np
from pytest_benchmark.fixture import BenchmarkFixture
from threadpoolctl import threadpool_limits

from benchmarks.measuring import LINES, seconds
from extrinsic.arrays import Floats
from extrinsic.policy.behaviour import fit_behaviour
from extrinsic.policy.kernel_logistic import KernelLogistic
from extrinsic.policy.kernel_lspi import KernelLSPI
from extrinsic.policy.learner import LearnedPolicy, LivePolicy
from extrinsic.policy.transitions import transitions_of
from extrinsic.registry import ESTIMATORS, TRACKERS
from extrinsic.simulation import read_simulation, simulate
from extrinsic.trackers.track import track
from extrinsic.value.diagnostics import checked, with_on_policy_gap
from extrinsic.value.estimator import EvaluationProblem, LivePlay
from extrinsic.value.lstd import PROXIES, Lstd, augment
from tests.value.tables import repeated_case

ALL_LIMIT = 5.0
RESAMPLES, RESAMPLES_LIMIT = 200, 2.0
N_LIVE, LIVE_LIMIT = 1_000, 5.0

TRACKER = "focus"
NAMES = tuple(name for name in ESTIMATORS.names() if "world" not in ESTIMATORS.get(name).needs)


@cache
def learned() -> LearnedPolicy:
    """From DS1's training calls."""
    corpus = simulate(read_simulation(), "ds1", "train").corpus
    log = transitions_of(corpus, track(TRACKERS.get(TRACKER), corpus, TRACKER))
    return KernelLSPI().fit(log, fit_behaviour(KernelLogistic(), log))


@cache
def case() -> EvaluationProblem:
    """Of DS1's test calls, proxies and all."""
    simulation = read_simulation()
    corpus = simulate(simulation, "ds1", "test").corpus
    output = track(TRACKERS.get(TRACKER), corpus, TRACKER)
    log = transitions_of(corpus, output)
    proxies = [track(TRACKERS.get(name), corpus, name) for name in PROXIES]
    stage = LivePlay(LivePolicy("compact", learned()), TRACKERS.get(TRACKER), simulation.world("ds1"), N_LIVE)
    return EvaluationProblem(
        log, learned().probabilities(log.states), augment(log, corpus, output, proxies), stage
    )


def test_all_estimators_of_a_tracker(benchmark: BenchmarkFixture) -> None:
    """Live play excluded; alone, and with the same of the logged policy as a check."""
    of = case()

    def estimate() -> None:
        for name in NAMES:
            ESTIMATORS.get(name).estimate(of)

    def check() -> None:
        for name in NAMES:
            estimator = ESTIMATORS.get(name)
            checked(with_on_policy_gap(estimator.estimate(of), estimator, of), of)

    with threadpool_limits(1):
        alone, with_checks = (min(seconds(action) for _ in range(5)) for action in (estimate, check))
        each = sorted((seconds(lambda n=name: ESTIMATORS.get(n).estimate(of)), name) for name in NAMES)
        benchmark.pedantic(estimate, rounds=3)
    shown = ", ".join(f"{name} {took * 1000:.0f} ms" for took, name in reversed(each[-3:]))
    LINES.append(
        f"{len(NAMES)} estimators, {len(of.transitions):,} decisions of {of.transitions.n_dialogs} calls: "
        f"{alone:.2f} s, with on-policy checks {with_checks:.2f} s (at most {ALL_LIMIT:.0f}); {shown}"
    )
    assert with_checks <= ALL_LIMIT


def test_resamples_of_an_lstd_value(benchmark: BenchmarkFixture) -> None:
    """By weights, and for comparison by fitting again: kernels, system and all."""
    of, estimator = case(), Lstd()
    n_dialogs = of.transitions.n_dialogs
    rng = np.random.default_rng(0)
    weights = rng.multinomial(n_dialogs, np.full(n_dialogs, 1.0 / n_dialogs), RESAMPLES)

    def quick() -> Floats:
        return estimator.estimate(of).resampled(weights)

    def again() -> Floats:
        return np.array([estimator.estimate(repeated_case(of, times)).mean for times in weights])

    with threadpool_limits(1):
        value = estimator.estimate(of)
        bare = min(seconds(lambda: value.resampled(weights)) for _ in range(15))
        took, refits = min(seconds(quick) for _ in range(5)), seconds(again)
        benchmark.pedantic(quick, rounds=3)
    found, expected = quick(), again()
    LINES.append(
        f"{RESAMPLES} resamples of an LSTD value: {bare * 1000:.2f} ms, with the fit {took * 1000:.0f} ms "
        f"(at most {RESAMPLES_LIMIT:.0f} s); {RESAMPLES} refits {refits:.1f} s; correlation of both "
        f"{np.corrcoef(found, expected)[0, 1]:.3f}, spread {found.std():.1f} and {expected.std():.1f}"
    )
    assert took <= RESAMPLES_LIMIT


def test_live_dialogs(benchmark: BenchmarkFixture) -> None:
    """A learned policy on a rule tracker."""
    of, estimator = case(), ESTIMATORS.get("live")
    with threadpool_limits(1):
        took = min(seconds(lambda: estimator.estimate(of)) for _ in range(3))
        benchmark.pedantic(estimator.estimate, (of,), rounds=1)
    LINES.append(f"{N_LIVE:,} live dialogs: {took:.2f} s (at most {LIVE_LIMIT:.0f})")
    assert took <= LIVE_LIMIT
