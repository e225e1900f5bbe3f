"""What learned policies are worth by each estimator: in simulated worlds beside live play, and on real calls.

The product plans a study and learns its policies; nothing is scored or correlated, the values become rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from experiments.truth.estimator_variants import VARIANTS, registered_variants
from experiments.truth.tables import PolicyEstimate, RealValue
from extrinsic.study.configuration.settings import SimulationTable, StudySettings
from extrinsic.study.planning import make_schedule
from extrinsic.study.stages.learning import LEARNED, LOGGED, LearnTask, PolicyValue, learn_policies

SEEDS = (301, 302, 303)
"""Worlds that were not used while building."""

BUILT_ON = 7
"""A world that was: for the variants."""

AUGMENTED = ("lstd_augmented", "fqe_augmented", "mean_augmented")
OTHER_PROXIES = ("rank_only", "last_turn")
"""Unlike the expert's tracker, neither takes back what is denied nor keeps the highest score."""


def estimate_cells(study: StudySettings) -> list[tuple[LearnTask, LearnTask]]:
    """The arguments of `estimate_rows`, for every seed, dataset and tracker."""
    others = _with_value(study, estimators=AUGMENTED, proxies=OTHER_PROXIES)
    return [
        cell
        for seed in SEEDS
        for cell in zip(_simulated_tasks(study, seed), _simulated_tasks(others, seed), strict=True)
    ]


def estimate_rows(task: LearnTask, others: LearnTask) -> list[PolicyEstimate]:
    """Of one tracker in one world; `others`: the same with other proxies."""
    again = [
        msgspec.structs.replace(value, estimator=f"{value.estimator} (other proxies)")
        for value in _values(others)[LEARNED]
    ]
    return _beside_live(task, [*_values(task)[LEARNED], *again])


def variant_cells(study: StudySettings) -> list[tuple[LearnTask]]:
    """The arguments of `variant_rows`, for every dataset and tracker."""
    names = ("observed", "lstd_augmented", "fqe_augmented", *VARIANTS, "live")
    variants = _with_value(study, estimators=names, on_policy=False)
    with registered_variants():
        return [(task,) for task in _simulated_tasks(variants, BUILT_ON)]


def variant_rows(task: LearnTask) -> list[PolicyEstimate]:
    """Of one tracker in one world."""
    with registered_variants():
        return _beside_live(task, _values(task)[LEARNED])


def real_cells(study: StudySettings) -> list[tuple[LearnTask, LearnTask]]:
    """The arguments of `real_rows`, for every tracker: with the dialog manager in the state, and without."""
    blind = msgspec.structs.replace(study.policy, conditions=False)
    both = (study, msgspec.structs.replace(study, policy=blind))
    return list(zip(*map(_learn_tasks, both), strict=True))


def real_rows(*tasks: LearnTask) -> list[RealValue]:
    """Every policy of one tracker."""
    rows = []
    for task in tasks:
        values_by_policy = _values(task)
        (observed,) = values_by_policy[LOGGED]
        for policy in task.spec.policies:
            values = {value.estimator: value for value in values_by_policy[policy]}
            flags = {flag for value in values.values() for flag in value.flags} - {"placebo_gain"}
            gain = values["mean_augmented"].diagnostics.get("placebo_gain")
            means = {name: value.mean for name, value in values.items()}
            rows.append(
                RealValue(
                    tracker=task.tracker,
                    manager=task.spec.conditions,
                    policy=policy,
                    observed=observed.mean,
                    **means,
                    placebo_gain=gain,
                    flags=tuple(sorted(flags)),
                )
            )
    return rows


def _with_value(study: StudySettings, **changes: Any) -> StudySettings:
    return msgspec.structs.replace(study, value=msgspec.structs.replace(study.value, **changes))


def _simulated_tasks(study: StudySettings, seed: int) -> list[LearnTask]:
    worlds = msgspec.structs.replace(study.simulation or SimulationTable(), seed=seed)
    return _learn_tasks(msgspec.structs.replace(study, seed=seed, simulation=worlds))


def _learn_tasks(study: StudySettings) -> list[LearnTask]:
    tasks = (task for bundle in make_schedule(study).bundles for task in bundle)
    return [task for task in tasks if isinstance(task, LearnTask)]


def _beside_live(task: LearnTask, values: Sequence[PolicyValue]) -> list[PolicyEstimate]:
    (live,) = (value for value in values if value.estimator == "live")
    low, high = _interval(live)
    where = (task.spec.live_seed, task.unit.name, task.tracker, task.system.degenerate)
    return [
        PolicyEstimate(
            *where,
            value.estimator,
            value.mean,
            *_interval(value),
            live.mean,
            (high - low) / 2.0,
            value.diagnostics.get("on_policy_gap", float("nan")),
            value.flags,
        )
        for value in values
        if value is not live
    ]


def _interval(value: PolicyValue) -> tuple[float, float]:
    assert value.low is not None and value.high is not None
    return value.low, value.high


def _values(task: LearnTask) -> dict[str, list[PolicyValue]]:
    """By policy."""
    values = learn_policies(task.unit, task.system, task.spec).values.values
    policies = (LOGGED, *task.spec.policies)
    return {policy: [value for value in values if value.policy == policy] for policy in policies}
