"""What learning a policy costs: one evaluation of a policy, the dictionary, a whole fit, and its growth."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from scipy import linalg, sparse

from benchmarks.measuring import LINES, compare, computing, seconds
from benchmarks.one_at_a_time import sparsify_one_at_a_time
from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.formats import DSTC2
from extrinsic.policy.basis import Basis, with_action
from extrinsic.policy.behaviour import fit_behaviour
from extrinsic.policy.features import States, find_features
from extrinsic.policy.kernel_lspi import Fit, KernelLearner, KernelLSPI, OneStep
from extrinsic.policy.kernels import Blocks, Gaussian
from extrinsic.policy.lstd import System
from extrinsic.policy.sparsification import sparsify
from extrinsic.policy.transitions import END, Transitions, transitions_of
from extrinsic.registry import BEHAVIOURS, TRACKERS
from extrinsic.simulation import Expert, ExpertTracker, play, read_simulation
from extrinsic.trackers.track import track
from tests.real_data import ARCHIVE, needs_data, tracker_files

ITERATION_LIMIT = 0.8
TIMES_FASTER_THAN_ONE_AT_A_TIME = 20.0
FIT_LIMIT = 8.0
GROWTH_LIMIT = 1.2

N_ACTIONS = 6
KERNEL = Gaussian(4.0, 1.0)
RIDGE, GAMMA, PRIOR = 100.0, 1.0, -100.0

NU_FOR_1000 = 0.4
NU_FOR_1500 = 0.08


@cache
def make_decisions(n: int, n_signatures: int = 200, d: int = 10, seed: int = 0) -> Transitions:
    """Dialogs of eight decisions. Blocks come as words do, a few often and many seldom; the numbers lie
    in [0, 1] around a place of their signature, in few directions as scores do; what is done depends on both.
    """
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, n_signatures + 1)
    signature = rng.choice(n_signatures, n, p=share / share.sum())
    place = rng.random((n_signatures, d))
    spread = rng.normal(0, 0.2, (n, 3)) @ rng.normal(0, 3**-0.5, (3, d))
    continuous = np.clip(place[signature] + spread, 0.0, 1.0)
    signs = np.stack([signature % 3, signature // 3 % 4, signature // 12], axis=1)
    taste = rng.normal(0, 1.5, (n_signatures, N_ACTIONS))
    odds = np.exp(taste[signature] + 2.0 * continuous[:, :1] * np.linspace(-1, 1, N_ACTIONS))
    chances = odds / odds.sum(axis=1, keepdims=True)
    action = (np.cumsum(chances, axis=1) < rng.random(n)[:, None]).sum(axis=1)
    dialog = np.arange(n) // 8
    goes_on = np.append(dialog[1:] == dialog[:-1], False)
    return Transitions(
        states=States(continuous, signs, tuple(f"x{i}" for i in range(d)), ("a", "b", "c")),
        action=action,
        reward=-20.0 + 100.0 * continuous[:, 1] * (action == signature % N_ACTIONS) * ~goes_on,
        next=np.where(goes_on, np.arange(n) + 1, END),
        dialog=dialog,
        turn=np.arange(n) % 8 + 1,
        propensities=chances,
        actions=tuple(f"act{i}" for i in range(N_ACTIONS)),
        sessions=tuple(f"call-{i:06}" for i in range(int(dialog[-1]) + 1)),
    )


@cache
def expert_decisions(n: int) -> Transitions:
    """The first n decisions of the expert in DS1, as the focus tracker sees them: real blocks."""
    ds1 = read_simulation().world("ds1")
    corpus = play(Expert(ds1.expert), ExpertTracker(), n // 5, 1, ds1).corpus
    decisions = transitions_of(corpus, track(TRACKERS.get("focus"), corpus, "focus"))
    n_dialogs = int(decisions.dialog[n])
    return decisions.take_dialogs(np.arange(n_dialogs))


def table_of(decisions: Transitions) -> Ints:
    return with_action(decisions.states, decisions.action)


def dense_iteration(phi: Floats, phi_next: Floats, reward: Floats, ends: Floats) -> Floats:
    """The same system by BLAS on the whole matrices."""
    system = phi.T @ (phi - GAMMA * phi_next)
    system[np.diag_indices_from(system)] += RIDGE
    right = phi.T @ (reward + GAMMA * PRIOR * ~ends - PRIOR)
    return np.asarray(linalg.solve(system, right, check_finite=False))


def test_an_iteration_against_dense_blas(benchmark: BenchmarkFixture) -> None:
    """5,000 transitions, about 1,000 kernels; what follows is what a greedy policy chose."""
    decisions = expert_decisions(5_000)
    states, ends = decisions.states, decisions.next == END
    basis, _ = Basis.fit(states.continuous, table_of(decisions), KERNEL, nu=NU_FOR_1000)
    phi = basis.rows(states.continuous, basis.block_of(table_of(decisions)))
    likeliest = with_action(states, np.asarray(decisions.propensities.argmax(axis=1)))
    there = basis.rows(states.continuous, basis.block_of(likeliest))[np.maximum(decisions.next, 0)]
    phi_next = sparse.csr_array(there.multiply(~ends[:, None]))
    dense, dense_next = phi.toarray(), phi_next.toarray()

    def ours(system: System | None = None) -> Floats:
        system = system or System(phi, basis.offsets, RIDGE)
        return system.solve(phi_next, decisions.reward, ends, GAMMA, PRIOR).weights

    def peer() -> Floats:
        return dense_iteration(dense, dense_next, decisions.reward, ends)

    assert np.abs(ours() - peer()).max() <= 1e-9 * np.abs(peer()).max()
    n_blocks = int((np.diff(basis.offsets) > 0).sum())
    n_actions = len(np.unique(decisions.action))
    what = (
        f"LSTD-Q iteration, {len(decisions):,} transitions, {len(basis):,} kernels in {n_blocks} blocks, "
        f"{n_actions} actions, against dense BLAS"
    )
    first = compare(f"{what}, the first", ours, peer, ITERATION_LIMIT)
    system = System(phi, basis.offsets, RIDGE)
    ratio = compare(f"{what}, each further one", lambda: ours(system), peer, ITERATION_LIMIT)
    benchmark.pedantic(ours, (system,), rounds=3)
    assert first <= ITERATION_LIMIT
    assert ratio <= ITERATION_LIMIT


def test_sparsification_against_one_at_a_time(benchmark: BenchmarkFixture) -> None:
    """5,000 points of which about 1,500 join; the same ones."""
    decisions = expert_decisions(5_000)
    continuous, table = decisions.states.continuous, table_of(decisions)

    def ours() -> Ints:
        signatures, block = Blocks.of(table)
        return sparsify(continuous, block, len(signatures), KERNEL, NU_FOR_1500).rows

    def peer() -> Ints:
        return sparsify_one_at_a_time(continuous, table, KERNEL.height, KERNEL.width, NU_FOR_1500)

    assert np.array_equal(np.sort(ours()), peer())
    took = min(seconds(ours) for _ in range(15)), min(seconds(peer) for _ in range(3))
    times = took[1] / took[0]
    LINES.append(
        f"sparsification, {len(ours()):,} of {len(decisions):,} points: {took[0] * 1000:,.1f} ms "
        f"against one at a time {took[1] * 1000:,.0f} ms, {times:,.0f} times "
        f"(at least {TIMES_FASTER_THAN_ONE_AT_A_TIME:.0f})"
    )
    benchmark.pedantic(ours, rounds=3)
    assert times >= TIMES_FASTER_THAN_ONE_AT_A_TIME


def fitted(decisions: Transitions, behaviour: str, learner: KernelLearner | None = None) -> Fit:
    """Learning as studies do it: a behaviour model by its name, then a policy."""
    model = fit_behaviour(BEHAVIOURS.get(behaviour)(), decisions)
    return (learner or KernelLSPI()).fit(decisions, model).fit


@pytest.mark.parametrize("behaviour", ["logged", "logistic"])
def test_100_000_transitions(benchmark: BenchmarkFixture, behaviour: str) -> None:
    """A whole fit: with the action probabilities given, and with five folds of logistic regressions."""
    decisions = make_decisions(100_000)
    fits: list[Fit] = []
    took = min(seconds(lambda: fits.append(fitted(decisions, behaviour))) for _ in range(2))
    LINES.append(
        f"KernelLSPI, 100,000 transitions, chances {behaviour}: {took:.2f} s (at most {FIT_LIMIT:.0f}); "
        f"{fits[0].kernels:,} kernels, {fits[0].iterations} iterations"
    )
    benchmark.pedantic(fitted, (decisions, behaviour), rounds=1)
    assert took <= FIT_LIMIT


@pytest.mark.parametrize(
    ("learner", "behaviour"),
    [(KernelLSPI(iterations=3, largest=10, nu=0.01), "logged"), (OneStep(largest=10, nu=0.01), "logistic")],
)
def test_growth(benchmark: BenchmarkFixture, learner: KernelLearner, behaviour: str) -> None:
    """From 100,000 to a million transitions at (nearly) the same dictionary: three iterations with the
    action probabilities given, and one step with a logistic regression."""
    costs, sizes, peaks = {}, {}, {}
    for n, rounds in ((100_000, 3), (1_000_000, 1)):
        decisions = make_decisions(n, n_signatures=10)
        fits: list[Fit] = []

        def fit(decisions: Transitions = decisions, fits: list[Fit] = fits) -> None:
            fits.append(fitted(decisions, behaviour, learner))

        costs[n] = min(computing(fit) for _ in range(rounds)) / n * 1e6
        peaks[n] = _peak_of(fit) / n
        sizes[n] = fits[0].kernels
        assert fits[0].iterations == getattr(learner, "iterations", 1)
    few, many = costs
    growth = costs[many] / costs[few]
    shown = ", ".join(
        f"{costs[n]:.1f} us and {peaks[n]:,.0f} bytes at {n:,} ({sizes[n]} kernels)" for n in costs
    )
    what = f"{type(learner).__name__}, chances {behaviour}, a transition"
    LINES.append(f"{what}: {shown}; {growth:.2f} times (at most {GROWTH_LIMIT})")
    benchmark.pedantic(fit, rounds=1)
    assert sizes[many] <= 1.2 * sizes[few]
    assert growth <= GROWTH_LIMIT


def _peak_of(action: Callable[[], object]) -> int:
    """Bytes that it allocates at most."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@needs_data
@pytest.mark.parametrize("conditions", [True, False])
def test_restaurant_calls(benchmark: BenchmarkFixture, conditions: bool) -> None:
    """The training calls of DSTC2 as the focus tracker sees them, with and without the manager's id."""
    corpus = DSTC2.read_corpus(ARCHIVE, "dstc2_train")
    (path,) = [path for path in tracker_files("train") if path.name.startswith("focus.")]
    output = DSTC2.read_tracker(path, corpus)
    features = find_features("compact")
    decisions = transitions_of(corpus, output, type(features)(features.blocks, conditions=conditions))
    reading = min(seconds(lambda: transitions_of(corpus, output)) for _ in range(5))
    behaviour = fit_behaviour(BEHAVIOURS.get("logistic")(), decisions)
    assert len(behaviour.chances) == len(decisions)  # cross-fitted now, and so not a part of the next line
    given = min(seconds(lambda: KernelLSPI().fit(decisions, behaviour)) for _ in range(2))
    fits: list[Fit] = []
    whole = min(seconds(lambda: fits.append(fitted(decisions, "logistic"))) for _ in range(2))
    LINES.append(
        f"DSTC2 train, {len(decisions):,} transitions, "
        f"{'with' if conditions else 'without'} the manager's id: {reading:.2f} s to make, "
        f"{whole:.2f} s to fit (cross-fitting left out: {given:.2f} s); {fits[0].kernels:,} kernels"
    )
    benchmark.pedantic(transitions_of, (corpus, output), rounds=1)
