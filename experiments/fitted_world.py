"""The policies of a study of real calls in a world fitted to its log: a short run beside the study's own.

Argmax, the learned policy alone, all test calls of a half together. Nobody can be played live there; what
values in fitted worlds are worth where the truth is known: experiments/truth.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from experiments.dstc2.gains import Worth, worth_by_target
from experiments.dstc2.return_correlations import correlate_sample, without_fill
from experiments.estimate_rows import estimate_fields
from experiments.partial_correlations import with_logged
from experiments.runs import make_run
from experiments.selection import Selection
from extrinsic.correlation.resampling import Sample
from extrinsic.study.configuration.settings import StudySettings
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.finished_run import Run
from extrinsic.study.stages.variant_values import TrackerValue
from extrinsic.study.stored_panel import stored_panel
from extrinsic.study.tables.table_files import read_rows, write_rows
from extrinsic.value.world_value import TRAINING_NOISE, half_width

WORLD, OLDER, LOGGED = "rl.world_mixed", "rl.mean_augmented", "behaviour.observed"
VARIANT = "fill=argmax"
METRICS = ("slot_f1", "jga", "accuracy", "l2", "avgp", "roc.v2_ca05")
JOINT = ("joint", "goal.joint")
"""Metrics of all turns: of the joint goal, and of states filled by argmax."""
EVERY = "(mean)"
"""Instead of a tracker: the mean of all that are not degenerate."""

CHANGES = (
    f"metrics.names={list(METRICS)}".replace("'", '"'),
    'metrics.fill=["argmax"]',
    "metrics.schedules=[1]",
    'policy.policies=["rl"]',
    'reward.fill=["argmax"]',
    'value.estimators=["world_mixed", "mean_augmented"]',
    "value.on_policy=false",
    "value.placebo=false",
    "value.world_dialogs=4000",
    'correlation.primary="rl.world_mixed"',
    "correlation.permutations=99",
    "correlation.subsets=1",
    "sensitivity.vary={}",
)


class FitMeasure(msgspec.Struct, frozen=True):
    """A measure of the log, with a 95 % interval over its calls, and of the fitted world."""

    dataset: str
    measure: str
    logged: float | None
    low: float | None
    high: float | None
    fitted: float | None
    misfit: bool


class WorldValue(msgspec.Struct, frozen=True):
    """What the policy learned on a tracker is worth, in points; all calls together.

    logged: what the logged policy earned.   older: by `mean_augmented`, and older_gain: less `logged`.
    world: by `world_mixed`.   gain, low, high: `world` less `logged`, with a 95 % interval over calls, the
    level of the world and its clones.   flags: of `world_mixed`, on any dataset.
    """

    tracker: str
    core: bool
    logged: float
    older: float
    older_gain: float
    world: float
    gain: float
    low: float
    high: float
    flags: tuple[str, ...]


class WorldCorrelation(msgspec.Struct, frozen=True):
    """r of a metric with a target; kind: `world`, `older`, their difference, or the `gain` by world_mixed.

    `less accuracy`: of `world`, less that of accuracy.
    trackers: `all` or `core`.   low, high: 95 %, trackers and calls resampled; jackknife: over trackers.
    """

    trackers: str
    n: int
    kind: str
    metric: str
    r: float
    low: float
    high: float
    jackknife_low: float
    jackknife_high: float


TABLES: dict[str, type[msgspec.Struct]] = {
    "world_fit": FitMeasure,
    "world_values": WorldValue,
    "world_correlations": WorldCorrelation,
}


def world_settings(config: Path) -> StudySettings:
    settings = read_study(config, CHANGES)
    assert settings.corpus is not None
    corpus = msgspec.structs.replace(settings.corpus, datasets_by=None)
    return msgspec.structs.replace(settings, corpus=corpus)


def write_world_tables(config: Path, runs: Path, output: Path) -> None:
    """Make the run, or take the one that is there, and write its tables."""
    settings = world_settings(config)
    run = make_run(settings, runs / f"{settings.name}-fitted_world")
    rows: dict[str, Sequence[msgspec.Struct]] = {
        "world_fit": fit_rows(run),
        "world_values": list(value_rows(run)),
        "world_correlations": list(correlation_rows(run, settings)),
    }
    for name, kind in TABLES.items():
        write_rows(output / f"{name}.csv", rows[name], kind, decimals=3)


def read_world_tables(folder: Path) -> dict[str, Selection[Any]]:
    return {name: Selection(read_rows(folder / f"{name}.csv", kind)) for name, kind in TABLES.items()}


def fit_rows(run: Run) -> list[FitMeasure]:
    return [FitMeasure(*msgspec.structs.astuple(row)) for row in run.table("fit")]


def value_rows(run: Run) -> Iterator[WorldValue]:
    """Every tracker, and the mean of those that are not degenerate."""
    by_tracker, worths = run.values(VARIANT), {}
    for row in run.table("trackers"):
        values = by_tracker[row.tracker]
        worths[row.tracker] = worth = worth_by_target(values)
        mixed = [entry for entry in values if entry.value.target == WORLD]
        flags = dict.fromkeys(flag for entry in mixed for flag in entry.value.flags)
        yield _value_row(row.tracker, row.core, worth, _noise(mixed), tuple(flags))
    usual = [row.tracker for row in run.table("trackers") if not row.degenerate]
    noise = float(np.mean([_noise(_of_world(by_tracker[name])) for name in usual]))
    mean = {target: mean_worth([worths[name][target] for name in usual]) for target in (WORLD, OLDER, LOGGED)}
    yield _value_row(EVERY, False, mean, noise, ())


def _of_world(values: Sequence[TrackerValue]) -> list[TrackerValue]:
    return [entry for entry in values if entry.value.target == WORLD]


def _noise(mixed: Sequence[TrackerValue]) -> float:
    """Datasets share their level, so that their errors are not averaged out."""
    return float(np.mean([entry.value.diagnostics[TRAINING_NOISE] for entry in mixed]))


def mean_worth(worths: Sequence[Worth]) -> Worth:
    """The mean over trackers that saw the same calls."""
    influence = np.mean([worth.influence for worth in worths], axis=0)
    return Worth(float(np.mean([worth.mean for worth in worths])), influence)


def _value_row(
    tracker: str, core: bool, worth: dict[str, Worth], noise: float, flags: tuple[str, ...]
) -> WorldValue:
    world, older, logged = worth[WORLD], worth[OLDER], worth[LOGGED]
    gain, half = world.mean - logged.mean, half_width(world.influence - logged.influence, noise)
    return WorldValue(
        tracker,
        core,
        logged.mean,
        older.mean,
        older.mean - logged.mean,
        world.mean,
        gain,
        gain - half,
        gain + half,
        flags,
    )


def correlation_rows(run: Run, settings: StudySettings) -> Iterator[WorldCorrelation]:
    whole = stored_panel(run, VARIANT, (WORLD, OLDER, LOGGED))
    core = [row.tracker for row in run.table("trackers") if row.core]
    for group, members in (("all", list(whole.trackers)), ("core", core)):
        panel = whole.take_trackers(np.flatnonzero([name in members for name in whole.trackers]))
        sample = panel.sample
        observed = with_logged(sample.metrics, sample.targets[0], sample.targets[2])[1]
        drawn = with_logged(sample.metrics_drawn, sample.targets_drawn[:, 0], sample.targets_drawn[:, 2])[1]
        # Targets: world_mixed, the logged return, the gain, and the older estimate.
        targets = np.concatenate([observed, sample.targets[1:2]])
        targets_drawn = np.concatenate([drawn, sample.targets_drawn[:, 1:2]], axis=1)
        together_sample = Sample(sample.metrics, targets, sample.metrics_drawn, targets_drawn)
        estimates = correlate_sample(together_sample, panel, settings)
        places = {
            without_fill(metric): m
            for m, (metric, schedule, component, _) in enumerate(panel.metrics)
            if schedule == 1 and component in (*JOINT, "state") and not np.isnan(estimates.value[m]).any()
        }
        accuracy = estimates.take(places["accuracy"], 0)
        for metric, m in places.items():
            world, gain, older = (estimates.take(m, k) for k in (0, 2, 3))
            kinds = {"world": world, "older": older, "world less older": world.minus(older), "gain": gain}
            kinds["less accuracy"] = world.minus(accuracy)
            for kind, estimate in kinds.items():
                fields = estimate_fields(estimate, "r", settings.correlation.level)
                yield WorldCorrelation(group, len(panel.trackers), kind, metric, **fields)
