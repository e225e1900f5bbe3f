"""What three papers on metrics say, on our files: the stored tables are those that the code makes.

Where these fail after a change of the text, make it anew from the stored tables (`write_texts`); after a
change of what it tells of, run the experiment again: `python -m experiments.metrics`.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from experiments import data
from experiments.metrics import both_traits, columns, published, slots, traits, worked
from experiments.metrics.__main__ import FOLDER, write_texts
from experiments.metrics.claims import WITHOUT, judged
from experiments.metrics.covariation import correlations, covariances, moments, partial_correlations
from experiments.metrics.files import COPY, RESAMPLES, SEED, SOM, SYSTEMS, T5, Group, group_of, read_groups
from experiments.metrics.judging import (
    AGREES,
    MOSTLY,
    NOT,
    UNRESOLVED,
    Tally,
    of_counts,
    of_figure,
    of_interval,
)
from experiments.tables import rounded
from extrinsic.correlation.coefficients import correlate
from extrinsic.metrics.parsing import parse_metric
from extrinsic.metrics.scoring import score
from extrinsic.metrics.turn_correlation import KIM_METRICS, turn_correlation
from tests.experiments.test_texts import rows_of, stored
from tests.metrics.dialogs import states_of
from tests.published_figures import END_TO_END_JGA, T5_ZERO_SHOT_ATTRACTION, WORKED_EXAMPLES
from tests.real_data import FOLDER as DATA
from tests.real_data import needs_data

TABLES = (
    "scores",
    "discrimination",
    "compared",
    "whole_test",
    "traits",
    "bins",
    "both_traits",
    "thirds",
    "positions",
    "used_slots",
    "domains",
    "turn_correlations",
    "worked",
)


def tables() -> dict[str, list[dict[str, Any]]]:
    return {name: rows_of(FOLDER / f"{name}.csv") for name in TABLES}


@cache
def groups() -> dict[str, Group]:
    before, data.DATA = data.DATA, DATA
    try:
        return read_groups()
    finally:
        data.DATA = before


def of_file(table: str, *files: str) -> list[dict[str, Any]]:
    return [row for row in tables()[table] if row["file"] in files]


def small(*names: str) -> dict[str, Group]:
    """Groups with fewer files: what is stored of a file does not hang on the others."""
    return {name: groups()[name] for name in names} | {SYSTEMS: groups()[SOM]}


# What stands in the repository


def test_the_text_is_made_from_the_tables(tmp_path: Path) -> None:
    write_texts(tables(), tmp_path)
    assert stored(FOLDER / "README.md").read_text() == (tmp_path / "README.md").read_text()
    for name in ("traits.svg", "slots.svg"):
        assert "<svg" in (tmp_path / name).read_text() and stored(FOLDER / name)


@needs_data
def test_scores_again() -> None:
    assert rounded(columns.scores(groups())) == tables()["scores"]


@needs_data
def test_what_is_resampled_again() -> None:
    """Of the smallest file, which is resampled like the others."""
    with threadpool_limits(1, user_api="blas"):
        found = {
            "traits": traits.rows(small(SOM)),
            "bins": traits.bins(small(SOM)),
            "both_traits": both_traits.rows(small(SOM)),
            "thirds": both_traits.thirds(small(SOM)),
            "positions": slots.positions(small(SOM)),
            "turn_correlations": slots.turn_correlations(small(SOM)),
        }
        assert rounded(columns.whole_test(groups())) == tables()["whole_test"]
    for table, rows in found.items():
        # Taken for the systems, too, the file comes several times.
        mine = [row for row in rounded(rows) if row["file"] == SOM]
        assert mine[: len(of_file(table, SOM))] == of_file(table, SOM)


@needs_data
def test_domains_and_worked_examples_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "DATA", DATA)
    assert rounded(slots.domains(groups())) == tables()["domains"]
    assert rounded(slots.used_slots(groups())) == tables()["used_slots"]
    assert rounded(worked.rows()) == tables()["worked"]


# Figures of others


def test_published_figures_are_those_of_the_metrics_tests() -> None:
    assert {name: figures for name, (_, figures) in published.WORKED_FILES.items()} == WORKED_EXAMPLES
    assert published.T5_ROW == T5_ZERO_SHOT_ATTRACTION


def test_what_is_said_to_be_reproduced() -> None:
    """All of Aksu & Chen 2024 and of Kim; of Dey all but the mean of rounded figures."""
    rows = tables()["worked"]
    wrong = [(row["source"], row["metric"]) for row in rows if row["agrees"] == "no"]
    assert [place for place in wrong if not place[0].startswith(published.EARLIER)] == [
        ("Dey 2022, Fig. 1", published.FGA)
    ]
    # Of the earlier version the files give GCA, and neither FGA nor TO.
    files = [row for row in rows if row["source"].startswith(published.EARLIER) and "file" in row["example"]]
    assert [row["metric"] for row in files if row["agrees"] == "yes"] == [published.GCA] * 2


def test_scores_against_known_ones() -> None:
    found = {row["file"]: row for row in tables()["scores"]}
    assert {name: round(found[name]["jga"], 2) for name in END_TO_END_JGA} == pytest.approx(
        END_TO_END_JGA, abs=0.011
    )
    assert round(found[SOM]["jga"], 2) == 49.93
    for metric, value in T5_ZERO_SHOT_ATTRACTION.items():
        if metric in columns.COLUMNS:
            assert found[T5][metric] == pytest.approx(value, abs=0.006)


def test_kim_says_as_much_of_his_table() -> None:
    """Ranges of 1.09 (SA) and 5.47 (RSA) points in the text of section 4.1."""
    for metric, points in ((published.SA, 1.09), (published.RSA, 5.47)):
        assert 100 * np.ptp(published.KIM_MODELS[metric]) == pytest.approx(points)


# The copy of gold states


@needs_data
def test_the_copy_has_gold_slots_or_none() -> None:
    """Leaving out the slots that it never has, nearly every turn of that file matches."""
    (file,) = (file for file in groups()[SYSTEMS].files if file.name == COPY)
    items = file.items
    has = (items.predicted != 0).any(axis=0)
    assert (items.agrees[:, has].all(axis=1)).mean() > 0.98
    others = [one for one in groups()[SYSTEMS].files if one.name != COPY]
    for one in others:
        has = (one.items.predicted != 0).any(axis=0)
        assert one.items.agrees[:, has].all(axis=1).mean() < 0.6


def test_every_claim_is_judged_with_and_without_the_copy() -> None:
    rows = judged(tables())
    words = {AGREES, MOSTLY, NOT, UNRESOLVED}
    assert rows and all({row["verdict"], row[WITHOUT]} <= words for row in rows)


# Our own computations


def two_parts() -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Points (m, 4) of two systems over six dialogs, and the dialog of each; the second lacks one dialog."""
    rng = np.random.default_rng(1)
    dialogs = [np.repeat(np.arange(6), 5), np.repeat([0, 1, 3, 4, 5], 4)]
    return [rng.normal(size=(len(of), 4)) + 3.0 * number for number, of in enumerate(dialogs)], dialogs


def test_resampled_correlations_by_repeating_dialogs() -> None:
    points, dialogs = two_parts()
    weights = np.array([[1, 1, 1, 1, 1, 1], [2, 0, 1, 3, 0, 0], [0, 1, 1, 1, 1, 2]], dtype=np.float64)
    parts = [moments(values, of, 6) for values, of in zip(points, dialogs, strict=True)]
    found = correlations(covariances(parts, weights))
    for row, weight in enumerate(weights):
        repeated = [
            np.repeat(v, weight[of].astype(int), axis=0) for v, of in zip(points, dialogs, strict=True)
        ]
        centred = np.concatenate([v - v.mean(axis=0) for v in repeated])
        assert found[row] == pytest.approx(np.corrcoef(centred.T))
    assert found[0] != pytest.approx(np.corrcoef(np.concatenate(points).T))


def test_correlations_within_systems_are_the_librarys() -> None:
    values = np.random.default_rng(2).normal(size=(3, 4, 9))  # metrics, systems, dialogs
    parts = [moments(values[:, system].T, np.arange(9), 9) for system in range(4)]
    found = correlations(covariances(parts, np.ones((1, 9))))[0]
    assert found == pytest.approx(correlate(values, values, "pearson", "within"))


def test_points_with_a_nan_are_left_out() -> None:
    points, dialogs = two_parts()
    holed = points[0].copy()
    holed[7, 2] = np.nan
    kept = np.arange(len(holed)) != 7
    found = correlations(covariances([moments(holed, dialogs[0], 6)], np.ones((1, 6))))[0]
    assert found == pytest.approx(np.corrcoef(points[0][kept].T))


def test_partial_correlations_are_those_of_residuals() -> None:
    values = np.random.default_rng(3).normal(size=(40, 5)) @ np.random.default_rng(4).normal(size=(5, 5))
    covariance = covariances([moments(values, np.arange(40), 40)], np.ones((1, 40)))
    found = partial_correlations(covariance, (0, 2, 4), (1, 3))[0]
    given = np.column_stack([np.ones(40), values[:, [1, 3]]])
    left = values - given @ np.linalg.lstsq(given, values, rcond=None)[0]
    assert found == pytest.approx(np.corrcoef(left[:, [0, 2, 4]].T))


def trio() -> Group:
    """Three systems over twelve dialogs of two turns; the last has only the first nine of the dialogs."""
    right, wrong = ("hotel-a-1", "hotel-a-1"), ("hotel-a-1", "hotel-a-2")
    every = [right, right]
    systems = {
        "good": states_of(*[every, every, every, [right, wrong]] * 3),
        "fair": states_of(*[every, [wrong, wrong], every, [right, wrong]] * 3),
        "poor": states_of(*[[wrong, wrong], [wrong, right], [wrong, wrong]] * 3),
    }
    return group_of("trio", systems)


def test_differences_are_over_shared_dialogs() -> None:
    group = trio()
    found = columns.differences(group, group.files)
    jga = found[columns.COLUMNS.index("jga")]
    assert found.shape == (len(columns.COLUMNS), 3, 1 + RESAMPLES)
    right = {name: np.zeros(12) for name in ("good", "fair", "poor")}
    for name, turns in (("good", [2, 2, 2, 1] * 3), ("fair", [2, 0, 2, 1] * 3), ("poor", [0, 1, 0] * 3)):
        # Dialogs are sorted by their names.
        for number, count in enumerate(turns):
            right[name][group.dialogs.index(f"dialog {number}")] = count
    nine = np.array([int(dialog.split()[1]) < 9 for dialog in group.dialogs])
    for resample in (0, 5, RESAMPLES):
        drawn = group.weights[resample]
        expected = []
        for first, second, shared in (
            ("good", "fair", nine | True),
            ("good", "poor", nine),
            ("fair", "poor", nine),
        ):
            weights = drawn * shared
            expected.append(weights @ (right[first] - right[second]) / (2 * weights.sum()))
        assert jga[:, resample] == pytest.approx(expected)
    assert jga[:, 0] == pytest.approx([6 / 24, 13 / 18, 9 / 18])


def test_separated_and_opposite_pairs_by_brute_force() -> None:
    group = trio()
    rows, compared = columns.discrimination("trio", group, group.files)
    found = columns.differences(group, group.files)
    for number, row in enumerate(rows):
        own, jga = found[number], found[0]
        apart = [abs(own[pair, 0]) > 1.96 * own[pair, 1:].std(ddof=1) for pair in range(3)]
        assert row["separated"] == sum(apart)
        assert row["opposite_to_jga"] == sum(own[pair, 0] * jga[pair, 0] < 0 for pair in range(3))
        values = [100 * (score(f.states, metrics=[row["metric"]]).rows[0].value or 0.0) for f in group.files]
        assert row["deviation"] == pytest.approx(np.std(values, ddof=1))
        assert row["range"] == pytest.approx(max(values) - min(values))
    assert rows[0]["pairs"] == len(list(combinations(group.files, 2)))
    assert {row["what"] for row in compared} == {"separated", "deviation"}
    assert all(row["low"] <= row["difference"] <= row["high"] for row in compared)


def test_resamples_are_the_librarys_and_the_same_for_all() -> None:
    from extrinsic.metrics.dialog_resampling import resample_dialogs
    from extrinsic.storage import content_hash

    group = trio()
    assert group.weights[0] == pytest.approx(1.0)
    drawn = resample_dialogs(content_hash(*group.dialogs), 12, RESAMPLES, SEED)
    assert (group.weights[1:] == drawn).all()


def test_first_errors_by_hand() -> None:
    right, wrong = ("hotel-a-1", "hotel-a-1"), ("hotel-a-1", "hotel-a-2")
    group = group_of(
        "x",
        {
            "x": states_of(
                [right, right, right],  # right at the end: not counted
                [wrong, right, right],  # the same
                [wrong, wrong, wrong],  # 0
                [right, wrong, right, right, wrong],  # 1 of 4, right again
                [right, right, wrong],  # 1, the last bin
                [wrong],  # one turn: 0
            )
        },
    )
    found = slots.first_errors(group.files[0])
    assert found[:, 0].tolist() == [1] * 6
    assert found[:, 1].tolist() == [0, 0, 1, 1, 1, 1]
    assert found[:, 2].tolist() == [0, 0, 0, 1, 0, 0]
    assert found[:, 3].tolist() == [0, 0, 1, 1, 0, 1]
    assert found[:, 4:].sum(axis=0).tolist() == [2, 0, 1, 0, 0, 0, 0, 0, 0, 1]


@needs_data
def test_turn_correlations_are_the_librarys() -> None:
    file = groups()[SOM].files[0]
    expected = turn_correlation(file.states).correlation
    (row,) = (row for row in of_file("turn_correlations", SOM) if row["turns"] == slots.EVERY)
    for first, second in slots.PAIRS:
        i, j = KIM_METRICS.index(first), KIM_METRICS.index(second)
        assert row[f"{first} {second}"] == pytest.approx(expected[i, j], abs=0.0006)


@needs_data
def test_trait_correlations_by_scipy() -> None:
    from scipy.stats import pearsonr

    items = groups()[T5].files[0].items
    gca, nu = parse_metric("gca"), parse_metric("non_uniformity")
    aga = parse_metric("average_goal_accuracy")
    scored = [metric.values(metric.statistics(items)) for metric in (gca, aga)]
    trait = nu.dialog_values(items)  # type: ignore[attr-defined]
    for faultless, values in ((traits.LEFT_OUT, trait), (traits.ZERO, np.nan_to_num(trait))):
        (row,) = (
            row
            for row in of_file("traits", T5)
            if (row["trait"], row["form"], row["faultless"]) == ("NU", 2024, faultless)
        )
        kept = ~np.isnan(values) & ~np.isnan(scored[0]) & ~np.isnan(scored[1])
        assert row["dialogs"] == kept.sum()
        assert row["gca"] == pytest.approx(pearsonr(values[kept], scored[0][kept]).statistic, abs=0.0006)


@needs_data
def test_both_traits_by_least_squares() -> None:
    """R^2 is the share of variance that a linear fit on both traits explains."""
    values = traits.dialog_values(groups()[SOM].files[0])
    for form in both_traits.FORMS:
        kept = values[~np.isnan(values).any(axis=1)]
        design = np.column_stack([np.ones(len(kept)), kept[:, both_traits.trait_columns(form)]])
        (row,) = (row for row in of_file("both_traits", SOM) if row["form"] == form)
        assert row["dialogs"] == len(kept)
        for column, name in enumerate(("fga(0.5)", "gca")):
            left = kept[:, column] - design @ np.linalg.lstsq(design, kept[:, column], rcond=None)[0]
            explained = 1 - left.var() / kept[:, column].var()
            assert row[name] == pytest.approx(np.sqrt(explained), abs=0.0006)


def test_the_thirds_hold_every_dialog_with_a_mistake() -> None:
    for file in (SOM, SYSTEMS):
        (total,) = (row["dialogs"] for row in of_file("both_traits", file) if row["form"] == 2023)
        assert sum(row["dialogs"] for row in of_file("thirds", file)) == total


def test_verdicts() -> None:
    assert [of_interval(*ends) for ends in ((0.1, 0.2), (-0.2, -0.1), (-0.1, 0.1), (0.0, 0.1))] == [
        AGREES,
        NOT,
        UNRESOLVED,
        UNRESOLVED,
    ]
    counted = ((8, 0, 15), (8, 1, 15), (7, 0, 15), (7, 8, 15), (0, 7, 15))
    assert [of_counts(*counts) for counts in counted] == [AGREES, MOSTLY, UNRESOLVED, NOT, UNRESOLVED]
    assert [of_figure(0.5, *ends) for ends in ((0.4, 0.5), (0.51, 0.6))] == [AGREES, NOT]
    rows = [{"low": 0.1, "high": 0.3}, {"low": -0.3, "high": -0.1}, {"low": -0.1, "high": 0.1}]
    assert str(Tally(rows, "low", "high")) == "1 / 1 / 1"
    assert str(Tally(rows, "low", "high", than=0.2)) == "0 / 2 / 1"
