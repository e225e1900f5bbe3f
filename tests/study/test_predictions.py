"""Counts beside chance, and the calibration curve of deciding between two trackers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from extrinsic.correlation.deciding import calibration
from extrinsic.correlation.resampling import Sample
from extrinsic.panel import MetricKey, Target
from extrinsic.study.partials import partial_rows
from extrinsic.study.predictions import count_rows, decided_rows
from extrinsic.study.resampled_points import ResampledPoints
from extrinsic.study.settings import CorrelationTable
from extrinsic.study.targets import LOGGED_RETURN
from extrinsic.verdict.correlations import Points, correlation_rows
from tests.study.studies import METRICS, SCHEDULES, TARGETS, Study

SETTINGS = CorrelationTable(resamples=100, permutations=399)


def panel_of(n_trackers: int) -> ResampledPoints:
    """Three metrics are nearly the return, three are noise; the logged return is noise too."""
    rng = np.random.default_rng(7)
    target, logged = rng.normal(size=(2, 2, n_trackers))
    noise = rng.normal(size=(6, 2, n_trackers))
    metrics = np.concatenate([target + 0.2 * noise[:3], noise[3:]])
    return ResampledPoints(
        datasets=("a", "b"),
        trackers=tuple(f"tracker{number}" for number in range(n_trackers)),
        metrics=tuple((f"metric{number}", 1, "all", None) for number in range(6)),
        targets=("rl.live", LOGGED_RETURN),
        sample=Sample.of_trackers(metrics, np.stack([target, logged]), 100),
        contributions=(),
    )


def test_counts_stand_beside_what_chance_gives() -> None:
    rows = {(row.target, row.given): row for row in count_rows(panel_of(14), SETTINGS, 0)}
    assert set(rows) == {("rl.live", None), (LOGGED_RETURN, None), ("rl.live", LOGGED_RETURN)}
    for given in (None, LOGGED_RETURN):
        row = rows["rl.live", given]
        assert (row.clear, row.metrics) == (3, 6)
        assert row.p < 0.05
        # 2.5 % of six metrics; three of them are nearly one, and clear together.
        assert row.expected == pytest.approx(0.15, abs=0.06)
        assert 0 < row.most <= 3
    assert rows[LOGGED_RETURN, None].clear <= 1


def test_partial_correlations_have_p_values_of_all_metrics_at_once() -> None:
    rows = {row.metric: row for row in partial_rows(panel_of(14), SETTINGS, 0)}
    for number in range(6):
        p, p_max_t = rows[f"metric{number}"].p, rows[f"metric{number}"].p_max_t
        assert p is not None
        assert p_max_t is not None
        assert p <= p_max_t
        assert (p_max_t < 0.05) == (number < 3)


def test_the_curve_is_of_metrics_chosen_without_the_pair() -> None:
    panel = panel_of(14)
    rows = [row for row in decided_rows(panel, np.arange(6)) if row.target == "rl.live"]
    first = int(rows[0].metric.removeprefix("metric"))
    curve = calibration(panel.sample.metrics, panel.sample.targets[0])
    assert first < 3
    assert [row.pairs for row in rows] == [part.n_pairs for part in curve.bins]
    assert sum(row.pairs for row in rows) == 14 * 13 // 2
    assert rows[-1].right == curve.bins[-1].right
    assert rows[-1].predicted == pytest.approx(curve.bins[-1].predicted)


def test_too_few_trackers_to_leave_out_two() -> None:
    assert list(decided_rows(panel_of(6), np.arange(6))) == []
    assert list(decided_rows(panel_of(14), np.arange(0))) == []


def test_a_study_counts_for_every_target(tiny: Study) -> None:
    rows = [row for row in tiny.rows("counts") if row["trackers"] == "all"]
    assert {row["target"] for row in rows if not row["given"]} == set(TARGETS)
    assert {row["target"] for row in rows if row["given"]} == set(TARGETS) - {LOGGED_RETURN}
    assert {int(row["metrics"]) for row in rows} == {len(METRICS) * len(SCHEDULES) * 2}
    assert tiny.rows("decided") == []


def test_a_tracker_far_from_the_others_is_named_beside_the_correlations_it_makes() -> None:
    panel = panel_of(14)
    far = 30.0 * (np.arange(14) == 4)
    moved = replace(
        panel, sample=Sample.of_trackers(panel.sample.metrics + far, panel.sample.targets + far, 100)
    )
    for made, name in ((panel, None), (moved, "tracker4")):
        sample = made.sample
        keys = tuple(MetricKey(*key) for key in made.metrics), tuple(map(Target, made.targets))
        points = Points(sample.metrics, sample.targets, *keys, made.datasets, made.trackers)
        rows = list(correlation_rows(points, ["pearson"], 99, 0.95, 0))
        assert {row.carried_by for row in rows if row.r is not None} == {name}
        assert all(row.low is not None for row in rows)
