"""What a learning stage costs at Lee's sizes: one fill rule, the learned and the fixed policy played live."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from time import process_time
from typing import Any
from unittest.mock import patch

from threadpoolctl import threadpool_limits

from benchmarks.measuring import LINES
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.planning import make_schedule
from extrinsic.study.stages import learning, valuation
from extrinsic.study.stages.inputs import RecentlyMade, corpus_of, output_of
from extrinsic.study.stages.learning import LearnTask

CONFIG = Path(__file__).parents[1] / "configs" / "population.toml"
CHANGES = ("trackers.population.size=4", 'simulation.datasets=["ds1"]', "simulation.seed=5", "seed=6")
LIMIT, ROUNDS = 0.75, 2
"""Seconds of computing a stage; .5 is wanted, and three quarters of it are play."""


@cache
def tasks() -> list[LearnTask]:
    """The stages of some trackers on DS1, both fill rules; their dialogs and beliefs are made before."""
    schedule = make_schedule(read_study(CONFIG, CHANGES))
    stages = [task for bundle in schedule.bundles for task in bundle if isinstance(task, LearnTask)]
    for stage in stages:
        corpus_of(stage.unit.train)
        output_of(stage.system, stage.unit, "train")
        output_of(stage.system, stage.unit, "test")
    stages[0].run(None)  # type: ignore[arg-type]
    return stages


def learned() -> float:
    """Seconds of computing for a stage, nothing of it known before."""
    fresh: tuple[Any, Any, Any] = (
        patch.object(learning, "_BEHAVIOURS", RecentlyMade(4)),
        patch.object(valuation, "_VALUATIONS", RecentlyMade(4)),
        patch.object(learning, "_LEARNED", RecentlyMade(4)),
    )
    with fresh[0], fresh[1], fresh[2], threadpool_limits(1):
        begin = process_time()
        for task in tasks():
            task.run(None)  # type: ignore[arg-type]
    return (process_time() - begin) / len(tasks())


def test_a_learning_stage() -> None:
    tasks()
    took = min(learned() for _ in range(ROUNDS))
    LINES.append(f"a learning stage at Lee's sizes: {took:.2f} s of CPU (at most {LIMIT:.1f})")
    assert took <= LIMIT
