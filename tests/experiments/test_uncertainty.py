"""The simulated studies, as they stand in the repository, are those that the code makes.

Where these fail after a change of a text, make it anew from the stored tables (`write_texts`); after a change
of what it tells of, run the experiment again: `python -m experiments.uncertainty`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.tables import rounded
from experiments.uncertainty.__main__ import FOLDER, Config, cells_of, run_cell, write_texts
from experiments.uncertainty.worlds import (
    N_DATASETS,
    N_DIALOGS,
    World,
    draw_dialogs,
    draw_means,
    draw_truth,
    draw_weights,
    one_metric,
    resample_dialogs,
)
from extrinsic.toml_files import read_toml
from tests.experiments.test_texts import rows_of, stored

TABLES = ("coverage", "null", "differences", "independent")


def config() -> Config:
    return read_toml(str(FOLDER / "config.toml"), Config)


def tables() -> dict[str, list[dict[str, Any]]]:
    return {table: rows_of(FOLDER / f"{table}.csv") for table in TABLES}


def test_the_text_is_made_from_the_tables(tmp_path: Path) -> None:
    write_texts(tables(), config(), tmp_path)
    assert stored(FOLDER / "README.md").read_text() == (tmp_path / "README.md").read_text()
    assert "<svg" in (tmp_path / "uncertainty.svg").read_text()


@pytest.mark.parametrize(("table", "row"), [("independent", 0), ("null", 0)])
def test_a_cell_again(table: str, row: int) -> None:
    """The first of the table: random numbers are a cell's own, so that it can be made by itself."""
    _, found = run_cell(table, cells_of(config())[table][row])
    assert rounded(found) == [tables()[table][row]]


def test_every_cell_has_its_rows() -> None:
    expected = cells_of(config())
    for table, rows in tables().items():
        places = [
            key for key in ("population", "n_trackers", "n_points", "r", "r_a", "r_b") if key in rows[0]
        ]
        found = list(dict.fromkeys(tuple(row[key] for key in places) for row in rows))
        wanted = dict.fromkeys(tuple(getattr(cell, key) for key in places) for cell in expected[table])
        assert found == list(wanted)
    assert len({cell.number for cells in expected.values() for cell in cells}) == sum(
        map(len, expected.values())
    )


def many(world: World, n: int = 4_000) -> Any:
    """True values of many trackers, within datasets."""
    values = draw_truth(one_metric(world.population, n, world.correlations[0][1]), np.random.default_rng(0))
    return values - values.mean(axis=-1, keepdims=True)


@pytest.mark.parametrize("population", ["normal", "noisy", "heavy", "degenerate"])
@pytest.mark.parametrize("r", [0.0, 0.5, 0.9])
def test_the_truth_is_what_many_trackers_show(population: str, r: float) -> None:
    world = one_metric(population, 8, r)
    metric, target = many(world)
    found = np.corrcoef(metric.ravel(), target.ravel())[0, 1]
    assert found == pytest.approx(world.truth(), abs=0.12 if population == "heavy" else 0.05)


def test_means_drawn_at_once_are_those_of_dialogs() -> None:
    """Their spread around the truth, and how metric and target and trackers hang together in it."""
    world, rng = one_metric("noisy", 6, 0.5), np.random.default_rng(1)
    truth = draw_truth(world, rng)
    by_dialogs = np.stack([draw_dialogs(world, truth, rng).mean(axis=-1) - truth for _ in range(600)])
    at_once = np.stack([draw_means(world, truth, rng) - truth for _ in range(600)])
    unit = world.noise**2 / N_DIALOGS
    for noise in (by_dialogs, at_once):
        assert noise.var() == pytest.approx(unit, rel=0.1)
        assert (noise[:, 0] * noise[:, 1]).mean() == pytest.approx(world.noise_r * unit, rel=0.15)
        assert (noise[:, 0, :, 0] * noise[:, 0, :, 1]).mean() == pytest.approx(0.5 * unit, rel=0.25)


def test_resampled_dialogs_by_hand() -> None:
    """The weights are counts of a draw with replacement; every tracker of a dataset meets the same."""
    weights = draw_weights(7, np.random.default_rng(2))
    assert weights.shape == (N_DATASETS, 7, N_DIALOGS)
    counts = weights * N_DIALOGS
    assert counts == pytest.approx(np.round(counts))
    assert counts.sum(axis=-1) == pytest.approx(N_DIALOGS)
    dialogs = draw_dialogs(
        one_metric("normal", 3, 0.5), np.zeros((2, N_DATASETS, 3)), np.random.default_rng(3)
    )
    drawn = resample_dialogs(dialogs, weights)
    repeated = np.repeat(np.arange(N_DIALOGS), np.round(counts[1, 4]).astype(int))
    assert drawn[4, 0, 1, 2] == pytest.approx(dialogs[0, 1, 2, repeated].mean())
