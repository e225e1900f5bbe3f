"""The texts beside the tables of experiments, as they stand in the repository, are made from those tables.

Where these fail after a change of a text, make it anew from the stored tables; after a change of what it
tells of, run the experiment again: `python -m experiments.learners`, `python -m experiments.truth`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.learners import text as learners_text
from experiments.learners.__main__ import FOLDER as LEARNERS
from experiments.learners.__main__ import N_LIVE, SEEDS, TRACKED
from experiments.tables import read_csv
from experiments.truth import text as truth_text

TRUTH = Path(truth_text.__file__).parent


def stored(path: Path) -> Path:
    if not path.exists():
        pytest.skip(
            f"{path.parent.name}/{path.name} is not there: run python -m experiments.{path.parent.name}"
        )
    return path


def rows_of(path: Path) -> list[dict[str, Any]]:
    return read_csv(stored(path))


def test_learners() -> None:
    summary = rows_of(LEARNERS / "summary.csv")
    made = learners_text.describe(summary, SEEDS, TRACKED, N_LIVE)
    assert stored(LEARNERS / "README.md").read_text() == made


def test_truth() -> None:
    summary = rows_of(TRUTH / "summary.csv")
    noise = float(np.mean([row["live_half_width"] for row in rows_of(TRUTH / "estimates.csv")]))
    made = truth_text.describe(summary, noise, stored(TRUTH / "tried.csv"))
    assert stored(TRUTH / "README.md").read_text() == made
