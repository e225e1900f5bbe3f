"""Cells of designed studies: a tracker in a world, its metrics, and what it earns under both kinds of policy.

The product plans, scores, learns and plays; nothing is correlated by it, the numbers become rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from extrinsic.arrays import Floats
from extrinsic.cli.progress import show_progress
from extrinsic.panel import rng_of
from extrinsic.parallel import run_in_parallel
from extrinsic.study.learn_stage import LearnTask
from extrinsic.study.plan import plan_study
from extrinsic.study.policy_values import EXPERT, LEARNED, LOGGED
from extrinsic.study.score_stage import ScoreTask
from extrinsic.study.settings import SimulationTable, StudySettings, TrackersTable
from extrinsic.study.store import Task
from extrinsic.tables import read_rows, write_rows
from extrinsic.typed_files import Whole

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
LOWER_IS_BETTER = ("l2", "l2_all")
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
    """A tracker in a world. Metrics: higher is better, over all turns.

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
    names, rows = tuple(plan_study(_in_world(study, worlds[0])).plan.tracker_names), list[Cell]()
    study = msgspec.structs.replace(study, trackers=TrackersTable(built_in=names))
    for world in worlds:
        path = runs / f"{world.world}_{world.dataset}_{world.seed}.csv"
        if not path.exists():
            bundles = plan_study(_in_world(study, world)).bundles
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
    values = {value.target: value for value in learn.run().values.values}
    row: dict[str, object] = {**msgspec.structs.asdict(world), "tracker": learn.system.name}
    row |= scores_of(score)[learn.unit.name]
    row["logged"] = values[f"{LOGGED}.observed"].mean
    for name, policy in (("learned", LEARNED), ("fixed", EXPERT)):
        live = values[f"{policy}.live"]
        served, turns = live.diagnostics["success"], live.diagnostics["turns"]
        row |= {name: live.mean, f"{name}_served": served, f"{name}_turns": turns}
    return msgspec.convert(row, Cell)


def scores_of(task: ScoreTask) -> dict[str, dict[str, float]]:
    """By dataset, the METRICS of a tracker: higher is better."""
    result, numbers = task.run(), dict[str, dict[str, float]]()
    for dataset, scores in result.values.datasets.items():
        found = {
            (row.metric, row.component.removeprefix("goal.")): row.value
            for row in scores.rows
            if row.schedule == SCHEDULE
        }
        values = {name: found[key] for name, key in METRICS.items()}
        numbers[dataset] = {
            name: float("nan") if value is None else (-value if name in LOWER_IS_BETTER else value)
            for name, value in values.items()
        }
    return numbers


def array_of(cells: Sequence[Any], name: str) -> Floats:
    """(n_worlds, n_trackers) a number of every cell, which has a world; the same trackers in every world."""
    n_worlds = len({(cell.world, cell.dataset, cell.seed) for cell in cells})
    return np.array([getattr(cell, name) for cell in cells], dtype=np.float64).reshape(n_worlds, -1)


@dataclass(frozen=True, eq=False)
class Weights:
    """How often each is drawn, in the first row once: worlds (n, n_worlds), trackers (n, n_trackers)."""

    worlds: Floats
    trackers: Floats

    @staticmethod
    def draw(units: Sequence[str], n_worlds: int) -> Weights:
        """Worlds and trackers drawn independently (pigeonhole bootstrap, Owen 2007).

        units: of each tracker, what it is drawn with (its base tracker). Never fewer than two of either,
        where there are as many.
        """
        rng = rng_of("cells", " ".join(units), n_worlds)
        names = list(dict.fromkeys(units))
        of_unit = np.array([names.index(unit) for unit in units])
        worlds, trackers = [np.ones(n_worlds)], [np.ones(len(units))]
        while len(worlds) <= RESAMPLES:
            chosen = rng.multinomial(n_worlds, np.full(n_worlds, 1.0 / n_worlds))
            drawn = rng.multinomial(len(names), np.full(len(names), 1.0 / len(names)))
            if np.count_nonzero(drawn) > 1 and np.count_nonzero(chosen) >= min(2, n_worlds):
                worlds.append(chosen.astype(np.float64))
                trackers.append(drawn[of_unit].astype(np.float64))
        return Weights(np.stack(worlds), np.stack(trackers))

    def products(self, x: Floats, y: Floats) -> Floats:
        """(n,) sums of products of (n_worlds, n_trackers), the means of worlds taken away."""
        share = self.trackers / self.trackers.sum(axis=1, keepdims=True)
        means = (share @ x.T) * (share @ y.T)
        return np.asarray((self.worlds * (share @ (x * y).T - means)).sum(axis=1))

    def r(self, x: Floats, y: Floats) -> Floats:
        """(n,) Pearson's r within worlds."""
        x, y = (values - values.mean(axis=1, keepdims=True) for values in (x, y))
        squares = self.products(x, x) * self.products(y, y)
        return np.asarray(self.products(x, y) / np.sqrt(np.maximum(squares, 1e-300)))


def with_interval(drawn: Floats) -> tuple[float, float, float]:
    """A number as observed, and its 95 % interval by the draws."""
    low, high = np.nanquantile(drawn[1:], [0.025, 0.975])
    return float(drawn[0]), float(low), float(high)
