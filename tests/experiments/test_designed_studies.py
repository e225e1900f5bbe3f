"""Population and worlds: summaries and texts of cells that are made up, so the answer is known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from experiments.live_cells import (
    METRICS,
    Cell,
    Registered,
    Weights,
    World,
    compute_cell,
    with_interval,
)
from experiments.population import __main__ as population
from experiments.roc_links import RocCell, roc_links
from experiments.selection import Selection
from experiments.worlds import __main__ as worlds
from extrinsic.registry import WORLDS
from extrinsic.simulation.world_files import draw_worlds
from extrinsic.study.plan import plan_study
from extrinsic.study.settings_file import read_study
from extrinsic.tables import read_rows, write_rows
from extrinsic.typed_files import read_toml

BASES = ("hwu", "focus", "vote", "window", "yarbus")
COPIES = tuple(f"recalibrated({base}, temperature={number})" for base in BASES for number in ("0.5", "2"))
TRACKERS = (*(f"focus(discount={number / 20:g})" for number in range(8)), *BASES, *COPIES)


@pytest.fixture(scope="module")
def make_cell() -> Callable[..., Cell]:
    """A tracker of some quality; what is not calibrated hurts the fixed policy only."""
    rng = np.random.default_rng(0)
    quality: dict[str, float] = {}

    def make(world: World, tracker: str) -> Cell:
        base = population.base_of(tracker)
        away = float(base != tracker)
        good = quality.setdefault(base, float(rng.uniform()))
        row = dict.fromkeys(METRICS, good)
        row["l2"] -= 0.5 * away
        noise = rng.normal(0.0, 2.0, 2).tolist()
        learned = 100.0 * good + noise[0]
        earned = {"learned": learned, "fixed": learned - 40.0 * away + noise[1], "logged": 50.0 * good}
        others = dict.fromkeys(
            (f"{p}_{what}" for p in ("learned", "fixed") for what in ("served", "turns")), 1.0
        )
        named = {**msgspec.structs.asdict(world), "tracker": tracker}
        return msgspec.convert({**named, **row, **earned, **others}, Cell)

    return make


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, make_cell: Callable[..., Cell]) -> Path:
    folder = tmp_path_factory.mktemp("population")
    named = read_toml(population.FOLDER / "registered.toml", Registered).worlds
    cells = [make_cell(world, tracker) for world in named for tracker in TRACKERS]
    write_rows(folder / "cells.csv", cells, Cell, decimals=5)
    population.write_summaries(folder)
    return folder


def test_the_contrast_is_found_where_it_was_put(made: Path, tmp_path: Path) -> None:
    table = Selection(read_rows(made / "contrasts.csv", population.Contrast))
    for world in ("bus", "restaurants", "both"):
        (row,) = table.where(world=world, group="all", what="contrast").rows
        (alone,) = table.where(world=world, group="without copies", what="contrast").rows
        assert row.value > 0.2 and row.low >= 0.0
        assert abs(alone.value) < 0.05
        (ratio,) = table.where(world=world, what="ratio of deviations").rows
        assert ratio.low > 2.0
    population.write_texts(made, tmp_path)
    assert "**bus: " in (tmp_path / "README.md").read_text()
    assert "<svg" in (tmp_path / "population.svg").read_text()


def test_weighted_correlations_are_those_of_repeated_units() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 3, 6))
    weights = Weights.draw(list("aabbcd"), 3)
    worlds, trackers = (row[5].astype(int) for row in (weights.worlds, weights.trackers))
    again = [np.repeat(np.repeat(values, trackers, axis=1), worlds, axis=0) for values in (x, y)]
    centred = [values - values.mean(axis=1, keepdims=True) for values in again]
    assert weights.r(x, y)[5] == pytest.approx(np.corrcoef(centred[0].ravel(), centred[1].ravel())[0, 1])
    assert with_interval(weights.r(x, y))[0] == weights.r(x, y)[0]


def test_worlds_are_summarised(tmp_path: Path, make_cell: Callable[..., Cell]) -> None:
    drawn = read_toml(worlds.FOLDER / "registered.toml", worlds.Drawn)
    named = [
        World(kind, name, 7)
        for kind, base in drawn.base.items()
        for name in draw_worlds([base], drawn.draws, WORLDS.get(kind).read().properties, {}, 7)
    ]
    cells = [make_cell(world, tracker) for world in named for tracker in TRACKERS[:13]]
    moved = [msgspec.structs.replace(cell, l2=cell.l2 + 0.1 * (i % 3)) for i, cell in enumerate(cells)]
    moved = [
        msgspec.structs.replace(cell, accuracy=cell.accuracy + 0.1 * (i % 2)) for i, cell in enumerate(moved)
    ]
    write_rows(tmp_path / "cells.csv", moved, Cell, decimals=5)
    worlds.write_summaries(tmp_path)
    for row in read_rows(tmp_path / "varying.csv", worlds.Varying):
        assert row.new_low <= row.low <= row.r <= row.high <= row.new_high
    worlds.write_texts(tmp_path, tmp_path)
    assert f"{len(named)} worlds are drawn" in (tmp_path / "README.md").read_text()


def test_roc_given_accuracy_is_the_correlation_of_residuals() -> None:
    rng = np.random.default_rng(3)
    accuracy, noise, other = rng.normal(size=(3, 12))
    roc, value = accuracy + noise, accuracy + other
    cells = [RocCell("a", "b", f"t{i}", accuracy[i], roc[i], value[i]) for i in range(12)]
    links = {link.what: link for link in roc_links(cells)}
    residuals = [x - np.polyval(np.polyfit(accuracy, x, 1), accuracy) for x in (roc, value)]
    assert links["given"].r == pytest.approx(np.corrcoef(*residuals)[0, 1])
    assert links["accuracy"].r == pytest.approx(np.corrcoef(roc, accuracy)[0, 1])
    assert links["return"].low < links["return"].r < links["return"].high


def test_a_cell_is_computed() -> None:
    trackers = 'trackers.built_in=["recalibrated(hwu, temperature=2)"]'
    changes = ["trackers.population.size=1", trackers, "value.live_dialogs=40"]
    study = read_study(population.FOLDER / "config.toml", [*changes, 'simulation.datasets=["ds4"]'])
    bundle = plan_study(study).bundles[0]
    cell = compute_cell(World("bus", "ds4", 0), list(bundle))
    assert cell.tracker == "recalibrated(hwu, temperature=2)"
    assert cell.accuracy > 0.3 and cell.l2 < 0.0 and cell.learned_turns > 2.0
