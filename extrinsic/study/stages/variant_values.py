"""The values of all trackers under one variant: those in fitted worlds brought to one level, and gains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from extrinsic.arrays import Floats
from extrinsic.registry import ESTIMATORS
from extrinsic.study.configuration.targets import GAIN, gain_terms
from extrinsic.study.stages.policy_spec import PolicyValue, PolicyValues
from extrinsic.study.stages.store import Result, Results, StageKey
from extrinsic.value.estimator import parts_of
from extrinsic.value.levelling import WorldValues, level
from extrinsic.value.paired import Paired
from extrinsic.value.world_value import (
    CORRECTION,
    DIFFERENCE,
    IN_WORLD,
    PLAYED,
    TRACKER_ERROR,
    TRAINING_NOISE,
    TREES,
    half_width,
)

TREES_ESTIMATOR = "fqe_augmented"


@dataclass(frozen=True, eq=False)
class TrackerValue:
    """A value of a tracker's policy with its influence (n_dialogs,), and what the stage says of the learner.

    components: the influence on the parts of a value in a fitted world.
    dialogs: how many the policy was learned from.
    """

    value: PolicyValue
    influence: Floats
    components: Mapping[str, Floats]
    learner: Mapping[str, float]
    dialogs: int


def variant_values(results: Results, keys: Mapping[str, Sequence[StageKey]]) -> dict[str, list[TrackerValue]]:
    """Every stored value by tracker; keys: the results that hold a tracker's values."""
    values: dict[str, list[TrackerValue]] = {}
    for tracker, of_tracker in keys.items():
        values[tracker] = []
        for key in of_tracker:
            stored = Result.decode(results.read(key), key, PolicyValues)
            values[tracker] += [stored_value(stored, number) for number in range(len(stored.values.values))]
    return with_gains(levelled(values))


def with_gains(values: dict[str, list[TrackerValue]]) -> dict[str, list[TrackerValue]]:
    """Values by tracker, and on each dataset the gain of the learned policy, where both of its terms are."""
    gained: dict[str, list[TrackerValue]] = {}
    for tracker, of_tracker in values.items():
        datasets: dict[str, dict[str, TrackerValue]] = {}
        for entry in of_tracker:
            datasets.setdefault(entry.value.dataset, {})[entry.value.target] = entry
        terms = {dataset: gain_terms(entries) for dataset, entries in datasets.items()}
        gained[tracker] = of_tracker + [
            _gain(datasets[dataset][names[0]], datasets[dataset][names[1]])
            for dataset, names in terms.items()
            if names is not None
        ]
    return gained


def _gain(learned: TrackerValue, logged: TrackerValue) -> TrackerValue:
    """The difference of two values over the same dialogs, resampled together."""
    value = learned.value
    difference = paired(learned).minus(paired(logged))
    low, high = difference.interval()
    if TRAINING_NOISE in value.diagnostics:
        half = half_width(learned.influence - logged.influence, value.diagnostics[TRAINING_NOISE])
        low, high = difference.mean - half, difference.mean + half
    row = PolicyValue(
        dataset=value.dataset,
        policy=value.policy,
        estimator=GAIN.partition(".")[2],
        mean=difference.mean,
        low=low,
        high=high,
        n=value.n,
        flags=value.flags,
        resampled_over=value.resampled_over,
    )
    return replace(learned, value=row, influence=learned.influence - logged.influence, components={})


def paired(entry: TrackerValue) -> Paired:
    """A value with the dialogs that its influence refers to, by name, and the parts of its estimator."""
    value = entry.value
    # Every policy is played against the same callers, whatever the dataset.
    dialogs = value.resampled_over if value.resampled_over == "callers" else f"dialogs of {value.dataset}"
    parts: dict[str, float] = {}
    if value.estimator in ESTIMATORS:
        estimator = ESTIMATORS.get(value.estimator)
        names = [part.name for part in parts_of(estimator)] if hasattr(estimator, "parts") else []
        parts = {name: value.diagnostics[name] for name in names}
    return Paired(
        value.mean, {dialogs: entry.influence}, parts, TRACKER_ERROR if IN_WORLD in value.diagnostics else 0.0
    )


def stored_value(stored: Result[PolicyValues], number: int) -> TrackerValue:
    names = (PLAYED, CORRECTION, TREES)
    return TrackerValue(
        stored.values.values[number],
        stored.arrays[f"influence{number}"],
        {name: stored.arrays[f"{name}{number}"] for name in names if f"{name}{number}" in stored.arrays},
        stored.values.learner,
        stored.values.dialogs,
    )


def levelled(values: dict[str, list[TrackerValue]]) -> dict[str, list[TrackerValue]]:
    """Values by tracker, those in fitted worlds levelled; unless every tracker has one on every dataset."""
    places: dict[tuple[str, str], dict[tuple[str, str], int]] = {}
    for tracker, of_tracker in values.items():
        for position, entry in enumerate(of_tracker):
            if entry.components:
                name = (entry.value.policy, entry.value.estimator)
                places.setdefault(name, {})[entry.value.dataset, tracker] = position
    for cells in places.values():
        datasets = list(dict.fromkeys(dataset for dataset, _ in cells))
        if len(cells) != len(datasets) * len(values):
            continue
        table = [[values[tracker][cells[dataset, tracker]] for tracker in values] for dataset in datasets]
        for row, of_dataset in zip(_levelled_table(table), datasets, strict=True):
            for entry, tracker in zip(row, values, strict=True):
                values[tracker][cells[of_dataset, tracker]] = entry
    return values


def _levelled_table(table: list[list[TrackerValue]]) -> list[list[TrackerValue]]:
    """table: by dataset and tracker."""

    def numbers(name: str) -> Floats:
        return np.array([[entry.value.diagnostics.get(name, np.nan) for entry in row] for row in table])

    def influences(name: str) -> tuple[Floats, ...]:
        return tuple(
            np.stack([entry.components.get(name, np.zeros_like(entry.influence)) for entry in row])
            for row in table
        )

    levelled = level(
        WorldValues(
            in_world=numbers(IN_WORLD),
            difference=numbers(DIFFERENCE),
            trees=numbers(TREES_ESTIMATOR),
            played=influences(PLAYED),
            correction=influences(CORRECTION),
            of_trees=influences(TREES),
        )
    )
    is_mixed = TREES in table[0][0].components
    means, changed = (levelled.mixed, levelled.of_mixed) if is_mixed else (levelled.world, levelled.of_world)
    return [
        [
            _with(entry, float(means[d, t]), changed[d][t], float(levelled.shrinkage[d, t]))
            for t, entry in enumerate(row)
        ]
        for d, row in enumerate(table)
    ]


def _with(entry: TrackerValue, mean: float, influence: Floats, shrinkage: float) -> TrackerValue:
    noise = float(np.hypot(entry.value.diagnostics[TRAINING_NOISE], shrinkage))
    half = half_width(influence, noise)
    value = msgspec.structs.replace(entry.value, mean=mean, low=mean - half, high=mean + half)
    return replace(entry, value=value, influence=influence)
