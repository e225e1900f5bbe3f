"""Cells of designed studies: a tracker in a world, its metrics, and what it earns under both kinds of policy.

The product plans, scores, learns and plays; nothing is correlated by it, the numbers become rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.bounds import Whole
from extrinsic.cli.progress import show_progress
from extrinsic.corpus.fill import Fill
from extrinsic.correlation.coefficients import correlate
from extrinsic.correlation.resampling import rng_of
from extrinsic.metrics.filled import Filled
from extrinsic.metrics.priced import Priced
from extrinsic.parallel import run_in_parallel
from extrinsic.study.configuration.settings import SimulationTable, StudySettings, TrackersTable
from extrinsic.study.planning import make_schedule
from extrinsic.study.stages.learning import LearnTask
from extrinsic.study.stages.policy_spec import EXPERT, LEARNED, LOGGED
from extrinsic.study.stages.stored_scores import Measurements, ScoreTask
from extrinsic.study.stages.task import Task
from extrinsic.study.tables.table_files import read_rows, write_rows

KINDS = ("wrong", "missed", "overshot", "stale")
"""Of errors: what `priced` counts a turn."""

ARGMAX = Fill.parse("argmax")
ERRORS = {kind: Priced(**{name: float(name == kind) for name in KINDS}) for kind in KINDS}
METRICS = {
    "accuracy": ("accuracy", "joint"),
    "l2": ("l2", "joint"),
    "avgp": ("avgp", "joint"),
    "accuracy_all": ("accuracy", "all"),
    "l2_all": ("l2", "all"),
    "jga": ("jga(fill=argmax)", "state"),
    "slot_f1": ("slot_f1(fill=argmax)", "state"),
    "gca": ("gca(fill=argmax)", "state"),
    "fga": ("fga(0.5, fill=argmax)", "state"),
}
RESAMPLES = 2_000
SCHEDULE = 1


class World(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A simulated dataset; seed: of its callers, and of everything learned and played there."""

    world: str
    dataset: str
    seed: Whole


class Registered(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """registered.toml: the worlds that figures are reported on, named before the run."""

    worlds: tuple[World, ...]


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """A tracker in a world. Metrics: higher is better, over all turns; errors: a turn, by kind.

    learned, fixed: the live return of the policy learned on the tracker, and of the world's expert.
    """

    world: str
    dataset: str
    seed: int
    tracker: str
    accuracy: float
    l2: float
    avgp: float
    accuracy_all: float
    l2_all: float
    jga: float
    slot_f1: float
    gca: float
    fga: float
    wrong: float
    missed: float
    overshot: float
    stale: float
    logged: float
    learned: float
    learned_served: float
    learned_turns: float
    fixed: float
    fixed_served: float
    fixed_turns: float


def compute_cells(study: StudySettings, worlds: Sequence[World], output: Path, runs: Path) -> None:
    """Every tracker of a study in every world, to `cells.csv`; a population is drawn in the first of them.

    runs: keeps the cells of each world, so that what was interrupted goes on.
    """
    runs.mkdir(parents=True, exist_ok=True)
    names, rows = tuple(make_schedule(_in_world(study, worlds[0])).plan.tracker_names), list[Cell]()
    study = msgspec.structs.replace(study, trackers=TrackersTable(built_in=names))
    for world in worlds:
        path = runs / f"{world.world}_{world.dataset}_{world.seed}.csv"
        if not path.exists():
            bundles = make_schedule(_in_world(study, world)).bundles
            steps = run_in_parallel(compute_cell, [(world, list(bundle)) for bundle in bundles], -1)
            shown = show_progress(
                steps, len(bundles), path.stem, lambda cell: f"{cell.dataset} {cell.tracker}"
            )
            write_rows(path, list(shown), Cell, decimals=5)
        rows += read_rows(path, Cell)
    write_rows(output / "cells.csv", rows, Cell, decimals=5)


def add_runs(parser: argparse.ArgumentParser) -> None:
    """The option of experiments that compute cells."""
    parser.add_argument(
        "--runs", type=Path, default=Path("runs/cells"), metavar="DIR", help="where cells of worlds are kept"
    )


def _in_world(study: StudySettings, world: World) -> StudySettings:
    simulation = msgspec.structs.replace(
        study.simulation or SimulationTable(), world=world.world, datasets=(world.dataset,), seed=world.seed
    )
    return msgspec.structs.replace(study, seed=world.seed, simulation=simulation)


def compute_cell(world: World, bundle: list[Task]) -> Cell:
    """Score one tracker in one world, learn on it, and play both policies."""
    (score,) = (task for task in bundle if isinstance(task, ScoreTask))
    (learn,) = (task for task in bundle if isinstance(task, LearnTask))
    measured = Measurements.of(score.run(None), learn.unit.name)  # type: ignore[arg-type]
    found = {
        (row.metric, row.component.removeprefix("goal.")): row.value
        for row in measured.rows
        if row.schedule == SCHEDULE
    }
    numbers = {name: found[key] for name, key in METRICS.items()}
    numbers |= {kind: found[str(Filled(error, ARGMAX)), "state"] for kind, error in ERRORS.items()}
    signs = dict.fromkeys(("l2", "l2_all", *KINDS), -1.0)
    values = {value.target: value for value in learn.run(None).values.values}  # type: ignore[arg-type]
    row: dict[str, object] = {**msgspec.structs.asdict(world), "tracker": learn.tracker}
    for name, number in numbers.items():
        row[name] = float("nan") if number is None else signs.get(name, 1.0) * number
    row["logged"] = values[f"{LOGGED}.observed"].mean
    for name, policy in (("learned", LEARNED), ("fixed", EXPERT)):
        live = values[f"{policy}.live"]
        served, turns = live.diagnostics["success"], live.diagnostics["turns"]
        row |= {name: live.mean, f"{name}_served": served, f"{name}_turns": turns}
    return msgspec.convert(row, Cell)


def array_of(cells: Sequence[Cell], name: str) -> Floats:
    """(n_worlds, n_trackers) a number of every cell; the same trackers in every world."""
    n_worlds = len({(cell.world, cell.dataset, cell.seed) for cell in cells})
    return np.array([getattr(cell, name) for cell in cells], dtype=np.float64).reshape(n_worlds, -1)


def draw_units(units: Sequence[str], n_worlds: int) -> list[tuple[Ints, Ints]]:
    """Worlds and trackers of every resample (pigeonhole bootstrap, Owen 2007).

    units: of each tracker, what it is drawn with (its base tracker). Never fewer than two worlds or units
    where there are as many.
    """
    rng = rng_of("cells", " ".join(units), n_worlds)
    members = {unit: np.flatnonzero([other == unit for other in units]) for unit in dict.fromkeys(units)}
    names, drawn = list(members), list[tuple[Ints, Ints]]()
    while len(drawn) < RESAMPLES:
        worlds = rng.integers(0, n_worlds, n_worlds)
        chosen = rng.integers(0, len(names), len(names))
        if len(set(chosen.tolist())) > 1 and len(set(worlds.tolist())) >= min(2, n_worlds):
            drawn.append((worlds, np.concatenate([members[names[i]] for i in chosen])))
    return drawn


def r_within(metric: Floats, target: Floats) -> float:
    """Pearson's r of (n_worlds, n_trackers), the means of worlds taken away."""
    return float(correlate(metric[None], target[None], "pearson", "within")[0, 0])


def interval_of(drawn: Sequence[float]) -> tuple[float, float]:
    low, high = np.nanquantile(np.asarray(drawn), [0.025, 0.975])
    return float(low), float(high)
