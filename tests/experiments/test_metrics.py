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
from experiments.metrics.__main__ import FOLDER
from experiments.metrics.paper_examples import example_rows
from experiments.metrics.partial import scatter_correlations
from experiments.metrics.state_files import RESAMPLES, SOM, SYSTEMS, T5, Group, read_groups
from experiments.metrics.tables import METRICS, TABLES, TraitCorrelation
from experiments.selection import Selection
from extrinsic.tables import read_rows, table_bytes
from tests.metrics.dialogs import states_of
from tests.published_figures import END_TO_END_JGA, T5_ZERO_SHOT_ATTRACTION
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


def test_scores_against_known_ones() -> None:
    scores = {row.file: row for row in table("scores").rows}
    jga = {name: round(scores[name].jga, 2) for name in END_TO_END_JGA}
    assert jga == pytest.approx(END_TO_END_JGA, abs=0.011)
    assert round(scores[SOM].jga, 2) == 49.93
    for field, metric in METRICS.items():
        if metric in T5_ZERO_SHOT_ATTRACTION:
            assert getattr(scores[T5], field) == pytest.approx(T5_ZERO_SHOT_ATTRACTION[metric], abs=0.006)


# Our own computations


def two_parts() -> list[tuple[np.ndarray, np.ndarray]]:
    """Points (m, 4) of two systems over six dialogs, and the dialog of each; the second lacks one dialog."""
    rng = np.random.default_rng(1)
    dialogs = [np.repeat(np.arange(6), 5), np.repeat([0, 1, 3, 4, 5], 4)]
    return [(rng.normal(size=(len(rows), 4)) + 3.0 * number, rows) for number, rows in enumerate(dialogs)]


def test_resampled_correlations_by_repeating_dialogs() -> None:
    weights = np.array([[1, 1, 1, 1, 1, 1], [2, 0, 1, 3, 0, 0], [0, 1, 1, 1, 1, 2]], dtype=np.float64)
    group = Group(tuple(f"dialog {number}" for number in range(6)), ())
    group.__dict__["weights"] = weights
    r = scatter_correlations(group.scatter(two_parts()), range(4), range(4))
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
def test_traits_by_regression() -> None:
    """Given turns and mistakes: the correlation of residuals; of both traits: that with the prediction."""
    values = mistake_traits.dialog_values(groups()[T5].files[0])
    values = values[~np.isnan(values).any(axis=1)]
    columns = {name: values[:, i] for i, name in enumerate(mistake_traits.COLUMNS)}
    ones = np.ones(len(values))

    def predicted(column: np.ndarray, *others: np.ndarray) -> np.ndarray:
        given = np.column_stack([ones, *others])
        return np.asarray(given @ np.linalg.lstsq(given, column, rcond=None)[0])

    where = {"file": T5, "trait": "NU", "form": 2024, "faultless": mistake_traits.LEFT_OUT}
    row: TraitCorrelation = table("traits").where(**where).rows[0]
    trait, gca = columns["NU", 2024], columns["gca"]
    assert row.dialogs == len(values)
    assert row.gca == pytest.approx(np.corrcoef(trait, gca)[0, 1], abs=0.0006)
    left = [each - predicted(each, columns["mistakes"], columns["turns"]) for each in (trait, gca)]
    assert row.partial_gca == pytest.approx(np.corrcoef(*left)[0, 1], abs=0.0006)
    for both in table("both_traits").where(file=T5).rows:
        traits = [columns["TO", both.form], columns["NU", both.form]]
        for field in ("fga", "gca"):
            r = np.corrcoef(predicted(columns[field], *traits), columns[field])[0, 1]
            assert getattr(both, field) == pytest.approx(r, abs=0.0006)
