"""Intervals by resampling dialogs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from extrinsic.arrays import Floats
from extrinsic.metrics import measuring
from extrinsic.metrics.definition import ItemMean, parse_metric
from extrinsic.metrics.measuring import Source, percentile_interval, resampled_values
from extrinsic.metrics.scoring import Scores, score
from extrinsic.panel import item_weights
from tests.metrics.calls import Turn, files_of
from tests.metrics.reading import read_dstc1

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
