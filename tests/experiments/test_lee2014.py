"""The text about Lee (2014) follows from the committed tables, and their parts can be computed again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import msgspec
import numpy as np
import pytest
from scipy import stats

from experiments.lee2014.__main__ import FOLDER, KEPT, MADE
from experiments.lee2014.study import (
    GAINS,
    SEEDS,
    Points,
    correlations,
    policy_gains,
    read_points,
    run_seed,
    verdicts,
)
from experiments.lee2014.tables import (
    FILLS,
    METRICS,
    RETURNS,
    TARGETS,
    Correlation,
    Name,
    PolicyGain,
)
from experiments.selection import Selection
from extrinsic.arrays import Floats
from extrinsic.parallel import run_in_parallel
from extrinsic.tables import read_rows, table_bytes


@cache
def points() -> Points:
    return read_points(FOLDER)


def centred(values: Floats) -> Floats:
    return np.asarray((values - values.mean(axis=-1, keepdims=True)).ravel())


def test_a_cell_again(tmp_path: Path) -> None:
    """Two trackers on one dataset, from calls to returns, through the tool; what is left out stays empty."""
    changes = (
        'simulation.datasets=["ds4"]',
        'trackers.built_in=["hwu", "baseline"]',
        'policy.policies=["rl", "expert"]',
        'reward.fill=["threshold"]',
    )
    run = run_seed(SEEDS[0], tmp_path / "run", n_jobs=1, changes=changes)
    for name, (kind, make_rows, decimals) in KEPT.items():
        head, *lines = table_bytes(make_rows(run, SEEDS[0]), kind, decimals).decode().splitlines()
        stored_head, *stored = (FOLDER / f"{name}.csv").read_text().splitlines()
        assert head == stored_head
        assert len(lines) == 2
        for line in lines:
            key = line.split(",")[:4]
            (kept,) = [each for each in stored if each.split(",")[:4] == key]
            pairs = [pair for pair in zip(line.split(","), kept.split(","), strict=True) if pair[0]]
            assert len(pairs) > 4 + 5
            assert all(cell == stored_cell for cell, stored_cell in pairs)


@pytest.mark.parametrize(("table", "make"), [("correlations", correlations), ("verdicts", verdicts)])
def test_a_part_of_a_table_again(table: str, make: Callable[..., list[msgspec.Struct]]) -> None:
    """The last condition, with one BLAS thread as the study makes it."""
    (rows,) = run_in_parallel(make, [(points(), FILLS[-1], list(TARGETS)[-1])])
    part = table_bytes(rows, MADE[table], decimals=3).partition(b"\n")[2]
    assert rows
    assert part in (FOLDER / f"{table}.csv").read_bytes()


def test_policies_again_and_by_hand() -> None:
    rows = list(policy_gains(points()))
    assert table_bytes(rows, PolicyGain, decimals=3) == (FOLDER / "policies.csv").read_bytes()
    for row in rows:
        gain = points().returns[row.fill, row.more] - points().returns[row.fill, row.less]
        low, high = stats.t.interval(0.95, 19, gain.mean(), stats.sem(gain.mean(axis=(0, 1))))
        assert (row.value, row.low, row.high) == pytest.approx((gain.mean(), low, high))
    assert len(rows) == len(FILLS) * len(GAINS)


def test_r_of_means_over_seeds_by_scipy() -> None:
    rows = Selection(read_rows(FOLDER / "correlations.csv", Correlation))
    for row in rows.where(fill="argmax", target="rl.completed", trackers="core", schedule=2).rows:
        values = points().metrics[METRICS.index(Name.of(row))].mean(axis=0)[:, points().core]
        target = points().returns["argmax", "rl.completed"].mean(axis=0)[:, points().core]
        assert row.r == pytest.approx(stats.pearsonr(centred(values), centred(target))[0], abs=6e-4)


def small_world(metrics: Floats, earned: Floats) -> Points:
    """metrics (n_metrics, 1, n_datasets, n_trackers); what the learned policy earns (1, ...)."""
    n_trackers = earned.shape[-1]
    return replace(
        points(),
        seeds=(1,),
        datasets=("a", "b"),
        trackers=tuple(f"tracker{number}" for number in range(n_trackers)),
        metrics=metrics,
        returns=dict.fromkeys(RETURNS, earned),
        core=np.arange(n_trackers),
    )


@pytest.mark.parametrize(("metric", "verdict"), [("l2", "holds"), ("accuracy", "does not hold")])
def test_verdicts_of_a_world_made_for_lee(metric: str, verdict: str) -> None:
    """L2 is the return, the others are noise: L2 comes first; and the reverse."""
    rng = np.random.default_rng(0)
    metrics, earned = rng.normal(size=(len(METRICS), 1, 2, 24)), rng.normal(size=(1, 2, 24))
    for number, name in enumerate(METRICS):
        if name.metric == metric:
            metrics[number] = earned + 0.1 * metrics[number]
    world = small_world(metrics, earned)
    judged = {row.finding[:7]: row for row in verdicts(world, "argmax", "rl.live") if row.trackers == "core"}
    assert judged["Metrics"].verdict == verdict
    assert judged["Schedul"].verdict == "not resolved"
    assert all(row.seeds_same == 1 for row in judged.values())
    rows = Selection(correlations(world, "argmax", "rl.live")).where(trackers="core")
    assert rows.where(in_set=True).distinct("metric") == [metric]


def test_an_undefined_metric_is_left_out() -> None:
    """One that a tracker lacks, and one that does not vary."""
    rng = np.random.default_rng(2)
    metrics, earned = rng.normal(size=(len(METRICS), 1, 2, 8)), rng.normal(size=(1, 2, 8))
    lacking, flat = METRICS.index(Name("l2", 2, "all")), METRICS.index(Name("mrr", 1, "all"))
    metrics[lacking, 0, 1, 3], metrics[flat] = np.nan, 5.0
    rows = Selection(correlations(small_world(metrics, earned), "argmax", "rl.live")).where(trackers="all")
    without = [row for row in rows.rows if row.r is None]
    assert {Name.of(row) for row in without} == {METRICS[lacking], METRICS[flat]}
    assert all(row.reason and not row.in_set for row in without)
    assert without == list(rows.rows[-2:])
    assert all(msgspec.structs.astuple(row)[6] is not None for row in rows.rows[:-2])
