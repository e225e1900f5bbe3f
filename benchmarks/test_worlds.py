"""What worlds cost: live play against an earlier version, worlds of single dialogs, the environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from time import process_time

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.measuring import LINES
from extrinsic.plugins import load_plugins
from extrinsic.policy.gymnasium_world import DialogVectorEnv
from extrinsic.registry import TRACKERS, WORLDS
from extrinsic.simulation import find_simulation, play
from extrinsic.simulation.datasets import WorldExpert

ROOT = Path(__file__).parents[1]
OVERHEAD = 1.10
TURNS_A_SECOND = 20_000.0
SINGLE_TURNS_A_SECOND = 1_000.0
N_ENVIRONMENTS, STEPS = 2_048, 80

PLAY = """
from time import process_time
from extrinsic.simulation import ExpertTracker, play, read_simulation
world, best = read_simulation().world("ds1"), 1e9
for _ in range(4):
    begin = process_time()
    play(world.policy(), ExpertTracker(), 1_000, 1, world)
    best = min(best, process_time() - begin)
print(best)
"""


def play_seconds(folder: Path) -> float:
    """Seconds of processor time for 1,000 calls of DS1's expert, with the package of a folder."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PLAY], env=environment, cwd=folder, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def test_live_play_against_an_earlier_version(benchmark: BenchmarkFixture) -> None:
    """Turn and turn about: EXTRINSIC_EARLIER is a checkout of the version to compare with."""
    earlier = os.environ.get("EXTRINSIC_EARLIER")
    if earlier is None:
        pytest.skip("EXTRINSIC_EARLIER is not set: the folder of an earlier checkout")
    times = [(play_seconds(ROOT), play_seconds(Path(earlier))) for _ in range(3)]
    ours, theirs = (min(column) for column in zip(*times, strict=True))
    LINES.append(
        f"live play, 1,000 calls: {ours:.2f} s against {theirs:.2f} s of an earlier version, "
        f"ratio {ours / theirs:.3f} (at most {OVERHEAD})"
    )
    benchmark.pedantic(play_seconds, (ROOT,), rounds=1)
    assert ours / theirs <= OVERHEAD


@pytest.mark.parametrize("kind", ["bus", "restaurants"])
def test_turns_of_the_environment(benchmark: BenchmarkFixture, kind: str) -> None:
    simulation = find_simulation(kind)
    world = simulation.world(*simulation.corpora()[1])
    environment = DialogVectorEnv(world, TRACKERS.get("focus"), num_envs=N_ENVIRONMENTS)
    generator = np.random.default_rng(0)

    def turns() -> float:
        _, info = environment.reset(seed=1)
        begin = process_time()
        for _ in range(STEPS):
            mask = info["action_mask"]
            *_, info = environment.step((generator.random(mask.shape) * mask).argmax(axis=1))
        return STEPS * N_ENVIRONMENTS / (process_time() - begin)

    speed = benchmark.pedantic(turns, rounds=1)
    LINES.append(f"environment, {kind}: {speed:,.0f} turns a second (at least {TURNS_A_SECOND:,.0f})")
    assert speed >= TURNS_A_SECOND


def test_a_world_of_single_dialogs(benchmark: BenchmarkFixture) -> None:
    load_plugins([str(ROOT / "docs" / "toy_world.py")])
    world, tracker = WORLDS.get("colours"), TRACKERS.get("focus")
    begin = process_time()
    played = benchmark.pedantic(play, (WorldExpert(world()), tracker, 1_000, 1, world), rounds=1)
    speed = played.corpus.n_turns / (process_time() - begin)
    LINES.append(f"single dialogs: {speed:,.0f} turns a second (at least {SINGLE_TURNS_A_SECOND:,.0f})")
    assert speed >= SINGLE_TURNS_A_SECOND
