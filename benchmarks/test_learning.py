"""What a learning stage costs at Lee's sizes: both fill rules of a tracker, three policies, five estimators.

The peer is the same stage without what policies and rewards share: trees, kernels and live play are made
again for each. The values are the same to the last bit.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from time import process_time
from unittest.mock import patch

from threadpoolctl import threadpool_limits

from benchmarks.measuring import note
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.planning import make_schedule
from extrinsic.study.stages import learning, valuation
from extrinsic.study.stages.inputs import RecentlyMade, corpus_of, output_of
from extrinsic.study.stages.learning import LearnTask
from extrinsic.study.stages.policy_spec import PolicyValues
from extrinsic.value import live, shared_plays
from extrinsic.value.shared_parts import Shared

CONFIG = Path(__file__).parents[1] / "configs" / "lee2014.toml"
TRACKER, LIMIT, ROUNDS = "hwu", 0.85, 3


@cache
def tasks() -> list[LearnTask]:
    """The stages of one tracker on DS1; its dialogs and beliefs are made before."""
    changes = [f'trackers.built_in=["{TRACKER}"]', 'simulation.datasets=["ds1"]', "sensitivity.vary={}"]
    schedule = make_schedule(read_study(CONFIG, [*changes, "simulation.seed=5", "seed=6"]))
    stages = [task for bundle in schedule.bundles for task in bundle if isinstance(task, LearnTask)]
    unit, spec = stages[0].unit, stages[0].spec
    corpus_of(unit.train)
    for tracker in (stages[0].system, *spec.proxies):
        output_of(tracker, unit, "train")
        output_of(tracker, unit, "test")
    return stages


def learned() -> tuple[float, list[PolicyValues]]:
    """Seconds of computing for a stage, nothing of it known before, and the values."""
    shared_plays._PLAYED.clear()
    fresh = (
        patch.object(learning, "_BEHAVIOURS", RecentlyMade(4)),
        patch.object(valuation, "_VALUATIONS", RecentlyMade(4)),
    )
    with fresh[0], fresh[1], threadpool_limits(1):
        begin = process_time()
        values = [task.run(None).values for task in tasks()]  # type: ignore[arg-type]
    return (process_time() - begin) / len(tasks()), values


def test_a_learning_stage() -> None:
    alone = (
        patch.object(
            Shared,
            "get",
            lambda self, transitions, states, settings, make: make(transitions, states, settings),
        ),
        patch.object(live, "play_once", shared_plays._played),
    )
    tasks()
    ours, peers = [], []
    for _ in range(ROUNDS):
        took, values = learned()
        ours.append(took)
        with alone[0], alone[1]:
            took, same = learned()
        peers.append(took)
        assert values == same
    note("a learning stage at Lee's sizes, seconds of CPU", min(ours), min(peers), "s", LIMIT)
    assert min(ours) / min(peers) < LIMIT
