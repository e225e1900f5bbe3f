"""The text of the study of end-to-end systems follows from its committed tables; the tables, from the data.

Where the first test fails after a change of the text: `python -m experiments.multiwoz --text`; after a change
of what is computed, run the experiment again: `python -m experiments.multiwoz`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from experiments.multiwoz import dialog_grid, system_correlations
from experiments.multiwoz.__main__ import (
    FOLDER,
    OWN_PERMUTATIONS,
    PERMUTATIONS,
    RESAMPLES,
    SEED,
    compute_dialog_tables,
    count,
    write_texts,
)
from experiments.multiwoz.benchmark import PROTOTYPE, PUBLISHED, ROUNDING
from experiments.multiwoz.ceilings import area, ceiling, ordered_pairs
from experiments.multiwoz.dialog_correlations import permuted, resampled_p
from experiments.multiwoz.dialog_grid import METRICS, OUTCOMES, Grid
from experiments.multiwoz.system_correlations import LACKING, OWN, SHARED, WITHOUT, Scores
from experiments.multiwoz.tables import (
    TABLES,
    BetweenSystems,
    DialogCorrelation,
    MetricColumns,
    Predictor,
    WithoutSystem,
    metric_rows,
)
from experiments.selection import Selection
from experiments.texts import UnsupportedClaim
from extrinsic.corpus.state_sets import StateSets
from extrinsic.correlation.coefficients import correlate
from extrinsic.correlation.partial import scatter_correlations
from extrinsic.correlation.two_way import SPLITS, Split, TwoWaySums, TwoWayWeights, centre, two_way_scatter
from extrinsic.study.tables.table_files import read_rows, table_bytes, write_rows
from tests.real_data import FOLDER as DATA
from tests.real_data import needs_data

LAST_DIGIT = 6e-4
"""Three places are written."""


def committed(table: str) -> list[Any]:
    return read_rows(FOLDER / f"{table}.csv", TABLES[table])


def test_the_text_is_rendered_from_the_tables(tmp_path: Path) -> None:
    """Every claim holds of the committed tables."""
    write_texts(FOLDER, tmp_path)
    assert (FOLDER / "README.md").read_text() == (tmp_path / "README.md").read_text()
    assert "<svg" in (tmp_path / "multiwoz.svg").read_text()


@pytest.mark.parametrize(
    ("table", "kind", "key", "changes", "sentence"),
    [
        ("splits", DialogCorrelation, ("success", "both", "gca"), {"low": -0.01}, "On the same dialog"),
        (
            "splits",
            DialogCorrelation,
            ("success", "within", "gca"),
            {"minus_first_high": 0.1},
            "Pair by pair",
        ),
        ("between", BetweenSystems, ("shared", "success", "gca"), {"low": 0.1}, "Between systems"),
        ("left_out", WithoutSystem, ("success", "gca"), {"damd": 0.4}, "One system carries"),
        (
            "others",
            Predictor,
            ("success", "all metrics"),
            {"within_high": 0.5},
            "How the other systems fared",
        ),
    ],
)
def test_a_claim_that_the_tables_contradict(
    tmp_path: Path,
    table: str,
    kind: type[msgspec.Struct],
    key: tuple[str, ...],
    changes: dict[str, float],
    sentence: str,
) -> None:
    for name in TABLES:
        (tmp_path / f"{name}.csv").write_bytes((FOLDER / f"{name}.csv").read_bytes())
    rows = [
        msgspec.structs.replace(row, **changes) if msgspec.structs.astuple(row)[: len(key)] == key else row
        for row in committed(table)
    ]
    assert rows != committed(table)
    write_rows(tmp_path / f"{table}.csv", rows, kind, decimals=3)
    with pytest.raises(UnsupportedClaim, match=sentence):
        write_texts(tmp_path, tmp_path)


@pytest.mark.parametrize("table", TABLES)
def test_tables_are_written_as_they_were_read(table: str) -> None:
    written = table_bytes(committed(table), TABLES[table], decimals=3)
    assert written == (FOLDER / f"{table}.csv").read_bytes()


def test_every_metric_has_its_rows_and_columns() -> None:
    keys = Selection(committed("splits")).distinct("outcome", "split", "metric")
    assert keys == [(outcome, split, name) for outcome in OUTCOMES for split in SPLITS for name in METRICS]
    assert MetricColumns.__struct_encode_fields__ == METRICS
    assert WithoutSystem.__struct_encode_fields__[2:] == tuple(row.system for row in committed("systems"))


def test_published_figures() -> None:
    """JGA as the README of the data has it, outcomes as the benchmark does, r as the prototype did."""
    jga = {"uniconv": 56.67, "augpt": 54.96, "labes": 49.36, "rstod": 49.23, "galaxy-e2e": 47.40}
    jga |= {"dots": 47.38, "pptod": 45.28, "mars": 45.04, "bort": 44.51, "mintl": 44.34}
    jga |= {"ubar": 41.66, "soloist": 34.62, "damd": 29.02}
    for row in committed("systems"):
        assert row.jga == pytest.approx(jga[row.system], abs=0.006)
        assert (row.published_success, row.published_inform) == PUBLISHED[row.system]
        assert row.differs(ROUNDING) == (row.system in ("dots", "soloist"))
    first = committed("steps")[0]
    assert (first.success, first.inform) == pytest.approx(
        (PROTOTYPE["success"], PROTOTYPE["inform"]), abs=0.005
    )


# The data again.


@cache
def states() -> dict[str, StateSets]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("experiments.data.DATA", DATA)
        return dialog_grid.read_all_states()


@cache
def real_grid() -> Grid:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("experiments.data.DATA", DATA)
        return dialog_grid.build_grid(states(), dialog_grid.read_outcomes())


def is_resampled(field: str) -> bool:
    """Whether a number comes from resamples or permutations of dialogs."""
    ends = field.endswith(("low", "high", "p_adjusted")) or field in ("p", "first")
    return ends and "jackknife" not in field


def assert_same(
    computed: Sequence[msgspec.Struct], stored: Sequence[msgspec.Struct], with_resamples: bool = True
) -> None:
    assert len(computed) == len(stored)
    for row, kept in zip(computed, stored, strict=True):
        for field in row.__struct_fields__:
            if with_resamples or not is_resampled(field):
                value = getattr(row, field)
                expected = pytest.approx(value, abs=LAST_DIGIT) if isinstance(value, float) else value
                assert getattr(kept, field) == expected, (field, kept)


@needs_data
def test_the_tables_of_dialogs_again() -> None:
    """With few resamples: intervals differ then, what was observed and the jackknife do not."""
    computed = dict(compute_dialog_tables(real_grid(), 4, 19))
    assert list(computed) == list(TABLES)[4:]
    assert computed.pop("counts") == [count(real_grid(), 4, 19)]
    assert committed("counts") == [count(real_grid(), RESAMPLES, PERMUTATIONS)]
    for table, rows in computed.items():
        assert_same(rows, committed(table), with_resamples=False)


@needs_data
def test_the_tables_of_systems_again() -> None:
    scores = Scores.of_own_dialogs(states(), real_grid())
    assert_same(system_correlations.score_rows(scores, real_grid()), committed("systems"))
    kept = Selection(committed("between")).where(dialogs=OWN).rows
    assert_same(system_correlations.own_rows(scores, SEED, OWN_PERMUTATIONS), kept)


@needs_data
@pytest.mark.parametrize("dialogs", [SHARED, WITHOUT])
def test_the_run_of_the_tool_in_another_way(dialogs: str) -> None:
    """Its correlations, from states of the dialogs that its systems share."""
    grid = real_grid()
    systems = [system for system in grid.systems if dialogs == SHARED or system != LACKING]
    numbers = [grid.systems.index(system) for system in systems]
    present = grid.present[numbers].all(axis=0)
    shared = {grid.dialogs[i] for i in np.flatnonzero(present)}
    fewer = {
        system: states()[system].take([i for i, d in enumerate(states()[system].dialogs) if d in shared])
        for system in systems
    }
    metrics = Scores.of_own_dialogs(fewer, grid).metrics
    outcomes = np.array([[grid[outcome][numbers][:, present].mean(axis=1)] for outcome in OUTCOMES])
    r, ranks = (correlate(metrics, outcomes, name, "within") for name in ("pearson", "spearman"))
    for row in Selection(committed("between")).where(dialogs=dialogs).rows:
        index = METRICS.index(row.metric), OUTCOMES.index(row.outcome)
        assert (row.r, row.spearman_r) == pytest.approx((r[index], ranks[index]), abs=LAST_DIGIT)
        assert (row.systems, row.n_dialogs) == (len(systems), len(shared))
    if dialogs == SHARED:
        rows = system_correlations.left_out_rows(Scores(systems, metrics, outcomes))
        assert_same(rows, committed("left_out"))


@needs_data
def test_all_systems_meet_the_same_dialogs() -> None:
    """Gold states and turns are of the dialog, so what makes a dialog hard is the same for all."""
    for name in dialog_grid.DIFFICULTY:
        values = real_grid()[name]
        assert np.nanmin(values, axis=0) == pytest.approx(np.nanmax(values, axis=0))


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
    return Grid(tuple("wxyz"), dialogs, names, np.where(present, values, np.nan), present)


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
    weights = TwoWayWeights(np.array([[1.0, 0.0, 2.0, 1.0]]), np.ones((1, 9)))
    right, pairs = 0.0, 0.0
    for s, weight in enumerate(weights.systems[0]):
        values, outcome = grid["a"][s, grid.present[s]], grid["outcome"][s, grid.present[s]]
        higher = values[outcome == 1.0][:, None] > values[outcome == 0.0][None]
        right, pairs = right + weight * higher.sum(), pairs + weight * higher.size
    assert area(grid, "a", "outcome", weights)[0] == pytest.approx(right / pairs)


def test_no_order_of_outcomes_is_above_the_ceiling() -> None:
    rng = np.random.default_rng(5)
    values = rng.exponential(size=(1, 1, 6))
    outcome = np.array([[[1.0, 0, 0, 1, 1, 0]]])
    both = np.concatenate([values, outcome])
    grid = Grid(("x",), tuple("abcdef"), ("a", "outcome"), both, np.ones((1, 6), dtype=bool))
    highest = max(np.corrcoef(values[0, 0], order)[0, 1] for order in permutations(outcome[0, 0]))
    assert ceiling(grid, "a", "outcome") == pytest.approx(highest)


@pytest.mark.parametrize("split", ["within", "both"])
def test_permuted_dialogs_by_hand(split: Split) -> None:
    grid = small_grid(gaps=False)
    metric, goal = centre(grid["a"], split), centre(grid["outcome"], split)
    order = np.random.default_rng(6).permutation(9)
    r = permuted(metric, goal, np.array([np.arange(9), order]))
    sums = TwoWaySums.of(grid.values, grid.present)
    observed = two_way_scatter(sums, TwoWayWeights.observed(4, 9))[split]
    assert r[0] == pytest.approx(scatter_correlations(observed, [0], [3])[0, 0, 0])
    moved = centre(grid["outcome"][:, order], split)
    assert r[1] == pytest.approx(np.corrcoef(metric.ravel(), moved.ravel())[0, 1])


def test_resampled_p_counts_the_other_side() -> None:
    resampled = np.array([[0.1, 0.2, 0.0], [0.1, 0.3, 0.2], [0.1, 0.2, 0.3], [0.1, 0.4, 0.05]])
    p = resampled_p(resampled, 0)
    assert np.isnan(p[0])
    # Never below 0: 2 (0 + 1) / 5, twice by Holm; two of four: 2 (2 + 1) / 5, which is more than 1.
    assert p[1:] == pytest.approx([0.8, 1.0])


def test_the_mean_of_the_other_systems() -> None:
    outcome = np.array([[1.0, 0.0], [0.0, np.nan], [1.0, 1.0]])
    others = dialog_grid.mean_of_others(outcome, ~np.isnan(outcome))
    assert others[0] == pytest.approx([0.5, 1.0])
    assert others[2] == pytest.approx([0.5, 0.0])


def test_an_undefined_number_is_refused_where_a_column_needs_one() -> None:
    columns = dict.fromkeys(WithoutSystem.__struct_encode_fields__[2:], np.array([0.5, np.nan]))
    with pytest.raises(msgspec.ValidationError, match="augpt"):
        metric_rows(WithoutSystem, ("jga", "gca"), columns, outcome="success")
