"""What stages store of policies: their values, outcomes among them, and the targets that these are."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from extrinsic.arrays import Floats
from extrinsic.registry import ESTIMATORS
from extrinsic.study.store import Result, StageKey, Store
from extrinsic.value.estimator import parts_of
from extrinsic.value.value import Paired, ResampledOver

LEARNED, LOGGED, EXPERT = "rl", "behaviour", "expert"
"""Policies: learned on a tracker; that of the log, with its own tracker; and the same one on each tracker."""

OUTCOME = "outcome"
"""In place of a policy: of a system, from the user's file or an evaluator."""

KEPT = "policy."
"""The names of arrays that are files of policies begin with it."""

PREFERRED = ("rl.live", "rl.mean_augmented")
"""The primary target of a study that names none: the first of these that it has."""

GAIN = "rl.gain"
"""What the learned policy earns beyond the logged one."""

LOGGED_RETURN, LOGGED_LIVE = "behaviour.observed", "behaviour.live"
"""What the logged policy earned in the log, and what it earns with the callers of live play; both by the
beliefs of each tracker."""


class PolicyValue(msgspec.Struct, frozen=True, kw_only=True):
    """The estimated value of a policy on a dataset; its influence is an array of the result."""

    dataset: str
    policy: str
    estimator: str
    mean: float
    low: float | None = None
    high: float | None = None
    n: int
    feasible: tuple[float, float] | None = None
    flags: tuple[str, ...] = ()
    diagnostics: dict[str, float] = {}
    resampled_over: ResampledOver = "dialogs"

    @property
    def target(self) -> str:
        """Its name as a target of correlations."""
        return f"{self.policy}.{self.estimator}"


class PolicyValues(msgspec.Struct, frozen=True):
    """What a stage stores: values (array `influence<i>` for value i), and the learner's diagnostics.

    Where policies are kept, array `policy.<name>` is the file of a policy, as bytes.
    dialogs: how many were learned from.
    """

    values: tuple[PolicyValue, ...]
    learner: dict[str, float] = {}
    dialogs: int = 0


@dataclass(frozen=True, eq=False)
class StoredValue:
    """A value of a tracker's policy with its influence (n_dialogs,), and what the stage says of the learner.

    dialogs: how many the policy was learned from.
    """

    tracker: str
    value: PolicyValue
    influence: Floats
    learner: Mapping[str, float]
    dialogs: int

    @property
    def paired(self) -> Paired:
        """With the dialogs that its influence refers to, by name, and the parts of its estimator."""
        value = self.value
        # Every policy is played against the same callers, whatever the dataset.
        by = value.resampled_over if value.resampled_over == "callers" else f"dialogs of {value.dataset}"
        parts: dict[str, float] = {}
        if value.estimator in ESTIMATORS:
            estimator = ESTIMATORS.get(value.estimator)
            names = [part.name for part in parts_of(estimator)] if hasattr(estimator, "parts") else []
            parts = {name: value.diagnostics[name] for name in names}
        return Paired(value.mean, {by: self.influence}, parts)


def stored_values(store: Store, keys: Mapping[str, Sequence[StageKey]]) -> list[StoredValue]:
    """Every value of some stages, tracker by tracker."""
    return [
        value
        for tracker, some in keys.items()
        for value in values_of(tracker, [Result.decode(store.read(key), key, PolicyValues) for key in some])
    ]


def values_of(tracker: str, results: Sequence[Result[PolicyValues]]) -> list[StoredValue]:
    """Every value of a tracker, and the gains that follow from them."""
    values = [
        StoredValue(tracker, value, result.arrays[f"influence{number}"], stored.learner, stored.dialogs)
        for result, stored in ((result, result.values) for result in results)
        for number, value in enumerate(stored.values)
    ]
    return [*values, *gains(values)]


def gains(values: Sequence[StoredValue]) -> Iterator[StoredValue]:
    """Of one tracker: on each dataset what its learned policy gains, where both terms of that are there."""
    datasets: dict[str, dict[str, StoredValue]] = {}
    for stored in values:
        datasets.setdefault(stored.value.dataset, {})[stored.value.target] = stored
    for by_target in datasets.values():
        terms = gain_terms(by_target)
        if terms is not None:
            learned, logged = (by_target[name] for name in terms)
            difference = learned.paired.minus(logged.paired)
            low, high = difference.interval()
            value = PolicyValue(
                dataset=learned.value.dataset,
                policy=learned.value.policy,
                estimator=GAIN.partition(".")[2],
                mean=difference.mean,
                low=low,
                high=high,
                n=learned.value.n,
                flags=learned.value.flags,
                resampled_over=learned.value.resampled_over,
            )
            yield replace(learned, value=value, influence=learned.influence - logged.influence)


def gain_terms(targets: Collection[str]) -> tuple[str, str] | None:
    """The two targets whose difference is the gain, of all that there are; None without any.

    With the same callers of live play where both policies are played, else by the estimate that a study
    prefers and the return of the same logged dialogs.
    """
    if PREFERRED[0] in targets and LOGGED_LIVE in targets:
        return PREFERRED[0], LOGGED_LIVE
    estimators = [name.removeprefix("rl.") for name in targets if name.startswith("rl.")]
    learned = [
        f"rl.{name}"
        for name in estimators
        if name in ESTIMATORS and ESTIMATORS.get(name).resampled_over == "dialogs"
    ]
    if not learned or LOGGED_RETURN not in targets:
        return None
    return next((name for name in PREFERRED if name in learned), learned[0]), LOGGED_RETURN
