"""The text about learners follows from the committed tables, and a cell can be computed again."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from scipy import stats

from experiments.learners.__main__ import FOLDER, gain, summarise
from experiments.learners.ceiling import Config, climb, learner_returns
from experiments.learners.live_returns import PRESETS, live_returns
from experiments.learners.tables import LiveReturn, PolicySummary
from experiments.selection import Selection
from extrinsic.tables import read_rows

ROWS = read_rows(FOLDER / "live_returns.csv", LiveReturn)


def test_the_summary_is_that_of_the_returns() -> None:
    stored = read_rows(FOLDER / "summary.csv", PolicySummary)
    for row, expected in zip(summarise(ROWS), stored, strict=True):
        for name, value in msgspec.structs.asdict(row).items():
            exact = value if isinstance(value, str) or value is None else pytest.approx(value, abs=1.1e-3)
            assert getattr(expected, name) == exact


def test_the_interval_of_a_gain() -> None:
    """Of a mean of independent worlds, the jackknife's is Student's."""
    rows = Selection(ROWS)
    differences = [
        rows.where(seed=seed, dataset=dataset, policy="compact").mean("earned")
        - rows.where(seed=seed, dataset=dataset, policy="compact, lspi").mean("earned")
        for seed, dataset in rows.distinct("seed", "dataset")
    ]
    expected = stats.t.interval(0.95, 11, loc=np.mean(differences), scale=stats.sem(differences))
    result = gain(rows, "compact", "compact, lspi")
    assert (result.low, result.high) == pytest.approx(expected)


def test_a_cell_with_few_callers() -> None:
    """What is learned is what the table has; what is played differs, as the callers are fewer."""
    seed, dataset, tracker = 101, "ds4", "hwu"
    presets = {"compact": PRESETS["compact"]}
    rows = live_returns(seed, dataset, tracker, presets, n_live=40)
    assert [row.policy for row in rows] == ["behaviour", "compact", "sl", "sl_sampled"]
    for row in rows:
        assert row.earned - row.difference == pytest.approx(rows[0].earned)
        stored = Selection(ROWS).where(seed=seed, dataset=dataset, tracker=tracker, policy=row.policy).rows[0]
        assert row.kernels == stored.kernels
        assert row.largest_q == (
            None if stored.largest_q is None else pytest.approx(stored.largest_q, abs=1e-3)
        )


def test_the_search_finds_the_top_of_a_hill() -> None:
    """Of a sum of squares, as near as the last step."""
    top = np.array([35.0, -12.0, 0.0])
    best = climb(lambda offsets: -float(((offsets - top) ** 2).sum()), 3, (40.0, 20.0, 10.0, 5.0))
    assert np.abs(best - top).max() <= 5.0
    assert climb(lambda offsets: 0.0, 3, (40.0,)).tolist() == [0.0, 0.0, 0.0]


def test_a_learning_curve_has_every_size_and_how_far_it_is_from_live() -> None:
    config = Config(
        (11,), ("ds4",), ("baseline",), ("one_step",), ("one_step", "kernel_lspi"), (2,), 10, 5, (40.0,)
    )
    names = [row.policy for row in learner_returns(config, *config.cells()[0])]
    larger = [f"{name} x{times}" for times in config.times for name in config.curve]
    assert names == ["behaviour", "one_step", *larger, "improved live"]
