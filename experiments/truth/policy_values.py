"""What learned policies are worth by each estimator, beside live play, in simulated logs.

The product plans a study and learns its policies; nothing is scored or correlated, the values become rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from experiments.truth.tables import PolicyEstimate, WorldFit
from extrinsic.arrays import Floats
from extrinsic.bounds import Whole
from extrinsic.simulation.fitted.goodness_of_fit import FitRow
from extrinsic.study.configuration.settings import SimulationTable, StudySettings
from extrinsic.study.planning import make_schedule
from extrinsic.study.stages.learning import LearnTask, learn_policies
from extrinsic.study.stages.policy_spec import LEARNED, LOGGED
from extrinsic.study.stages.variant_values import TrackerValue, levelled, stored_value
from extrinsic.value.levelling import kept_shares
from extrinsic.value.result import mean_of_dialogs
from extrinsic.value.world_value import CORRECTION, DIFFERENCE, IN_WORLD, WORLD_SHARE, level_correction

CEILING = "ceiling"
"""The policy played for as many calls as the test half has: what the noise of the log allows."""


SIDES = ("logged", "fitted")

PLAYED = ("live", "completed", "gain")
"""What comes from live play itself, and is no estimate of it."""


class Seeds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The seeds of each part of the experiment."""

    bus: tuple[Whole, ...]
    restaurants: tuple[Whole, ...]
    ablations: tuple[Whole, ...] = ()


class Targets(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What world_mixed is to reach: see registered.toml."""

    bias: float
    rmse: float
    r_core: float
    coverage: tuple[float, float]


class Registered(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """See registered.toml."""

    ablated: tuple[str, ...]
    level_error: float
    seeds: Seeds
    seen: Seeds
    targets: Targets


@dataclass(frozen=True, eq=False)
class TrackerCell:
    """The values of one tracker's policy in one log, and the fit of its world; degenerate: the tracker is."""

    seed: int
    dataset: str
    tracker: str
    degenerate: bool
    values: list[TrackerValue]
    fit: tuple[FitRow, ...]


def logs(study: StudySettings, seeds: Sequence[int]) -> list[list[LearnTask]]:
    """The tasks of all trackers, for every seed and dataset: they share a log and the world fitted to it."""
    by_log: dict[tuple[int, str], list[LearnTask]] = {}
    for seed in seeds:
        simulation = msgspec.structs.replace(study.simulation or SimulationTable(), seed=seed)
        settings = msgspec.structs.replace(study, seed=seed, simulation=simulation)
        for task in (task for bundle in make_schedule(settings).bundles for task in bundle):
            if isinstance(task, LearnTask):
                by_log.setdefault((seed, task.unit.name), []).append(task)
    return list(by_log.values())


def compute_log(*tasks: LearnTask) -> list[TrackerCell]:
    """Learn and value the policies of all trackers in one log."""
    return [compute_cell(task) for task in tasks]


def compute_cell(task: LearnTask) -> TrackerCell:
    """Learn and value the policy of one tracker in one log."""
    stored = learn_policies(task.unit, task.system, task.spec)
    values = [stored_value(stored, number) for number in range(len(stored.values.values))]
    fit = tuple(row for rows in stored.values.fit.values() for row in rows)
    return TrackerCell(task.spec.live_seed, task.unit.name, task.tracker, task.system.degenerate, values, fit)


def estimate_rows(world: str, computed: Sequence[TrackerCell]) -> Iterator[PolicyEstimate]:
    """The rows of all cells; the values in fitted worlds are levelled over the datasets of a seed."""
    for of_seed in _by_seed(computed):
        values: dict[str, list[TrackerValue]] = {}
        for cell in of_seed:
            values.setdefault(cell.tracker, []).extend(cell.values)
        together = levelled(values)
        for cell in of_seed:
            of_cell = [entry for entry in together[cell.tracker] if entry.value.dataset == cell.dataset]
            yield from _rows(world, cell, of_cell)


def fit_table(world: str, computed: Sequence[TrackerCell]) -> list[WorldFit]:
    """How well the worlds fit, by dataset; the trackers of a log share one."""
    fits = {(cell.dataset, cell.seed): cell.fit for cell in computed}
    rows = []
    for dataset in dict.fromkeys(dataset for dataset, _ in fits):
        of_dataset = [fit for (name, _), fit in fits.items() if name == dataset]
        for measure in zip(*of_dataset, strict=True):
            both = [row for row in measure if row.logged is not None and row.fitted is not None]
            if both:
                logged, fitted = (float(np.mean([getattr(row, name) for row in both])) for name in SIDES)
                misfits = sum(row.misfit for row in both)
                rows.append(WorldFit(world, dataset, both[0].measure, len(both), logged, fitted, misfits))
    return rows


def _by_seed(computed: Sequence[TrackerCell]) -> list[list[TrackerCell]]:
    seeds = dict.fromkeys(cell.seed for cell in computed)
    return [[cell for cell in computed if cell.seed == seed] for seed in seeds]


def part_rows(world: str, computed: Sequence[TrackerCell]) -> Iterator[PolicyEstimate]:
    """The estimate of the fitted world without parts of it; these have no interval."""
    for of_seed in _by_seed(computed):
        datasets = list(dict.fromkeys(cell.dataset for cell in of_seed))
        trackers = list(dict.fromkeys(cell.tracker for cell in of_seed))
        place = {(cell.dataset, cell.tracker): cell for cell in of_seed}
        mixed = [[_mixed(place[dataset, tracker]) for tracker in trackers] for dataset in datasets]
        in_world, difference, trees = (
            np.array([[entry.value.diagnostics[name] for entry in row] for row in mixed])
            for name in (IN_WORLD, DIFFERENCE, "fqe_augmented")
        )
        levels, whole = np.median(difference, axis=1), _deviation(difference)
        corrections = [
            np.stack([_mixed(place[dataset, tracker]).components[CORRECTION] for tracker in trackers])
            for dataset in datasets
        ]
        noise = [np.sum((part - part.mean(axis=0)) ** 2, axis=1) for part in corrections]
        own = kept_shares(whole, np.array(noise)) * whole
        common = np.array([np.sum(part.mean(axis=0) ** 2) for part in corrections])
        level = level_correction(levels, common).value[:, None]
        left_out = {
            "without corrections": in_world,
            "without own difference": in_world + level,
            "without level": in_world + own,
            "with the whole level": in_world + levels[:, None] + own,
            "with the whole own difference": in_world + level + whole,
        }
        variants = {f"world {name}": values for name, values in left_out.items()}
        variants |= {f"world_mixed {name}": _mix(values, trees) for name, values in left_out.items()}
        for cell in of_seed:
            live = _live(cell.values).value
            at = datasets.index(cell.dataset), trackers.index(cell.tracker)
            where = (world, cell.seed, cell.dataset, cell.tracker, cell.degenerate)
            for name, values in variants.items():
                value = float(values[at])
                yield PolicyEstimate(*where, name, value, value, value, live.mean, 0.0, ())


def _mixed(cell: TrackerCell) -> TrackerValue:
    (entry,) = (entry for entry in cell.values if entry.value.estimator == "world_mixed")
    return entry


def _deviation(table: Floats) -> Floats:
    return np.asarray(table - np.median(table, axis=1, keepdims=True))


def _mix(world: Floats, trees: Floats) -> Floats:
    return np.asarray(world + (1.0 - WORLD_SHARE) * (_deviation(trees) - _deviation(world)))


def _rows(world: str, cell: TrackerCell, values: Sequence[TrackerValue]) -> Iterator[PolicyEstimate]:
    live = _live(values)
    (observed,) = (entry for entry in values if entry.value.estimator == "observed")
    returns = live.value.mean + live.value.n * live.influence
    n_test = observed.value.n
    ceiling, truth = mean_of_dialogs(CEILING, returns[:n_test]), mean_of_dialogs("live", returns[n_test:])
    shown: list[tuple[str, float, float, float, tuple[str, ...]]] = [
        (CEILING, ceiling.mean, ceiling.low, ceiling.high, ())
    ]
    shown += [
        (value.estimator, value.mean, _end(value.low), _end(value.high), value.flags)
        for value in (entry.value for entry in values)
        if value.estimator not in PLAYED and value.policy in (LOGGED, LEARNED)
    ]
    for estimator, mean, low, high, flags in shown:
        half_width = (truth.high - truth.low) / 2.0
        where = (world, cell.seed, cell.dataset, cell.tracker, cell.degenerate)
        yield PolicyEstimate(*where, estimator, mean, low, high, truth.mean, half_width, flags)


def _live(values: Sequence[TrackerValue]) -> TrackerValue:
    """The live return of the learned policy."""
    (live,) = (e for e in values if (e.value.policy, e.value.estimator) == (LEARNED, "live"))
    return live


def _end(bound: float | None) -> float:
    assert bound is not None
    return bound
