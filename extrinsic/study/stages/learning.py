"""The learning stage: the policies of one tracker under one variant, and their values."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any, cast

import msgspec
import numpy as np

from extrinsic.errors import ExtrinsicError
from extrinsic.policy.behaviour import Behaviour, fit_behaviour
from extrinsic.policy.kept_policy import KeptPolicy
from extrinsic.policy.learner import LearnedPolicy, StatePolicy
from extrinsic.policy.reward import make_reward
from extrinsic.policy.supervised import SupervisedPolicy
from extrinsic.policy.transitions import Transitions, transitions_of
from extrinsic.registry import BEHAVIOURS, LEARNERS, REWARDS
from extrinsic.storage import content_hash
from extrinsic.study.stages.inputs import RecentlyMade, TrackerInput, Unit, corpus_of, output_of
from extrinsic.study.stages.policy_spec import (
    EXPECTED,
    EXPERT,
    KEPT,
    LEARNED,
    LOGGED,
    PolicySpec,
    PolicyValue,
    PolicyValues,
)
from extrinsic.study.stages.store import Result, Results, StageKey
from extrinsic.study.stages.task import Task, encoded
from extrinsic.study.stages.valuation import Valuation, play_together, valuation_of
from extrinsic.study.stages.versions import code_version
from extrinsic.value.diagnostics import DEFAULT, with_diagnostic
from extrinsic.value.live import COMPLETED, LIVE
from extrinsic.value.placebo import placebo
from extrinsic.value.result import Value, mean_of_values

PLACEBO_ESTIMATOR = "lstd"


@dataclass(frozen=True)
class Beside:
    """What another stage learns on the same dialogs: with another reward, or on another tracker."""

    system: TrackerInput
    spec: PolicySpec


@dataclass(frozen=True)
class LearnTask:
    """Learn the policies of a tracker from the training dialogs of a unit, value them on its datasets."""

    unit: Unit
    system: TrackerInput
    spec: PolicySpec
    variant: str
    plugins: str = ""
    beside: tuple[Beside, ...] = ()
    """What other stages of this process learn on the same dialogs: their policies are played at the same
    time. The results are the same without those of other trackers."""

    inputs: tuple[StageKey, ...] = ()

    @cached_property
    def key(self) -> StageKey:
        plain = msgspec.structs.replace(self.spec, proxies=())
        trackers = [tracker.identity for tracker in (self.system, *self.spec.proxies)]
        settings = (self.plugins, encoded(plain), self.spec.foreign_code())
        return StageKey(
            "learn", content_hash(code_version(__name__), *settings, self.unit.identity, *trackers)
        )

    @property
    def label(self) -> str:
        return f"{self.unit.name} {self.system.name} {self.variant}"

    @property
    def tracker(self) -> str:
        return self.system.name

    def run(self, results: Results) -> Result[PolicyValues]:
        return learn_policies(self.unit, self.system, self.spec, self.beside)


MOST_TRACKERS, MOST_STAGES = 4, 16
"""Of one bundle: with more, what is played at once leaves the cache, and what was learned is kept."""

BUNDLES_A_PROCESS = 4
"""At least so many, or processes would wait for the last bundle."""


def with_other_trackers(bundles: Sequence[list[Task]], n_processes: int) -> list[list[Task]]:
    """Bundles of several trackers each, whose policies are played together: half of what live play costs does
    not depend on the number of dialogs. Every process still gets a few bundles.
    """
    most = min(MOST_TRACKERS, len(bundles) // (BUNDLES_A_PROCESS * n_processes))
    merged: list[list[Task]] = []
    for _, group in groupby(bundles, key=_unit_played):
        alike = list(group)
        size = max(1, min(most, MOST_STAGES // max(map(len, alike)))) if _unit_played(alike[0]) else 1
        for begin in range(0, len(alike), size):
            bundle = [task for part in alike[begin : begin + size] for task in part]
            merged.append([_beside_trackers(task, bundle) for task in bundle])
    return merged


def _unit_played(bundle: Sequence[Task]) -> Unit | None:
    """The unit whose world the policies of a bundle are played in; None where nothing is played live."""
    played = [task.unit for task in bundle if isinstance(task, LearnTask) and LIVE in task.spec.estimators]
    return played[0] if played else None


def _beside_trackers(task: Task, bundle: Sequence[Task]) -> Task:
    """A stage that learns, with those of other trackers in its bundle."""
    if not isinstance(task, LearnTask):
        return task
    learned = [other for other in bundle if isinstance(other, LearnTask)]
    others = [Beside(other.system, other.spec) for other in learned if other.tracker != task.tracker]
    return replace(task, beside=(*task.beside, *others))


@dataclass(frozen=True, eq=False)
class _Learned:
    """The policies of a tracker under one variant, before they are valued.

    halves: those learned from halves of the training dialogs.   valuations: one for every dataset.
    """

    spec: PolicySpec
    learner: Any
    transitions: Transitions
    policies: dict[str, StatePolicy]
    halves: list[StatePolicy]
    valuations: list[Valuation]

    def to_play(self, number: int) -> tuple[Valuation, list[StatePolicy | None]]:
        """The policies that are played on a dataset; None is the world's own."""
        return self.valuations[number], [*map(self.policies.get, self.spec.policies), *self.halves]


AT_LEAST_KEPT = 4
_LEARNED: RecentlyMade[_Learned] = RecentlyMade(AT_LEAST_KEPT)


def _learned(unit: Unit, tracker: TrackerInput, spec: PolicySpec) -> _Learned:
    """Learn from the training dialogs of a unit."""

    def make() -> _Learned:
        train = corpus_of(unit.train)
        features = spec.feature_map()
        reward = make_reward(REWARDS.get(spec.reward.name), train.domain, spec.reward.options)
        transitions = transitions_of(train, output_of(tracker, unit, "train"), features, reward)
        transitions = transitions.take_share(spec.share)
        behaviour = _behaviour(unit, tracker, spec, transitions)
        learner = spec.learner.make(LEARNERS)
        policies: dict[str, StatePolicy] = {
            LEARNED: learner.fit(transitions, behaviour),
            "sl": SupervisedPolicy(behaviour.model),
            "sl_sampled": SupervisedPolicy(behaviour.model, sampled=True),
        }
        valuations = [valuation_of(unit, tracker, spec, features, reward, part) for part in unit.parts]
        halves = _learned_from_halves(unit, spec, transitions)
        return _Learned(spec, learner, transitions, policies, halves, valuations)

    plain, proxies = msgspec.structs.replace(spec, proxies=()), [proxy.identity for proxy in spec.proxies]
    # With the unit itself, not its identity: see `valuation_of`.
    return _LEARNED.get(content_hash(encoded(unit), tracker.identity, encoded(plain), *proxies), make)


def learn_policies(
    unit: Unit, tracker: TrackerInput, spec: PolicySpec, beside: tuple[Beside, ...] = ()
) -> Result[PolicyValues]:
    """Learn from the training dialogs, value on every dataset of the unit."""
    _LEARNED.most = max(AT_LEAST_KEPT, 1 + len(beside))
    learned = _learned(unit, tracker, spec)
    together = [learned]
    for other in beside:
        with suppress(ExtrinsicError):  # which its own stage reports
            together.append(_learned(unit, other.system, other.spec))
    # In one order, whichever stage comes first: the last bits of a tracker's scores may depend on it.
    together.sort(key=lambda one: encoded(one.spec))
    valuations, transitions, policies = learned.valuations, learned.transitions, learned.policies
    gains: list[float | None] = [None] * len(valuations)
    if spec.placebo:
        gains = _placebo_gains(unit, tracker, spec, transitions, valuations)
    stored: list[PolicyValue] = []
    arrays: dict[str, np.ndarray] = {}
    for name in policies if spec.keep else ():
        if name not in spec.policies:
            continue
        learner = learned.learner if name == LEARNED else None
        kept = KeptPolicy.of(policies[name], transitions, learner, name)
        arrays[f"{KEPT}{name}"] = np.frombuffer(kept.encode(), dtype=np.uint8)
    for number, (valuation, gain) in enumerate(zip(valuations, gains, strict=True)):
        play_together([one.to_play(number) for one in together])
        values = [(LOGGED, value) for value in valuation.logged_values]
        for name in spec.policies:
            of_policy = valuation.expert_values if name == EXPERT else valuation.values_of(policies[name])
            values += [(name, value) for value in of_policy]
        if learned.halves:
            values.append((LEARNED, _expected(valuation, learned.halves)))
        for name, value in values:
            if gain is not None and name == LEARNED and value.resampled_over == "dialogs":
                value = _with_placebo(value, gain)
            arrays[f"influence{len(stored)}"] = valuation.in_corpus_order(value, value.influence)
            # The share of callers served is a value of its own, with its own influence.
            parts = {name: part for name, part in value.components.items() if name != COMPLETED}
            for part, influence in parts.items():
                arrays[f"{part}{len(stored)}"] = valuation.in_corpus_order(value, influence)
            stored.append(valuation.stored(name, value))
    fit = {
        valuation.dataset: valuation.fitted.fit.rows
        for valuation in valuations
        if valuation.fitted is not None
    }
    policy = cast(LearnedPolicy, policies[LEARNED])
    diagnostics, n_dialogs = dict(policy.diagnostics), transitions.n_dialogs
    return Result(PolicyValues(tuple(stored), diagnostics, n_dialogs, fit), arrays)


_BEHAVIOURS: RecentlyMade[Behaviour] = RecentlyMade(4)


def _behaviour(
    unit: Unit, tracker: TrackerInput, spec: PolicySpec, transitions: Transitions, is_placebo: bool = False
) -> Behaviour:
    """P(a | s), which depends on neither reward nor learner: variants with the same states share it."""
    model = spec.behaviour.make(BEHAVIOURS)
    parts = (spec.features, spec.conditions, spec.behaviour, spec.share, is_placebo)
    key = content_hash(unit.identity, tracker.identity, *(msgspec.json.encode(part) for part in parts))
    shared = _BEHAVIOURS.get(key, lambda: fit_behaviour(model, transitions, spec.threshold))
    return replace(shared, threshold=spec.threshold)


def _learned_from_halves(unit: Unit, spec: PolicySpec, transitions: Transitions) -> list[StatePolicy]:
    """Policies learned from random halves of the training dialogs: how much learning depends on them.

    What half of a sample gives differs from what all of it gives as much as samples of that size differ
    (Politis, Romano & Wolf 1999), so the spread is the noise of learning from all of them.
    """
    policies: list[StatePolicy] = []
    for number in range(spec.training_resamples):
        draw = np.random.default_rng(int(content_hash(unit.train.identity, str(number))[:16], 16))
        half = draw.permutation(transitions.n_dialogs)[: max(1, transitions.n_dialogs // 2)]
        some = transitions.take_dialogs(np.sort(half))
        behaviour = fit_behaviour(spec.behaviour.make(BEHAVIOURS), some, spec.threshold)
        policies.append(spec.learner.make(LEARNERS).fit(some, behaviour))
    return policies


def _expected(valuation: Valuation, policies: list[StatePolicy]) -> Value:
    """The mean value of policies by the study's first choice of an estimator, with their spread."""
    values = [valuation.first_value_of(policy) for policy in policies]
    mean = mean_of_values(EXPECTED, values)
    spread = float(np.std([value.mean for value in values], ddof=1)) if len(values) > 1 else 0.0
    return with_diagnostic(with_diagnostic(mean, "spread", spread), "resamples", float(len(values)))


def _placebo_gains(
    unit: Unit, tracker: TrackerInput, spec: PolicySpec, train: Transitions, valuations: list[Valuation]
) -> list[float | None]:
    """The gain of a policy learned from shuffled actions, on every dataset."""

    def learn(transitions: Transitions) -> StatePolicy:
        behaviour = _behaviour(unit, tracker, spec, transitions, is_placebo=True)
        policy: StatePolicy = spec.learner.make(LEARNERS).fit(transitions, behaviour)
        return policy

    tests = [valuation.transitions for valuation in valuations]
    return [result.gain for result in placebo(learn, train, tests, spec.estimator(PLACEBO_ESTIMATOR))]


def _with_placebo(value: Value, gain: float) -> Value:
    """A value of the learned policy with the gain of the placebo."""
    large = ("placebo_gain",) if gain > DEFAULT.placebo_gain else ()
    return replace(with_diagnostic(value, "placebo_gain", gain), flags=(*value.flags, *large))
