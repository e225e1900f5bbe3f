"""The text about Lee's wording follows from the committed tables, and a dictionary can be computed again.

Where the first test fails after a change of the text: `python -m experiments.lee_wording --text`; after a
change of what is computed, run the experiment again: `python -m experiments.lee_wording`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from experiments.lee_wording.__main__ import FOLDER, METHODS, PRESETS, World, write_texts
from experiments.lee_wording.literal_steps import CONFIG, REDUCED, STEPS
from experiments.lee_wording.tables import Filtered, Sparsified, StudyStep
from experiments.selection import Selection
from experiments.texts import UnsupportedClaim
from extrinsic.policy.behaviour import fit_behaviour
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.tables.table_files import read_rows, table_bytes, write_rows

TABLES: dict[str, type[msgspec.Struct]] = {
    "sparsification": Sparsified,
    "svm_height": Filtered,
    "literal_steps": StudyStep,
}


def test_the_text_is_rendered_from_the_tables(tmp_path: Path) -> None:
    """Every claim holds of the committed tables."""
    write_texts(FOLDER, tmp_path)
    assert (FOLDER / "README.md").read_text() == (tmp_path / "README.md").read_text()


def test_a_claim_that_the_tables_contradict(tmp_path: Path) -> None:
    for name in TABLES:
        (tmp_path / f"{name}.csv").write_bytes((FOLDER / f"{name}.csv").read_bytes())
    rows = read_rows(FOLDER / "sparsification.csv", Sparsified)
    changed = [msgspec.structs.replace(row, beyond=0.0) for row in rows]
    write_rows(tmp_path / "sparsification.csv", changed, Sparsified, decimals=3)
    with pytest.raises(UnsupportedClaim):
        write_texts(tmp_path, tmp_path)


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_written_as_they_are_read(name: str) -> None:
    path, kind = FOLDER / f"{name}.csv", TABLES[name]
    assert table_bytes(read_rows(path, kind), kind, decimals=3) == path.read_bytes()


def test_dictionaries_of_a_cell_are_those_of_the_table() -> None:
    seed, tracker, features = 201, "baseline", "compact"
    world, preset = World(seed, tracker, features), PRESETS[features]
    behaviour = fit_behaviour(preset.logistic, world.transitions)
    table = Selection(read_rows(FOLDER / "sparsification.csv", Sparsified))
    for method in METHODS:
        policy = replace(preset.learner, sparsification=method).fit(world.transitions, behaviour)
        (row,) = table.where(seed=seed, tracker=tracker, features=features, sparsification=method).rows
        assert (row.points, row.kernels) == (len(world.transitions), len(policy.basis))
        assert row.residual == pytest.approx(policy.fit.largest_residual, abs=1e-3)


def test_the_last_step_is_the_literal_study() -> None:
    changes = [change for step in STEPS.values() for change in step]
    assert read_study(CONFIG, [*REDUCED, *changes]) == read_study(CONFIG, REDUCED)
    assert read_study(CONFIG, [*REDUCED, *STEPS["as it was"]]) != read_study(CONFIG, REDUCED)
