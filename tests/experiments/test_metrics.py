"""Three papers on metrics, on our files: what the tables say is computed again, and checked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from experiments import main
from experiments.metrics import both_traits, discrimination, kim_analyses, mistake_traits
from experiments.metrics.__main__ import FOLDER, sides, tally
from experiments.metrics.paper_examples import example_rows, read_examples
from experiments.metrics.partial import scatter_correlations
from experiments.metrics.state_files import COPY, RESAMPLES, SOM, SYSTEMS, T5, Group, read_groups
from experiments.metrics.tables import METRICS, PAIRS, TABLES, Compared, TraitCorrelation, TurnCorrelations
from experiments.selection import Selection
from extrinsic.metrics.scoring import score
from extrinsic.metrics.state_metrics import KIM_METRICS, turn_correlation
from extrinsic.tables import read_rows, table_bytes
from tests.metrics.dialogs import states_of
from tests.published_figures import END_TO_END_JGA, T5_ZERO_SHOT_ATTRACTION, WORKED_EXAMPLES
from tests.real_data import FOLDER as DATA
from tests.real_data import needs_data

RIGHT, WRONG = ("hotel-a-1", "hotel-a-1"), ("hotel-a-1", "hotel-a-2")


@cache
def table(name: str) -> Selection[Any]:
    return Selection(read_rows(FOLDER / f"{name}.csv", TABLES[name]))


def csv_bytes(name: str, rows: Sequence[msgspec.Struct]) -> bytes:
    return table_bytes(rows, TABLES[name], decimals=3)


@cache
def groups() -> dict[str, Group]:
    before, main.DATA = main.DATA, DATA
    try:
        return read_groups()
    finally:
        main.DATA = before


# Text and tables


def test_sides_and_tallies_by_hand() -> None:
    ends = {"above": (0.1, 0.3), "below": (-0.3, -0.1), "not resolved": (-0.1, 0.1)}
    rows = [Compared(SOM, "", "", "", 0.0, low, high) for low, high in ends.values()]
    assert sides(rows) == list(ends)
    assert sides(rows, than=0.2) == ["not resolved", "below", "below"]
    turns = table("turn_correlations").where(turns=kim_analyses.ACTIVE)
    assert sum(tally(turns)) == len(table("scores").rows) == len(turns.rows) - 2


@needs_data
def test_scores_again() -> None:
    assert csv_bytes("scores", discrimination.score_rows(groups())) == (FOLDER / "scores.csv").read_bytes()


@needs_data
def test_what_is_resampled_again() -> None:
    """Of the smallest file, which is resampled like the others."""
    unit = (SOM, groups()[SOM], groups()[SOM].files)
    alone = {SYSTEMS: groups()[SOM]}
    faultless = (mistake_traits.LEFT_OUT, mistake_traits.ZERO)
    with threadpool_limits(1, user_api="blas"):
        again: dict[str, Sequence[msgspec.Struct]] = {
            "traits": [row for each in faultless for row in mistake_traits.unit_trait_rows(*unit, each)],
            "bins": mistake_traits.bin_rows(alone),
            "both_traits": both_traits.unit_both_traits(*unit),
            "thirds": both_traits.third_rows(alone),
            "positions": kim_analyses.position_rows(alone),
            "turn_correlations": [
                kim_analyses.unit_turn_row(*unit, turns)
                for turns in (kim_analyses.EVERY, kim_analyses.ACTIVE)
            ],
        }
        whole_test = discrimination.whole_test_rows(groups()[SOM])
    assert csv_bytes("whole_test", whole_test) == (FOLDER / "whole_test.csv").read_bytes()
    for name, rows in again.items():
        committed = table(name).where(file=SOM).rows
        # Taken for the systems, too, the file comes several times.
        assert csv_bytes(name, rows[: len(committed)]) == csv_bytes(name, committed)


@needs_data
def test_domains_and_worked_examples_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "DATA", DATA)
    assert csv_bytes("domains", kim_analyses.domain_rows(groups())) == (FOLDER / "domains.csv").read_bytes()
    slots = kim_analyses.used_slot_rows(groups())
    assert csv_bytes("used_slots", slots) == (FOLDER / "used_slots.csv").read_bytes()
    assert csv_bytes("worked", example_rows()) == (FOLDER / "worked.csv").read_bytes()


# Published figures


def test_published_figures_are_those_of_the_metrics_tests() -> None:
    totals = {example.name: example.totals for example in read_examples() if "Aksu" in example.source}
    assert totals == WORKED_EXAMPLES | {"t5_zeroshot_attraction": T5_ZERO_SHOT_ATTRACTION}


def test_scores_against_known_ones() -> None:
    scores = {row.file: row for row in table("scores").rows}
    jga = {name: round(scores[name].jga, 2) for name in END_TO_END_JGA}
    assert jga == pytest.approx(END_TO_END_JGA, abs=0.011)
    assert round(scores[SOM].jga, 2) == 49.93
    for field, metric in METRICS.items():
        if metric in T5_ZERO_SHOT_ATTRACTION:
            assert getattr(scores[T5], field) == pytest.approx(T5_ZERO_SHOT_ATTRACTION[metric], abs=0.006)


@needs_data
def test_the_copy_has_gold_slots_or_none() -> None:
    """Leaving out the slots that it never has, nearly every turn of that file matches."""
    for file in groups()[SYSTEMS].files:
        has = (file.items.predicted != 0).any(axis=0)
        share = file.items.agrees[:, has].all(axis=1).mean()
        assert share > 0.98 if file.name == COPY else share < 0.6


# Our own computations


def resampled_group(n_dialogs: int, weights: np.ndarray | None = None) -> Group:
    """A group of no files whose weights are given: by default every dialog once."""
    group = Group(tuple(f"dialog {number}" for number in range(n_dialogs)), ())
    group.__dict__["weights"] = np.ones((1, n_dialogs)) if weights is None else weights
    return group


def correlations(group: Group, *parts: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    every = range(parts[0][0].shape[1])
    return scatter_correlations(group.scatter(parts), every, every)


def two_parts() -> list[tuple[np.ndarray, np.ndarray]]:
    """Points (m, 4) of two systems over six dialogs, and the dialog of each; the second lacks one dialog."""
    rng = np.random.default_rng(1)
    dialogs = [np.repeat(np.arange(6), 5), np.repeat([0, 1, 3, 4, 5], 4)]
    return [(rng.normal(size=(len(rows), 4)) + 3.0 * number, rows) for number, rows in enumerate(dialogs)]


def test_resampled_correlations_by_repeating_dialogs() -> None:
    weights = np.array([[1, 1, 1, 1, 1, 1], [2, 0, 1, 3, 0, 0], [0, 1, 1, 1, 1, 2]], dtype=np.float64)
    r = correlations(resampled_group(6, weights), *two_parts())
    for number, weight in enumerate(weights):
        repeated = [np.repeat(points, weight[rows].astype(int), axis=0) for points, rows in two_parts()]
        centred = np.concatenate([points - points.mean(axis=0) for points in repeated])
        assert r[number] == pytest.approx(np.corrcoef(centred.T))
    pooled = np.concatenate([points for points, _ in two_parts()])
    assert r[0] != pytest.approx(np.corrcoef(pooled.T))


def trio() -> Group:
    """Three systems over twelve dialogs of two turns; the last has only the first nine of the dialogs."""
    every = [RIGHT, RIGHT]
    return Group.of(
        {
            "good": states_of(*[every, every, every, [RIGHT, WRONG]] * 3),
            "fair": states_of(*[every, [WRONG, WRONG], every, [RIGHT, WRONG]] * 3),
            "poor": states_of(*[[WRONG, WRONG], [WRONG, RIGHT], [WRONG, WRONG]] * 3),
        }
    )


def test_differences_are_over_shared_dialogs() -> None:
    group = trio()
    _, differences = discrimination.system_values(group, group.files)
    jga = differences[discrimination.FIELDS.index("jga")] / 100.0
    assert differences.shape == (len(METRICS), 3, 1 + RESAMPLES)
    right = {name: np.zeros(12) for name in ("good", "fair", "poor")}
    for name, turns in (("good", [2, 2, 2, 1] * 3), ("fair", [2, 0, 2, 1] * 3), ("poor", [0, 1, 0] * 3)):
        # Dialogs are sorted by their names.
        for number, count in enumerate(turns):
            right[name][group.dialogs.index(f"dialog {number}")] = count
    nine = np.array([int(dialog.split()[1]) < 9 for dialog in group.dialogs])
    pairs = (("good", "fair", nine | True), ("good", "poor", nine), ("fair", "poor", nine))
    for resample in (0, 5, RESAMPLES):
        drawn = [(group.weights[resample] * shared, right[a] - right[b]) for a, b, shared in pairs]
        expected = [weights @ difference / (2 * weights.sum()) for weights, difference in drawn]
        assert jga[:, resample] == pytest.approx(expected)
    assert jga[:, 0] == pytest.approx([6 / 24, 13 / 18, 9 / 18])


def test_separated_and_opposite_pairs_by_brute_force() -> None:
    group = trio()
    rows, compared = discrimination.discrimination("trio", group, group.files)
    _, differences = discrimination.system_values(group, group.files)
    for row, own in zip(rows, differences, strict=True):
        apart = [abs(own[pair, 0]) > 1.96 * own[pair, 1:].std(ddof=1) for pair in range(3)]
        assert row.separated == sum(apart)
        assert row.opposite_to_jga == sum(own[pair, 0] * differences[0, pair, 0] < 0 for pair in range(3))
        values = [
            100 * (score(file.states, metrics=[row.metric]).rows[0].value or 0.0) for file in group.files
        ]
        assert row.deviation == pytest.approx(np.std(values, ddof=1))
        assert row.range == pytest.approx(max(values) - min(values))
    assert rows[0].pairs == 3
    assert {row.what for row in compared} == {"separated", "deviation"}
    assert all(row.low <= row.difference <= row.high for row in compared)


def test_first_errors_by_hand() -> None:
    dialogs = (
        [RIGHT, RIGHT, RIGHT],  # right at the end: not counted
        [WRONG, RIGHT, RIGHT],  # the same
        [WRONG, WRONG, WRONG],  # 0
        [RIGHT, WRONG, RIGHT, RIGHT, WRONG],  # 1 of 4, right again
        [RIGHT, RIGHT, WRONG],  # 1, the last bin
        [WRONG],  # one turn: 0
    )
    errors = kim_analyses.first_errors(Group.of({"x": states_of(*dialogs)}).files[0])
    assert errors[:, 0].tolist() == [1] * 6
    assert errors[:, 1].tolist() == [0, 0, 1, 1, 1, 1]
    assert errors[:, 2].tolist() == [0, 0, 0, 1, 0, 0]
    assert errors[:, 3].tolist() == [0, 0, 1, 1, 0, 1]
    assert errors[:, 4:].sum(axis=0).tolist() == [2, 0, 1, 0, 0, 0, 0, 0, 0, 1]


@needs_data
def test_turn_correlations_are_the_librarys() -> None:
    expected = turn_correlation(groups()[SOM].files[0].states).correlation
    row: TurnCorrelations = table("turn_correlations").where(file=SOM, turns=kim_analyses.EVERY).rows[0]
    above = expected[np.triu_indices(len(KIM_METRICS), 1)]
    assert [getattr(row, pair) for pair in PAIRS] == pytest.approx(above, abs=0.0006)


@needs_data
def test_trait_correlations_by_scipy() -> None:
    """Also given turns and mistakes: the correlation of residuals."""
    from scipy.stats import pearsonr

    file = groups()[T5].files[0]
    for faultless in (mistake_traits.LEFT_OUT, mistake_traits.ZERO):
        values = mistake_traits.dialog_values(file, faultless)
        values = values[~np.isnan(values).any(axis=1)]
        columns = {name: values[:, i] for i, name in enumerate(mistake_traits.COLUMNS)}
        trait, gca = columns["NU", 2024], columns["gca"]
        row: TraitCorrelation = (
            table("traits").where(file=T5, trait="NU", form=2024, faultless=faultless).rows[0]
        )
        assert row.dialogs == len(values)
        assert row.gca == pytest.approx(pearsonr(trait, gca).statistic, abs=0.0006)
        given = np.column_stack([np.ones(len(values)), columns["mistakes"], columns["turns"]])
        left = [each - given @ np.linalg.lstsq(given, each, rcond=None)[0] for each in (trait, gca)]
        assert row.partial_gca == pytest.approx(pearsonr(*left).statistic, abs=0.0006)


def test_multiple_correlation_by_hand() -> None:
    """Of y with two traits: sqrt((.36 + .25 - 2 * .6 * .5 * .4) / (1 - .16)); uncorrelated: .6^2 + .8^2."""
    r_yx, r_yz, r_xz = np.array([0.6, 0.6, 0.5]), np.array([0.5, 0.8, 0.0]), np.array([0.4, 0.0, 0.0])
    assert both_traits.multiple_correlation(r_yx, r_yz, r_xz) == pytest.approx(
        [(0.37 / 0.84) ** 0.5, 1.0, 0.5]
    )


@needs_data
def test_both_traits_by_regression() -> None:
    """R is the correlation of a metric with its linear prediction from both traits."""
    values = mistake_traits.dialog_values(groups()[T5].files[0])
    values = values[~np.isnan(values).any(axis=1)]
    columns = {name: values[:, i] for i, name in enumerate(mistake_traits.COLUMNS)}
    for row in table("both_traits").where(file=T5).rows:
        traits = np.column_stack([np.ones(len(values)), columns["TO", row.form], columns["NU", row.form]])
        for field in ("fga", "gca"):
            predicted = traits @ np.linalg.lstsq(traits, columns[field], rcond=None)[0]
            r = np.corrcoef(predicted, columns[field])[0, 1]
            assert getattr(row, field) == pytest.approx(r, abs=0.0006)
        assert row.dialogs == len(values)


def test_thirds_by_hand() -> None:
    assert both_traits.thirds(np.array([5.0, 1.0, 2.0, 6.0, 3.0, 4.0])).tolist() == [2, 0, 0, 2, 1, 1]
    dialogs = table("thirds").where(file=SYSTEMS).column("dialogs")
    assert sum(dialogs) == table("both_traits").where(file=SYSTEMS).rows[0].dialogs


def test_means_of_cells_by_hand() -> None:
    """Two systems over three dialogs; the resample draws the first twice and lacks the second."""
    group = resampled_group(3, np.array([[1.0, 1.0, 1.0], [2.0, 0.0, 1.0]]))
    first = np.array([[0.2, 0.4], [0.6, 0.8], [1.0, 1.0]]), np.arange(3), np.array([0, 1, 0])
    second = np.array([[0.5, 0.6]]), np.array([2]), np.array([0])
    number, fga, gca = mistake_traits.cell_means(group, [first, second], 2)
    assert number.tolist() == [[3, 1], [4, 0]]
    assert fga[0] == pytest.approx([170 / 3, 60]) and gca[0] == pytest.approx([200 / 3, 80])
    assert fga[1, 0] == pytest.approx(190 / 4) and np.isnan(fga[1, 1])
