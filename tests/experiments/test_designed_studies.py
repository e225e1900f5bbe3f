"""Population, prices and worlds: summaries and texts of cells that are made up, so the answer is known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from experiments.live_cells import (
    KINDS,
    METRICS,
    Cell,
    Registered,
    Weights,
    World,
    compute_cell,
    with_interval,
)
from experiments.population import __main__ as population
from experiments.prices import __main__ as prices
from experiments.roc_links import RocCell, roc_links
from experiments.selection import Selection
from experiments.worlds import __main__ as worlds
from extrinsic.registry import WORLDS
from extrinsic.simulation.drawn_worlds import draw_worlds
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.planning import make_schedule
from extrinsic.study.tables.table_files import read_rows, write_rows
from extrinsic.toml_files import read_toml

BASES = ("hwu", "focus", "vote", "window", "yarbus")
COPIES = tuple(f"dosed({base}, temperature={number})" for base in BASES for number in ("0.5", "2"))
TRACKERS = (*(f"focus(discount={number / 20:g})" for number in range(8)), *BASES, *COPIES)
COST = {"wrong": 60.0, "missed": 20.0}


@pytest.fixture(scope="module")
def make_cell() -> Callable[..., Cell]:
    """A tracker of some quality; what is not calibrated hurts the fixed policy only, an error by its cost."""
    rng = np.random.default_rng(0)
    quality: dict[str, float] = {}

    def make(world: World, tracker: str) -> Cell:
        base, kind, dose = prices.dose_of(tracker)
        away = float(kind in ("overconfident", "underconfident"))
        good = quality.setdefault(base, float(rng.uniform()))
        row = dict.fromkeys(METRICS, good) | dict.fromkeys(KINDS, 0.2 - 0.1 * good)
        if kind in KINDS:
            row[kind] += 0.5 * dose
        row["l2"] -= 0.5 * away
        noise = rng.normal(0.0, 2.0, 2).tolist()
        learned = 100.0 * good - COST.get(kind, 0.0) * dose + noise[0]
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


def test_prices_are_what_errors_were_made_to_cost(
    made: Path, tmp_path: Path, make_cell: Callable[..., Cell], monkeypatch: pytest.MonkeyPatch
) -> None:
    dosed = read_study(prices.FOLDER / "config.toml").trackers.dosed
    assert dosed is not None
    forms = [f"{kind}={dose:g}" for kind, doses in dosed.doses.items() for dose in doses]
    trackers = [name for base in BASES for name in (base, *(f"dosed({base}, {form})" for form in forms))]
    named = read_toml(prices.FOLDER / "registered.toml", Registered).worlds
    cells = [make_cell(world, tracker) for world in named for tracker in trackers]
    write_rows(tmp_path / "cells.csv", cells, Cell, decimals=5)
    real = [msgspec.to_builtins(make_cell(World("dstc1", "a_to_b", 0), name)) for name in TRACKERS]
    write_rows(
        tmp_path / "real.csv", msgspec.convert(real, list[prices.RealCell]), prices.RealCell, decimals=5
    )
    monkeypatch.setattr(prices, "POPULATION", made)
    prices.write_summaries(tmp_path)
    table = Selection(read_rows(tmp_path / "prices.csv", prices.PriceRow))
    for kind, cost in COST.items():
        (row,) = table.where(of="learned", kind=kind).rows
        assert row.value == pytest.approx(-cost, abs=12.0)
    metric, _ = read_rows(tmp_path / "designed.csv", prices.Designed)
    assert metric.wrong > 2.0 * metric.missed > metric.overshot
    prices.write_texts(tmp_path, tmp_path)
    assert metric.form in (tmp_path / "README.md").read_text()


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
    changes = ["trackers.population.size=1", 'trackers.dosed.trackers=["hwu"]', "value.live_dialogs=40"]
    study = read_study(population.FOLDER / "config.toml", [*changes, 'simulation.datasets=["ds4"]'])
    bundle = make_schedule(study).bundles[-1]
    cell = compute_cell(World("bus", "ds4", 0), list(bundle))
    assert cell.tracker == "dosed(hwu, temperature=2)"
    assert cell.accuracy > 0.3 and cell.l2 < 0.0 < cell.wrong and cell.learned_turns > 2.0
