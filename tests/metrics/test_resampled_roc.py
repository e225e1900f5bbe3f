"""ROC values of many resamples at once are, to the last bit, those of one curve after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extrinsic.arrays import Floats
from extrinsic.corpus.conventions import RocPoints
from extrinsic.metrics import roc_curves
from extrinsic.metrics.measuring import Source, resampled_values
from extrinsic.metrics.roc import few_false_accepts, low_false_accept_rate
from extrinsic.metrics.roc_curves import Points, RocStatistics
from extrinsic.panel import item_weights
from extrinsic.registry import TRACKERS
from extrinsic.simulation import read_simulation, simulate
from extrinsic.trackers.track import track
from tests.metrics.roc_samples import POINTS, ROC_METRICS, one_curve_after_the_other, statistics_of


def assert_exact(weights: Any, statistics: RocStatistics) -> Floats:
    expected = one_curve_after_the_other(weights, statistics)
    np.testing.assert_array_equal(resampled_values(weights, ROC_METRICS, statistics), expected, strict=True)
    alone = [[metric.values(weights[0] @ statistics)] for metric in ROC_METRICS]
    np.testing.assert_array_equal(alone, expected[:, :1])
    return expected


# Coarse, so that many are equal; some further apart than DSTC1's thresholds, some nearer, two neighbours.
SCORES = st.one_of(
    st.integers(-2, 10).map(lambda tenths: tenths / 10),
    st.integers(0, 9).map(lambda steps: 0.5 + steps / 20_000),
    st.sampled_from([1.0, np.nextafter(1.0, 0.0), 0.0]),
    st.floats(0, 1, allow_subnormal=False),
)


@st.composite
def samples(draw: st.DrawFn) -> tuple[Any, RocStatistics]:
    n_dialogs, n_items = draw(st.integers(1, 8)), draw(st.integers(0, 40))
    scores = draw(st.sampled_from([SCORES, st.sampled_from([0.25, 0.5]), st.just(0.5)]))
    flags = draw(st.sampled_from([st.booleans(), st.just(True), st.just(False)]))
    items = st.tuples(scores, flags, st.integers(0, n_dialogs - 1))
    drawn = draw(st.lists(items, min_size=n_items, max_size=n_items))
    score, correct, dialog = zip(*drawn, strict=True) if drawn else ((), (), ())
    row = st.lists(st.sampled_from([0, 0, 1, 1, 1, 2, 3, 7]), min_size=n_dialogs, max_size=n_dialogs)
    weights = np.array(draw(st.lists(row, min_size=1, max_size=6)))
    return weights, statistics_of(draw(st.sampled_from(POINTS)), n_dialogs, score, correct, dialog)


@settings(max_examples=400)
@given(samples())
def test_many_at_once_are_one_after_the_other(sample: tuple[Any, RocStatistics]) -> None:
    assert_exact(*sample)


@settings(max_examples=40)
@given(samples(), st.integers(1, 3))
def test_blocks_do_not_matter(sample: tuple[Any, RocStatistics], rows: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(roc_curves, "BLOCK", rows)
        assert_exact(*sample)


@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize("n_items", [300, 3_000])
@pytest.mark.parametrize("decimals", [1, 3, 17])
def test_many_items(points: RocPoints, n_items: int, decimals: int) -> None:
    """Many blocks of items: with long runs of equal scores, short ones, and none."""
    rng = np.random.default_rng([n_items, decimals])
    score = np.round(rng.beta(2, 0.7, n_items), decimals)
    dialog = np.sort(rng.integers(0, 60, n_items))
    statistics = statistics_of(points, 60, score, rng.random(n_items) < 0.2 + 0.6 * score, dialog)
    weights = item_weights("dialogs", 60, 40, seed=1)
    left_out = 1 - np.eye(60, dtype=int)
    large = 5_000 * weights[:5]
    for some in (weights, left_out, large, weights.astype(float)):
        assert not np.isnan(assert_exact(some, statistics)).any()


@pytest.mark.parametrize("points", POINTS)
def test_values_have_the_shape_of_the_weights(points: RocPoints) -> None:
    statistics = statistics_of(points, 3, [0.1, 0.5, 0.5, 0.9], [False, True, False, True], [0, 1, 2, 0])
    weights = np.arange(18).reshape(2, 3, 3)
    flat = resampled_values(weights.reshape(6, 3), ROC_METRICS, statistics)
    for metric, values in zip(ROC_METRICS, flat, strict=True):
        np.testing.assert_array_equal(metric.values(weights @ statistics), values.reshape(2, 3), strict=True)
        assert metric.values(weights[:0] @ statistics).shape == (0, 3)


def test_a_search_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Items are counted once for all metrics, and both equal error rates are read at one point."""
    made: list[Any] = []
    count = roc_curves.RunningCounts
    monkeypatch.setattr(roc_curves, "RunningCounts", lambda *given: made.append(given) or count(*given))
    statistics = statistics_of("even_thresholds", 2, [0.1, 0.5, 0.9], [False, True, True], [0, 1, 1])
    totals = np.array([[1, 1], [2, 0], [0, 2]]) @ statistics
    equal_error, lee, *_ = ROC_METRICS
    for metric in ROC_METRICS:
        metric.values(totals)
    assert len(made) == 1
    assert totals.first(equal_error.condition) is totals.first(lee.condition)  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def simulated() -> Any:
    corpus = simulate(read_simulation(), "ds4", "test").corpus
    return Source(corpus, track(TRACKERS.get("hwu"), corpus, "hwu"))


@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize("component", ["joint", "route", "all"])
@pytest.mark.parametrize("schedule", [1, 2, 3])
def test_simulated_calls(simulated: Any, points: RocPoints, component: str, schedule: int) -> None:
    (table,) = simulated.tables(ROC_METRICS[0])
    items = table.select(component, schedule).roc
    statistics = statistics_of(points, items.n_dialogs, items.score, items.correct, items.dialog)
    weights = item_weights(simulated.identity, simulated.n_dialogs, 25, seed=0)
    assert len(items.score) > 30
    assert len(np.unique(assert_exact(weights, statistics))) > 25


@pytest.mark.parametrize("level", [0.05, 0.1, 0.2, 1 / 3])
def test_limits_are_those_of_the_shares(level: float) -> None:
    """How many false accepts may be: as many as have a share, as rounded, of at most the level."""
    for total in range(1, 400):
        wrong = np.arange(total + 1.0)
        few = few_false_accepts(level).meets(Points(0.0, wrong, 0.0, float(total)))
        low = low_false_accept_rate(level).meets(Points(7.0, wrong, 7.0, total + 7.0))
        np.testing.assert_array_equal(few, wrong / total <= level)
        np.testing.assert_array_equal(low, wrong / total <= level)
