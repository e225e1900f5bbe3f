"""Lee (2014) again, as it stands in the repository, is what the code makes.

Where these fail after a change of a text, make it anew from the stored tables (`write_texts`); after a change
of what it tells of, run the experiment again: `python -m experiments.lee2014`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from experiments.lee2014.__main__ import FOLDER, KEPT, MADE, part_of, points_of, write_texts
from experiments.lee2014.correlations import reliability
from experiments.lee2014.judging import (
    ACCURACY,
    BETTER,
    FINDINGS,
    GAINS,
    QUALITY,
    ROC,
    SCHEDULES,
    SCORES,
    Where,
    gain_of,
    judge,
    related_of,
)
from experiments.lee2014.needed import (
    SUBSETS,
    draw_subsets,
    number_rows,
    sizes_of,
)
from experiments.lee2014.points import Points
from experiments.lee2014.relating import relate, schedule_pairs, strict_pair
from experiments.lee2014.runs import (
    FILLS,
    LEE,
    SEEDS,
    STATES,
    column_of,
    filled,
    is_of_states,
    name_of,
    settings_of,
)
from experiments.tables import rounded
from extrinsic.metrics.parsing import parse_metric
from extrinsic.parallel import run_in_parallel
from extrinsic.report.results.lee_findings import FAILS, HOLDS, OPEN
from extrinsic.report.results.naming import Name
from extrinsic.study.engine import run_bundle
from extrinsic.study.planning import make_plan
from extrinsic.study.stages.store import Result
from tests.experiments.test_texts import rows_of, stored

LIVE = Where("argmax", "live")


@cache
def tables() -> dict[str, list[dict[str, Any]]]:
    return {name: rows_of(FOLDER / f"{name}.csv") for name in (*KEPT, *MADE)}


@cache
def points() -> Points:
    return points_of(tables())


def test_the_text_is_made_from_the_tables(tmp_path: Path) -> None:
    write_texts(tables(), tmp_path)
    assert stored(FOLDER / "README.md").read_text() == (tmp_path / "README.md").read_text()
    for name in ("fig2.svg", "fig3.svg"):
        assert "<svg" in (tmp_path / name).read_text()


def test_every_point_is_there() -> None:
    assert points().seeds == SEEDS
    assert len(points().datasets) == 4
    assert len(points().trackers) == 20
    assert not np.isnan(points().metrics).any()
    assert not any(np.isnan(values).any() for values in points().returns.values())


def test_lee_has_thirty_three_metrics_and_schedules() -> None:
    for component in ("all", "joint"):
        mine = [name for name in points().names if name.metric in LEE and name.component == component]
        assert len(mine) == 33
    assert sum(map(is_of_states, points().names)) == len(STATES) * len(FILLS)


def test_a_cell_again() -> None:
    """One tracker of one dataset and seed, from calls to returns, through the stages of the tool."""
    seed, dataset, tracker = SEEDS[0], "ds4", "hwu"
    plan = make_plan(settings_of(seed, [f'simulation.datasets=["{dataset}"]']))
    bundle = next(tasks for tasks in plan.bundles if tasks[0].tracker == tracker)
    measured, *learned = run_bundle(bundle)
    where = {"seed": seed, "dataset": dataset, "tracker": tracker}
    kept = next(row for row in tables()["metrics"] if where.items() <= row.items())
    found = {
        column_of(Name.of(row)): round(1000.0 * row["value"])
        for row in Result.decode(measured.data).values[dataset]["rows"]
        if row["value"] is not None
    }
    assert {key: value for key, value in kept.items() if key not in where} == {
        key: found[key] for key in kept if key not in where
    }
    kept = next(row for row in tables()["returns"] if where.items() <= row.items())
    for fill, done in zip(FILLS, learned, strict=True):
        rows = Result.decode(done.data).values["rows"]
        assert len(rows) == 10
        for row in rows:
            assert kept[f"{fill} {row['policy']} {row['estimator']}"] == pytest.approx(
                row["value"], abs=0.051
            )


@pytest.mark.parametrize(
    ("table", "group", "more"),
    [
        ("correlations", "all", {}),
        ("policies", "all", {}),
        ("spread", "core", {"trackers": "core"}),
        ("findings", "core", {"trackers": "core", "scope": "within"}),
    ],
)
def test_a_part_of_every_table_again(table: str, group: str, more: dict[str, str]) -> None:
    where = Where("threshold", "lstd")
    found = part_again(table, where, group)
    wanted = {"fill": where.fill, "target": where.estimator, **more}
    kept = [row for row in tables()[table] if wanted.items() <= row.items()]
    assert [same(row) for row in rounded(found)] == [same(row) for row in kept]


def part_again(table: str, where: Where, group: str, *size: int) -> list[dict[str, Any]]:
    """As the study makes it: with one BLAS thread."""
    return next(run_in_parallel(part_of, [(table, points(), where, group, *size)]))[1]


def same(row: dict[str, Any]) -> dict[str, Any]:
    """Without what a file leaves empty."""
    return {key: value for key, value in row.items() if value is not None}


def test_subsets_of_one_size_again() -> None:
    size, where = 6, Where("argmax", "lstd")
    found = part_again("subsets", where, "core", size)
    wanted = {"fill": where.fill, "target": where.estimator, "trackers": "core", "size": size}
    assert rounded(found) == [row for row in tables()["subsets"] if wanted.items() <= row.items()]


def test_numbers_again() -> None:
    assert [same(row) for row in rounded(number_rows(tables()["subsets"], tables()["findings"]))] == [
        same(row) for row in tables()["numbers"]
    ]


def test_every_number_of_a_finding_by_hand() -> None:
    """From the stored values, with nothing but numpy."""
    seeds, trackers = np.arange(len(points().seeds)), points().core
    found = judge(points(), LIVE, seeds, trackers, resamples=50, swaps=19)
    assert list(found) == list(FINDINGS)
    target = centred(points().returns["argmax rl live"].mean(axis=0)[:, trackers])
    r = {
        name: float(np.corrcoef(centred(values.mean(axis=0)[:, trackers]), target)[0, 1])
        for name, values in zip(points().names, points().metrics, strict=True)
        if name.metric in LEE
    }
    best = max(value for name, value in r.items() if name.metric in ("l2", "avgp"))
    others = max(value for name, value in r.items() if name.metric not in ("l2", "avgp"))
    assert found[SCORES].value == pytest.approx(best - others)
    others = max(value for name, value in r.items() if name.metric not in ("l2", "avgp", "mrr"))
    best = max(value for name, value in r.items() if name.metric in ("l2", "avgp", "mrr"))
    assert found[QUALITY].value == pytest.approx(best - others)
    lead = [
        r[name._replace(schedule=schedule)] - value
        for name, value in r.items()
        if name.schedule == 2
        for schedule in (1, 3)
    ]
    assert len(lead) == 44
    assert found[SCHEDULES].value == pytest.approx(np.mean(lead))
    assert found[ROC].value == pytest.approx(
        np.mean([v for n, v in r.items() if n.metric.startswith("roc.v2")])
    )
    assert found[BETTER].value == pytest.approx(r[ACCURACY])
    for key, (more, less) in GAINS.items():
        assert found[key].value == pytest.approx(gain_of(points(), LIVE, more, less)[..., trackers].mean())


def centred(values: Any) -> Any:
    return (values - values.mean(axis=1, keepdims=True)).ravel()


def test_r_of_one_seed_by_scipy() -> None:
    related = related_of(points(), LIVE, np.array([1]), points().chosen("all"), resamples=2, swaps=0)
    target = centred(points().returns["argmax rl live"][1])
    for name, r in zip(related.names, related.r, strict=True):
        assert r == pytest.approx(stats.pearsonr(centred(points().metric(name)[1]), target)[0])


def test_verdicts_of_a_world_made_for_lee() -> None:
    """L2 is the return, the others are noise: L2 comes first, ROC.V2 hardly correlates; and the reverse."""
    rng = np.random.default_rng(0)
    names = points().names
    metrics = rng.normal(size=(len(names), 1, 2, 60))
    earned = rng.normal(size=(1, 2, 60))
    trackers = tuple(f"tracker{number}" for number in range(60))
    for metric, verdict in (("l2", HOLDS), ("accuracy", FAILS)):
        made = metrics.copy()
        for place, name in enumerate(names):
            if name.metric == metric:
                made[place] = earned + 0.1 * metrics[place]
            elif name.metric.startswith("roc.v2"):
                made[place] = apart(metrics[place], earned)
        returns = {
            f"argmax {p} live": earned - shift for p, shift in (("rl", 0), ("sl", 9), ("sl_sampled", 0))
        }
        returns["argmax behaviour observed"] = earned + 5.0
        world = replace(
            points(),
            seeds=(1,),
            datasets=("a", "b"),
            trackers=trackers,
            metrics=made,
            returns=returns,
            core=np.arange(60),
        )
        found = judge(world, LIVE, np.array([0]), world.core, resamples=200, swaps=99)
        assert found[SCORES].verdict == found[QUALITY].verdict == verdict
        assert found[ROC].verdict == HOLDS
        assert found[SCHEDULES].verdict == OPEN
        assert found[BETTER].verdict == (HOLDS if metric == "accuracy" else OPEN)
        assert [found[key].verdict for key in GAINS] == [FAILS, HOLDS, OPEN]


def apart(noise: Any, earned: Any) -> Any:
    """Without what it has in common with the return, dataset by dataset."""
    away = earned - earned.mean(axis=-1, keepdims=True)
    share = (noise * away).sum(axis=-1, keepdims=True) / (away**2).sum(axis=-1, keepdims=True)
    return noise - share * away


def test_pairs_that_are_compared() -> None:
    names = [Name(metric, schedule, "all") for metric in ("l2", "mrr", "accuracy") for schedule in (1, 2, 3)]
    assert schedule_pairs(names).tolist() == [[0, 1], [2, 1], [3, 4], [5, 4], [6, 7], [8, 7]]
    rng = np.random.default_rng(1)
    metrics, target = rng.normal(size=(9, 2, 12)), rng.normal(size=(2, 12))
    metrics[3] = target
    related = relate(names, metrics, target, "x", resamples=10, swaps=9)
    scores, other = strict_pair(related)
    assert related.names[scores].metric == "l2"
    assert related.names[other] == Name("mrr", 1, "all")


def test_an_undefined_metric_is_left_out() -> None:
    rng = np.random.default_rng(2)
    metrics, target = rng.normal(size=(3, 2, 8)), rng.normal(size=(2, 8))
    metrics[0, 1, 3], metrics[2] = np.nan, 5.0
    names = [Name(metric, 1, "all") for metric in ("l2", "mrr", "accuracy")]
    assert relate(names, metrics, target, "x", resamples=10, swaps=0).names == (names[1],)


def test_names_of_columns() -> None:
    for name in points().names:
        assert name_of(column_of(name)) == name
        assert str(parse_metric(name.metric)) == name.metric
    assert filled("fga(0.5)", "argmax") == "fga(0.5, fill=argmax)"


def test_subsets() -> None:
    assert sizes_of(20) == [6, 8, 10, 12, 16, 20]
    assert sizes_of(17) == [6, 8, 10, 12, 16, 17]
    drawn = draw_subsets(17, 6, "x")
    assert drawn.shape == (SUBSETS, 6)
    assert (np.diff(drawn, axis=1) > 0).all()
    assert len({tuple(row) for row in drawn.tolist()}) > SUBSETS // 2
    assert (drawn == draw_subsets(17, 6, "x")).all()


def test_reliability_by_hand() -> None:
    values = np.random.default_rng(5).normal(size=(3, 2, 9))
    pairs = [np.corrcoef(centred(values[i]), centred(values[j]))[0, 1] for i, j in combinations(range(3), 2)]
    assert reliability(values) == pytest.approx(np.mean(pairs))


def test_beyond_the_logged_return_again() -> None:
    _, rows = part_of("beyond", points(), LIVE, "core")
    assert rounded(rows) == [row for row in tables()["beyond"] if row["fill"] == LIVE.fill]


def test_one_dataset_by_itself() -> None:
    whole, one = points(), points().of_dataset("ds3")
    assert one.datasets == ("ds3",)
    assert np.array_equal(one.metrics[:, :, 0], whole.metrics[:, :, 2], equal_nan=True)
    assert all(np.array_equal(one.returns[key][:, 0], values[:, 2]) for key, values in whole.returns.items())
