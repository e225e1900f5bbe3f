"""Intervals by resampling dialogs; ROC values of many resamples at once are those of one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extrinsic.arrays import Floats
from extrinsic.corpus.conventions import DSTC1, RocPoints
from extrinsic.metrics import measuring, roc_curves
from extrinsic.metrics.definition import ItemMean, parse_metric
from extrinsic.metrics.measuring import Source, percentile_interval, resampled_values
from extrinsic.metrics.roc import Roc, few_false_accepts, low_false_accept_rate
from extrinsic.metrics.roc_curves import CURVES, Points, RocStatistics, first_on_curve, score_order
from extrinsic.metrics.scoring import Scores, score
from extrinsic.panel import item_weights
from extrinsic.registry import TRACKERS
from extrinsic.simulation import read_simulation, simulate
from extrinsic.trackers.track import track
from tests.metrics.calls import Turn, files_of
from tests.metrics.reading import read_dstc1

ROC_METRICS = [parse_metric(name) for name in DSTC1.metrics if name.startswith("roc.")]
POINTS: tuple[RocPoints, ...] = ("even_thresholds", "distinct_scores")


def statistics_of(points: RocPoints, n_dialogs: int, score: Any, correct: Any, dialog: Any) -> RocStatistics:
    score, correct, dialog = np.array(score, float), np.array(correct, bool), np.array(dialog, int)
    order = score_order(score) if points == "distinct_scores" else slice(None)
    return RocStatistics(points, n_dialogs, score[order], correct[order], dialog[order])


def one_curve_after_the_other(weights: Any, statistics: RocStatistics) -> Floats:
    """(n_metrics, n_resamples) by the definition: the curve of the items that each row draws, with copies."""
    values = np.empty((len(ROC_METRICS), len(weights)))
    for sample, row in enumerate(weights):
        copies = np.repeat(np.arange(len(statistics.score)), row[statistics.dialog].astype(int))
        curve = CURVES[statistics.points](statistics.score[copies], statistics.correct[copies])
        for number, metric in enumerate(ROC_METRICS):
            assert isinstance(metric, Roc)
            with np.errstate(divide="ignore", invalid="ignore"):
                values[number, sample] = metric.read(first_on_curve(curve, metric.condition))
    return values


C = {"route": "61c"}


@pytest.fixture(scope="module")
def calls() -> Any:
    """Sixty calls of one to three turns; the route is right in two of three, its score says little."""
    rng = np.random.default_rng(7)
    return read_dstc1(
        files_of(
            *(
                [
                    Turn(
                        {"route": [(round(rng.uniform(0.5, 1), 2), C)]},
                        right=[C] if rng.random() < 0.67 else [],
                    )
                    for _ in range(rng.integers(1, 4))
                ]
                for _ in range(60)
            )
        )
    )


def on_route(calls: Any, **options: Any) -> Scores:
    return score(*calls, components=["route"], schedules=[1], **options)


def intervals(scores: Scores) -> dict[str, tuple[float | None, float | None]]:
    return {row.metric: (row.low, row.high) for row in scores.rows}


def test_intervals_hold_the_value(calls: Any) -> None:
    for row in on_route(calls, bootstrap=200).rows:
        assert row.low is not None and row.high is not None and row.value is not None
        assert row.low <= row.value <= row.high, row
        # An interval, not a point; all calls have a hypothesis, and exactly one.
        assert (row.low < row.high) == (row.metric not in ("nonempty", "hypothesis_count")), row


def test_the_seed_and_the_corpus_decide(calls: Any) -> None:
    """Two corpora of the same size do not share their resamples."""
    first, again, other = (intervals(on_route(calls, bootstrap=50, seed=seed)) for seed in (1, 1, 2))
    assert first == again != other
    one, two = (item_weights(name, 20, 5, seed=0) for name in ("one", "two"))
    assert not np.array_equal(one, two)


def test_an_interval_does_not_depend_on_what_else_is_scored(calls: Any) -> None:
    together = intervals(on_route(calls, bootstrap=50))
    for metric in ("accuracy", "roc.v1_ca10"):
        alone = score(*calls, metrics=[metric], components=["route"], schedules=[1], bootstrap=50)
        assert intervals(alone) == {metric: together[metric]}
    everywhere = score(*calls, bootstrap=50)
    rows = [row for row in everywhere.rows if (row.component, row.schedule) == ("route", 1)]
    assert {row.metric: (row.low, row.high) for row in rows} == together


def test_resampled_values_are_scores_of_resampled_calls(calls: Any) -> None:
    """One resample, taken apart: its dialogs scored as a corpus."""
    corpus, tracker = calls
    weights = item_weights("calls", corpus.n_dialogs, 3, seed=0)
    dialogs = np.repeat(np.arange(corpus.n_dialogs), weights[1])
    assert len(dialogs) == corpus.n_dialogs
    for name in ("accuracy", "roc.v1_eer"):
        metric = parse_metric(name)
        (table,) = Source(corpus, tracker).tables(metric)
        (values,) = resampled_values(weights, [metric], metric.statistics(table.select("route", 1)))
        apart = (corpus.take(dialogs), tracker.take(dialogs))
        (row,) = score(*apart, metrics=[name], components=["route"], schedules=[1]).rows
        assert values[1] == pytest.approx(row.value, abs=1e-12)


@pytest.mark.parametrize("block", [1, 500])
def test_blocks_do_not_change_anything(calls: Any, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    """One row of weights at a time, or a few of those of a curve."""
    whole = intervals(on_route(calls, bootstrap=20))
    monkeypatch.setattr(measuring, "BLOCK", block)
    in_blocks = intervals(on_route(calls, bootstrap=20))
    assert in_blocks.keys() == whole.keys()
    assert np.array(list(in_blocks.values())) == pytest.approx(np.array(list(whole.values())), abs=1e-12)


def test_what_has_no_value_has_no_interval() -> None:
    scores = score(*read_dstc1(files_of([Turn()], [Turn()])), bootstrap=10)
    without = [row for row in scores.rows if row.value is None]
    assert without and all(row.low is row.high is None for row in without)
    # Only one of three calls has a label for schedule 3: resamples without it say nothing.
    calls = read_dstc1(files_of([Turn({"route": [(0.75, C)]}, right=[C])], [Turn()], [Turn()]))
    (row,) = score(*calls, metrics=["accuracy"], components=["route"], schedules=[3], bootstrap=50).rows
    assert (row.value, row.low, row.high) == (1, 1, 1)


@dataclass(frozen=True)
class Mean(ItemMean):
    name: ClassVar[str] = "mean"
    field: ClassVar[str] = "x"


def interval_of_mean(sample: Floats, seed: int) -> tuple[float, float]:
    statistics = np.stack([sample, np.ones(len(sample))], axis=1)
    weights = item_weights("sample", len(sample), 300, seed)
    (values,) = resampled_values(weights, [Mean()], statistics)
    low, high = percentile_interval(values)
    assert low is not None and high is not None
    return low, high


def test_coverage() -> None:
    """95 % intervals of the mean of 40 draws hold the true mean about 19 times of 20."""
    rng = np.random.default_rng(3)
    held = [
        low <= 0.3 <= high
        for low, high in (interval_of_mean((rng.random(40) < 0.3).astype(float), seed) for seed in range(300))
    ]
    # The percentile interval of so few draws is a little too short; three standard errors are .04.
    assert 0.89 <= np.mean(held) <= 0.98


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
