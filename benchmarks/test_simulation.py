"""What simulating costs: dialogs a second in lockstep, against one at a time, over an order of size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from pytest_benchmark.fixture import BenchmarkFixture
from threadpoolctl import threadpool_limits

from benchmarks.measuring import LINES, seconds
from extrinsic.simulation import Expert, ExpertTracker, Play, WorldSettings, play, read_simulation
from extrinsic.simulation.chance import Chance

DIALOGS_A_SECOND = 300.0
TIMES_FASTER_THAN_ONE_AT_A_TIME = 20.0
GROWTH_LIMIT = 1.5

ALONE = 20


def expert_play(world: WorldSettings, chance: Chance) -> Play:
    return play(Expert(world.expert), ExpertTracker(), len(chance.key), chance, world)


def best_seconds(action: Callable[[], object], rounds: int) -> float:
    with threadpool_limits(limits=1, user_api="blas"):
        return min(seconds(action) for _ in range(rounds))


def test_lockstep_against_one_at_a_time(benchmark: BenchmarkFixture) -> None:
    """1,000 calls of DS1's expert at once; some of them again, each by itself."""
    world, chance = read_simulation().world("ds1"), Chance.of(1_000, "benchmark")
    each = [chance.take(np.array([number])) for number in range(ALONE)]
    expert_play(world, each[0])  # whatever is made once
    together = best_seconds(lambda: expert_play(world, chance), rounds=5) / 1_000
    alone = best_seconds(lambda: [expert_play(world, one) for one in each], rounds=3) / ALONE
    LINES.append(
        f"simulation, 1,000 calls at once: {1 / together:,.0f} a second (at least {DIALOGS_A_SECOND:.0f}), "
        f"one at a time {1 / alone:,.0f}: {alone / together:.0f} times "
        f"(at least {TIMES_FASTER_THAN_ONE_AT_A_TIME:.0f})"
    )
    benchmark.pedantic(expert_play, (world, chance), rounds=3)
    assert 1 / together >= DIALOGS_A_SECOND
    assert alone / together >= TIMES_FASTER_THAN_ONE_AT_A_TIME


def test_cost_is_linear_in_dialogs(benchmark: BenchmarkFixture) -> None:
    world = read_simulation().world("ds1")
    costs = {}
    for n_dialogs, rounds in ((1_000, 7), (8_000, 3)):
        chance = Chance.of(n_dialogs, "benchmark")
        costs[n_dialogs] = best_seconds(lambda: expert_play(world, chance), rounds) / n_dialogs  # noqa: B023
    growth = costs[8_000] / costs[1_000]
    shown = ", ".join(f"{cost * 1e6:,.0f} at {n:,}" for n, cost in costs.items())
    LINES.append(f"simulation, us a call: {shown}; {growth:.2f} times (at most {GROWTH_LIMIT})")
    benchmark.pedantic(expert_play, (world, Chance.of(1_000, "benchmark")), rounds=1)
    assert growth <= GROWTH_LIMIT
