"""What learned policies are worth by each estimator, beside live play, in simulated logs.

The product plans a study and learns its policies; nothing is scored or correlated, the values become rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec

from experiments.truth.tables import PolicyEstimate
from extrinsic.study.learn_stage import LearnTask
from extrinsic.study.plan import plan_study
from extrinsic.study.policy_values import LEARNED, LOGGED, StoredValue, values_of
from extrinsic.study.settings import SimulationTable, StudySettings
from extrinsic.typed_files import Whole
from extrinsic.value.value import mean_of_dialogs

CEILING = "ceiling"
"""The policy played for as many calls as the test half has: what the noise of the log allows."""


PLAYED = ("live", "completed", "gain")
"""What comes from live play itself, and is no estimate of it."""


class Seeds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The seeds of each part of the experiment."""

    bus: tuple[Whole, ...]
    restaurants: tuple[Whole, ...]


class Registered(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """See registered.toml."""

    seeds: Seeds
    seen: Seeds


@dataclass(frozen=True, eq=False)
class TrackerCell:
    """The values of one tracker's policy in one log; degenerate: the tracker is."""

    seed: int
    dataset: str
    tracker: str
    degenerate: bool
    values: list[StoredValue]


def logs(study: StudySettings, seeds: Sequence[int]) -> list[list[LearnTask]]:
    """The tasks of all trackers, for every seed and dataset: they share a log."""
    by_log: dict[tuple[int, str], list[LearnTask]] = {}
    for seed in seeds:
        simulation = msgspec.structs.replace(study.simulation or SimulationTable(), seed=seed)
        settings = msgspec.structs.replace(study, seed=seed, simulation=simulation)
        for task in (task for bundle in plan_study(settings).bundles for task in bundle):
            if isinstance(task, LearnTask):
                by_log.setdefault((seed, task.unit.name), []).append(task)
    return list(by_log.values())


def compute_log(*tasks: LearnTask) -> list[TrackerCell]:
    """Learn and value the policies of all trackers in one log."""
    return [compute_cell(task) for task in tasks]


def compute_cell(task: LearnTask) -> TrackerCell:
    """Learn and value the policy of one tracker in one log."""
    values = values_of(task.system.name, [replace(task, beside=()).run()])
    return TrackerCell(task.spec.live_seed, task.unit.name, task.system.name, task.system.degenerate, values)


def estimate_rows(world: str, computed: Sequence[TrackerCell]) -> Iterator[PolicyEstimate]:
    """The rows of all cells."""
    for cell in computed:
        yield from _rows(world, cell, cell.values)


def _rows(world: str, cell: TrackerCell, values: Sequence[StoredValue]) -> Iterator[PolicyEstimate]:
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


def _live(values: Sequence[StoredValue]) -> StoredValue:
    """The live return of the learned policy."""
    (live,) = (e for e in values if (e.value.policy, e.value.estimator) == (LEARNED, "live"))
    return live


def _end(bound: float | None) -> float:
    assert bound is not None
    return bound
