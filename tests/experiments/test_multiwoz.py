"""The study of end-to-end systems, as it stands in the repository, is what the code makes.

Where these fail after a change of a text, make it anew from the stored tables (`write_texts`); after a change
of what it tells of, run the experiment again: `python -m experiments.multiwoz`.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.multiwoz import between, within
from experiments.multiwoz import grid as grids
from experiments.multiwoz.__main__ import (
    FOLDER,
    OWN_PERMUTATIONS,
    PERMUTATIONS,
    RESAMPLES,
    SEED,
    TABLES,
    count,
    of_dialogs,
    write_texts,
)
from experiments.multiwoz.ceilings import area, ceiling, ordered_pairs
from experiments.multiwoz.grid import METRICS, OUTCOMES, Grid
from experiments.multiwoz.permuting import permuted
from experiments.multiwoz.published import BENCHMARK, JGA, PROTOTYPE, ROUNDING
from experiments.tables import rounded
from extrinsic.corpus.state_sets import StateSets
from extrinsic.correlation.coefficients import correlate
from extrinsic.correlation.partial import scatter_correlations
from extrinsic.correlation.two_way import SPLITS, Split, TwoWaySums, TwoWayWeights, centre, two_way_scatter
from tests.experiments.test_texts import rows_of, stored
from tests.real_data import FOLDER as DATA
from tests.real_data import needs_data

LAST_DIGIT = 6e-4
"""Three places are written."""


def tables() -> dict[str, list[dict[str, Any]]]:
    return {table: rows_of(FOLDER / f"{table}.csv") for table in TABLES}


def test_the_text_is_made_from_the_tables(tmp_path: Path) -> None:
    write_texts(tables(), tmp_path)
    assert stored(FOLDER / "README.md").read_text() == (tmp_path / "README.md").read_text()
    assert "<svg" in (tmp_path / "multiwoz.svg").read_text()


def test_every_metric_of_every_split_has_a_row() -> None:
    found = [(row["outcome"], row["split"], row["metric"]) for row in tables()["splits"]]
    assert found == [(outcome, split, name) for outcome in OUTCOMES for split in SPLITS for name in METRICS]


# The data again.


@cache
def states() -> dict[str, StateSets]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("experiments.data.DATA", DATA)
        return grids.read_all_states()


@cache
def real_grid() -> Grid:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("experiments.data.DATA", DATA)
        return grids.build_grid(states(), grids.read_outcomes())


def assert_same(found: list[dict[str, Any]], expected: list[dict[str, Any]], keys: tuple[str, ...]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        for key in keys:
            if isinstance(one.get(key), float):
                assert other[key] == pytest.approx(one[key], abs=LAST_DIGIT), (key, other)
            else:
                assert other[key] == one.get(key)


@needs_data
def test_the_tables_of_dialogs_again() -> None:
    """With few resamples: intervals differ then, what was observed does not."""
    made = {table: rounded(rows) for table, rows in of_dialogs(real_grid(), 4, 19)}
    kept = tables()
    jackknife = ("jackknife_low", "jackknife_high", "minus_jga_jackknife_low", "minus_jga_jackknife_high")
    of_splits = ("outcome", "split", "metric", "r", "minus_jga", "minus_first", *jackknife)
    assert_same(made["splits"], kept["splits"], of_splits)
    assert_same(made["by_system"], kept["by_system"], ("outcome", "system", *METRICS))
    assert_same(made["controls"], kept["controls"], ("outcome", "metric", "r", "difficulty", "others"))
    of_final = ("metric", "within_all", "within_last", "both_all", "both_last")
    assert_same(made["final"], kept["final"], of_final)
    assert_same(made["others"], kept["others"], ("outcome", "predictor", "within"))
    assert_same(made["ceilings"], kept["ceilings"], ("outcome", "metric", "area", "ceiling"))
    assert kept["counts"] == [count(real_grid(), RESAMPLES, PERMUTATIONS)]


@needs_data
def test_the_tables_of_systems_again() -> None:
    grid, kept = real_grid(), tables()
    own = between.values_of_own(states(), grid)
    assert rounded(between.rows_of_systems(own, grid)) == kept["systems"]
    rows = [row for row in kept["between"] if row["dialogs"] == between.OWN]
    found = rounded(between.rows_of_own(*own, SEED, OWN_PERMUTATIONS))
    assert_same(found, rows, tuple(found[0]))


@needs_data
@pytest.mark.parametrize("dialogs", [between.SHARED, between.WITHOUT])
def test_the_run_of_the_tool_by_another_way(dialogs: str) -> None:
    """Its correlations, from states of the dialogs that its systems share."""
    grid = real_grid()
    chosen = [s for s in grid.systems if dialogs == between.SHARED or s != between.LACKING]
    present = grid.present[[grid.systems.index(system) for system in chosen]].all(axis=0)
    shared = {dialog for dialog, there in zip(grid.dialogs, present, strict=True) if there}
    fewer = {
        system: states()[system].take([i for i, d in enumerate(states()[system].dialogs) if d in shared])
        for system in chosen
    }
    metrics, _ = between.values_of_own(fewer, grid)
    came = np.array(
        [[[np.mean(grid.of(o)[grid.systems.index(s), present]) for s in chosen]] for o in OUTCOMES]
    )
    r = correlate(metrics, came, "pearson", "within")
    rank = correlate(metrics, came, "spearman", "within")
    kept = [row for row in tables()["between"] if row["dialogs"] == dialogs]
    for row in kept:
        place = METRICS.index(row["metric"]), OUTCOMES.index(row["outcome"])
        assert row["r"] == pytest.approx(r[place], abs=LAST_DIGIT)
        assert row["spearman_r"] == pytest.approx(rank[place], abs=LAST_DIGIT)
        assert (row["systems"], row["n_dialogs"]) == (len(chosen), len(shared))
    if dialogs == between.SHARED:
        found = rounded(between.rows_left_out(metrics, came, grid.systems))
        assert_same(found, tables()["left_out"], tuple(found[0]))


@needs_data
def test_all_systems_meet_the_same_dialogs() -> None:
    """Gold states and turns are of the dialog, so what makes a dialog hard is the same for all."""
    grid = real_grid()
    for name in grids.DIFFICULTY:
        values = grid.of(name)
        assert np.nanmin(values, axis=0) == pytest.approx(np.nanmax(values, axis=0))


def test_published_figures() -> None:
    kept = tables()
    for row in kept["systems"]:
        assert row["jga"] == pytest.approx(JGA[row["system"]], abs=0.006)
        if row["system"] not in ("dots", "soloist"):
            assert (row["inform"], row["success"]) == pytest.approx(BENCHMARK[row["system"]], abs=ROUNDING)
    first = kept["steps"][0]
    for outcome, r in PROTOTYPE.items():
        assert first[outcome] == pytest.approx(r, abs=0.005)


# What is computed here, by brute force.


def small_grid(seed: int = 0, gaps: bool = True) -> Grid:
    rng = np.random.default_rng(seed)
    present = np.ones((4, 9), dtype=bool)
    if gaps:
        present[[0, 0, 2], [1, 5, 7]] = False
    values = rng.normal(size=(4, 4, 9)) + rng.normal(size=(4, 4, 1)) + rng.normal(size=(4, 1, 9))
    values[2] += values[0]
    values[3] = (values[3] > 0.0) * 1.0
    names = ("a", "b", "c", "outcome")
    dialogs = tuple(map(str, range(9)))
    return Grid(tuple("wxyz"), dialogs, names, np.where(present, values, np.nan), present, {})


def test_area_by_pairs() -> None:
    """By hand, with ties and weights; and as the tool's share of pairs in order."""
    values, outcome = np.array([0.2, 0.5, 0.5, 0.9, 0.9]), np.array([0.0, 1.0, 0.0, 1.0, 0.0])
    weights = np.array([[1, 1, 1, 1, 1], [2, 1, 0, 3, 1]], dtype=float)
    right, pairs = ordered_pairs(values, outcome, weights)
    for number, weight in enumerate(weights):
        each = [
            (weight[i] * weight[j], (values[i] > values[j]) + 0.5 * (values[i] == values[j]))
            for i in range(5)
            for j in range(5)
            if outcome[i] > outcome[j]
        ]
        assert pairs[number] == sum(w for w, _ in each)
        assert right[number] == sum(w * o for w, o in each)
    share = correlate(values[None, None], outcome[None, None], "pairwise", "pooled")[0, 0]
    assert right[0] / pairs[0] == pytest.approx(share)


def test_area_over_systems() -> None:
    grid = small_grid()
    systems, dialogs = np.array([[1.0, 0.0, 2.0, 1.0]]), np.ones((1, 9))
    right, pairs = 0.0, 0.0
    for s, weight in enumerate(systems[0]):
        values, outcome = grid.of("a")[s, grid.present[s]], grid.of("outcome")[s, grid.present[s]]
        higher = values[outcome == 1.0][:, None] > values[outcome == 0.0][None]
        right, pairs = right + weight * higher.sum(), pairs + weight * higher.size
    assert area(grid, "a", "outcome", systems, dialogs)[0] == pytest.approx(right / pairs)


def test_no_order_of_outcomes_is_above_the_ceiling() -> None:
    rng = np.random.default_rng(5)
    values = rng.exponential(size=(1, 1, 6))
    outcome = np.array([[[1.0, 0, 0, 1, 1, 0]]])
    both = np.concatenate([values, outcome])
    grid = Grid(("x",), tuple("abcdef"), ("a", "outcome"), both, np.ones((1, 6), dtype=bool), {})
    highest = max(np.corrcoef(values[0, 0], order)[0, 1] for order in permutations(outcome[0, 0]))
    assert ceiling(grid, "a", "outcome") == pytest.approx(highest)


@pytest.mark.parametrize("split", ["within", "both"])
def test_permuted_dialogs_by_hand(split: Split) -> None:
    grid = small_grid(gaps=False)
    metric, goal = centre(grid.of("a"), split), centre(grid.of("outcome"), split)
    order = np.random.default_rng(6).permutation(9)
    found = permuted(metric, goal, np.array([np.arange(9), order]))
    sums = TwoWaySums.of(grid.values, grid.present)
    observed = two_way_scatter(sums, TwoWayWeights.observed(4, 9))[split]
    assert found[0] == pytest.approx(scatter_correlations(observed, [0], [3])[0, 0, 0])
    moved = centre(grid.of("outcome")[:, order], split)
    assert found[1] == pytest.approx(np.corrcoef(metric.ravel(), moved.ravel())[0, 1])


def test_apart_from_counts_the_other_side() -> None:
    drawn = np.array([[0.1, 0.2, 0.0], [0.1, 0.3, 0.2], [0.1, 0.2, 0.3], [0.1, 0.4, 0.05]])
    p = within.apart_from(drawn, 0)
    assert np.isnan(p[0])
    # Never below 0: 2 (0 + 1) / 5, twice by Holm; two of four: 2 (2 + 1) / 5, which is more than 1.
    assert p[1:] == pytest.approx([0.8, 1.0])


def test_the_other_systems() -> None:
    outcome = np.array([[1.0, 0.0], [0.0, np.nan], [1.0, 1.0]])
    found = grids._of_others(outcome, ~np.isnan(outcome))
    assert found[0] == pytest.approx([0.5, 1.0])
    assert found[2] == pytest.approx([0.5, 0.0])
