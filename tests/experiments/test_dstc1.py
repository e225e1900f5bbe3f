"""The study of real DSTC1 calls, as it stands in the repository, is the one that the code makes.

Where the first test fails after a change of the text: `python -m experiments.dstc1 --text`; after a change of
what is computed, run the experiment again: `python -m experiments.dstc1`.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from experiments.dstc1.__main__ import CONFIG, FOLDER, write_texts
from experiments.dstc1.run_rows import FILLS, PRIMARY
from experiments.dstc1.tables import ESTIMATORS, TABLES, Accuracy, Correlation, Difference, PolicyValue
from experiments.selection import Selection
from experiments.texts import UnsupportedClaim
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.planning import make_schedule
from extrinsic.study.stages.learning import LearnTask
from extrinsic.study.stages.store import LoadedResults
from extrinsic.study.tables.table_files import read_rows, table_bytes, write_rows
from tests.real_data import needs_data

VALUES = Selection(read_rows(FOLDER / "values.csv", PolicyValue))
ACCURACY = Selection(read_rows(FOLDER / "accuracy.csv", Accuracy))
DIRECTIONS = ["a_to_b", "b_to_a"]


def test_the_text_is_rendered_from_the_tables(tmp_path: Path) -> None:
    """Every claim holds of the committed tables."""
    write_texts(FOLDER, tmp_path)
    for name in ("README.md", "fig2.svg", "fig3.svg"):
        assert (FOLDER / name).read_text() == (tmp_path / name).read_text()


def test_a_claim_that_the_tables_contradict(tmp_path: Path) -> None:
    """L2 clearly above accuracy."""
    for name in TABLES:
        (tmp_path / f"{name}.csv").write_bytes((FOLDER / f"{name}.csv").read_bytes())
    rows = [
        msgspec.structs.replace(row, difference=0.5, low=0.1, high=0.9, p=0.001)
        for row in read_rows(FOLDER / "differences.csv", Difference)
    ]
    write_rows(tmp_path / "differences.csv", rows, Difference, decimals=3)
    with pytest.raises(UnsupportedClaim, match="accuracy"):
        write_texts(tmp_path, tmp_path)


@pytest.mark.parametrize("table", TABLES)
def test_tables_are_written_as_they_were_read(table: str) -> None:
    path = FOLDER / f"{table}.csv"
    assert table_bytes(read_rows(path, TABLES[table]), TABLES[table], decimals=3) == path.read_bytes()


def test_every_tracker_in_both_directions_under_both_rules_by_every_estimator() -> None:
    settings = read_study(CONFIG)
    names = {*settings.trackers.built_in, *settings.trackers.files.names}
    assert len(names) >= 15 and "att" in names
    keys = VALUES.distinct("dataset", "fill", "tracker", "estimator")
    assert len(keys) == len(VALUES.rows)
    assert set(keys) == {(d, f, t, e) for d in DIRECTIONS for f in FILLS for t in names for e in ESTIMATORS}
    for row in VALUES.rows:
        assert row.gain == pytest.approx(row.rl - row.logged, abs=2e-3)
        assert row.low < row.gain < row.high


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("group", ["all", "core"])
def test_a_correlation_from_the_other_tables(fill: str, group: str) -> None:
    """r of accuracy at the end with the return, by numpy, from values.csv and accuracy.csv."""
    columns = []
    for direction in DIRECTIONS:
        chosen = ACCURACY.where(dataset=direction, core=[True] if group == "core" else [True, False])
        for rows, name in ((chosen, "accuracy"), (VALUES, "rl")):
            numbers = [
                rows.where(dataset=direction, tracker=tracker, **of_rl).column(name)[0]
                for tracker in chosen.distinct("tracker")
                for of_rl in ({"fill": fill, "estimator": "mean_augmented"} if name == "rl" else {},)
            ]
            columns.append(np.array(numbers) - np.mean(numbers))
    accuracy, earned = np.concatenate(columns[::2]), np.concatenate(columns[1::2])
    (stored,) = (
        Selection(read_rows(FOLDER / "correlations.csv", Correlation))
        .where(fill=fill, trackers=group, target=PRIMARY, metric="accuracy", schedule=3, component="all")
        .rows
    )
    assert np.corrcoef(accuracy, earned)[0, 1] == pytest.approx(stored.r, abs=2e-3)


@needs_data
def test_a_tracker_again() -> None:
    """Learned and valued again, without the rest of the study."""
    bundles = make_schedule(read_study(CONFIG)).bundles
    learning = (task for bundle in bundles for task in bundle if isinstance(task, LearnTask))
    task = next(task for task in learning if (task.tracker, task.variant) == ("att", "fill=argmax"))
    stored = VALUES.where(tracker="att", fill="argmax", estimator="mean_augmented")
    for value in task.run(LoadedResults({})).values.values:
        if value.target == PRIMARY:
            (row,) = stored.where(dataset=value.dataset).rows
            assert value.mean == pytest.approx(row.rl, abs=6e-4)
