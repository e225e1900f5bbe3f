"""The values of all trackers under one variant: as stored, and gains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from extrinsic.arrays import Floats
from extrinsic.registry import ESTIMATORS
from extrinsic.study.policy_spec import PolicyValue, PolicyValues
from extrinsic.study.store import Result, Results, StageKey
from extrinsic.study.targets import GAIN, gain_terms
from extrinsic.value.estimator import parts_of
from extrinsic.value.value import Paired


@dataclass(frozen=True, eq=False)
class TrackerValue:
    """A value of a tracker's policy with its influence (n_dialogs,), and what the stage says of the learner.

    dialogs: how many the policy was learned from.
    """

    value: PolicyValue
    influence: Floats
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
    return with_gains(values)


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
    return replace(learned, value=row, influence=learned.influence - logged.influence)


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
    return Paired(value.mean, {dialogs: entry.influence}, parts)


def stored_value(stored: Result[PolicyValues], number: int) -> TrackerValue:
    return TrackerValue(
        stored.values.values[number],
        stored.arrays[f"influence{number}"],
        stored.values.learner,
        stored.values.dialogs,
    )
