"""The page of the simulated studies follows from their committed table, and cells can be computed again."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from experiments.selection import Selection
from experiments.uncertainty.__main__ import EXPERIMENT, FOLDER, read_config
from experiments.uncertainty.studies import DECLARED, Cell, cell_rows, lines_of
from experiments.uncertainty.worlds import QUALITIES, SHAPES, World
from extrinsic.tables import read_rows
from extrinsic.verdict.choices import choices

CONFIG = read_config()
TINY = msgspec.structs.replace(
    CONFIG, n_systems=(6, 12, 16), n_datasets=(1, 2), n_metrics=(30,), studies=3, studies_of_most=2, draws=50
)


def test_the_page_is_that_of_the_table(tmp_path: Path) -> None:
    EXPERIMENT.write_texts(FOLDER, tmp_path)
    assert (tmp_path / "README.md").read_bytes() == (FOLDER / "README.md").read_bytes()


def test_every_cell_is_there_once() -> None:
    cells = read_rows(FOLDER / "cells.csv", Cell)
    assert len({(c.shape, c.quality, c.n_systems, c.n_datasets) for c in cells}) == len(cells)
    assert len(cells) == len(SHAPES) * len(QUALITIES) * len(CONFIG.n_systems) * len(CONFIG.n_datasets)


@pytest.mark.parametrize("shape", ["normal", "families"])
def test_a_tiny_run(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.uncertainty.studies.MANY", 300)
    cells = [row for quality in ("good", "unrelated") for row in cell_rows(TINY, True, shape, quality)]
    assert [cell.studies for cell in cells[:6]] == [3, 3, 3, 3, 2, 2]
    assert all(0 <= cell.promised <= 1 and cell.held >= 1 - cell.promised for cell in cells)
    lines = lines_of(cells)
    assert [(line.n_systems, line.studies) for line in lines] == [(6, 6), (12, 6), (16, 4)]
    assert cell_rows(TINY, True, shape, "good")[0] == cells[0]
    assert (shape, "good") in TINY.worlds(kept=False)
    assert {name for name, _ in TINY.worlds(kept=False)} == set(SHAPES) - set(CONFIG.kept_shapes)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_world_is_as_good_as_it_says(shape: str) -> None:
    """The declared are of every cluster; metrics of a cluster lose alike, and better ones less."""
    scores, values, families = World(shape, "good", 30, 2).draw(400, np.random.default_rng(1))
    assert (scores.shape, values.shape) == ((30, 2, 400), (2, 400))
    assert (len(set(families.tolist())) < 200) == (shape in ("families", "copies"))
    share = choices(scores[:DECLARED], values).share
    if shape != "aspects":  # of which every other cluster sees the smaller one
        assert share[:6] == pytest.approx(np.linspace(0.9, 0.3, 6), abs=0.2)
    assert share[0] > share[2] > share[4]
    assert share[6:] == pytest.approx(share[:4], abs=0.1)


def test_a_selection_by_hand() -> None:
    rows = read_rows(FOLDER / "cells.csv", Cell)[:18]
    selection = Selection(rows)
    some = selection.where(n_systems=[8, 12], quality="good")
    assert some.column("held") == [row.held for row in rows if row.n_systems in (8, 12)]
    assert selection.distinct("n_systems") == list(CONFIG.n_systems)
    assert selection.means("held", "n_systems", "quality")[8, "good"] == pytest.approx(
        np.mean([row.held for row in rows if row.n_systems == 8])
    )
    assert selection.in_percent("held").lowest("held") == 100.0 * min(row.held for row in rows)
