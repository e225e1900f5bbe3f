"""The study of real DSTC1 calls, as it stands in the repository, is the one that the code makes."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.dstc1.__main__ import CONFIG, FOLDER
from experiments.dstc1.run_rows import FILLS, PRIMARY
from experiments.dstc1.tables import Accuracy, Correlation, PolicyValue
from experiments.selection import Selection
from extrinsic.study.learn_stage import LearnTask
from extrinsic.study.plan import plan_study
from extrinsic.study.settings_file import read_study
from extrinsic.tables import read_rows
from tests.real_data import needs_data

VALUES = Selection(read_rows(FOLDER / "values.csv", PolicyValue))
ACCURACY = Selection(read_rows(FOLDER / "accuracy.csv", Accuracy))


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("group", ["all", "core"])
def test_a_correlation_from_the_other_tables(fill: str, group: str) -> None:
    """r of accuracy at the end with the return, by numpy, from values.csv and accuracy.csv."""
    columns = []
    for direction in ("a_to_b", "b_to_a"):
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
    bundles = plan_study(read_study(CONFIG)).bundles
    learning = (task for bundle in bundles for task in bundle if isinstance(task, LearnTask))
    task = next(task for task in learning if (task.system.name, task.variant) == ("att", "fill=argmax"))
    stored = VALUES.where(tracker="att", fill="argmax", estimator="mean_augmented")
    for value in task.run().values.values:
        if value.target == PRIMARY:
            (row,) = stored.where(dataset=value.dataset).rows
            assert value.mean == pytest.approx(row.rl, abs=6e-4)
