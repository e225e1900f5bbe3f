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
from extrinsic.policy.imitation import SupervisedPolicy
from extrinsic.policy.learner import LearnedPolicy, StatePolicy
from extrinsic.policy.rewards import make_reward
from extrinsic.policy.saved_policies import KeptPolicy
from extrinsic.policy.transitions import Transitions, transitions_of
from extrinsic.registry import BEHAVIOURS, LEARNERS, REWARDS
from extrinsic.storage import content_hash
from extrinsic.study.dialog_inputs import RecentlyMade, Unit, corpus_of
from extrinsic.study.policy_values import EXPERT, KEPT, LEARNED, LOGGED, PolicyValue, PolicyValues
from extrinsic.study.store import Result, StageKey, Task, encoded, stage_key
from extrinsic.study.tracker_inputs import TrackerInput, output_of
from extrinsic.study.valuation import Valuation, play_together, valuation_of
from extrinsic.study.variants import PolicySpec
from extrinsic.value.diagnostics import DEFAULT, placebo, with_diagnostic
from extrinsic.value.live import LIVE

PLACEBO_ESTIMATOR = "lstd"


@dataclass(frozen=True)
class LearnTask:
    """Learn the policies of a tracker from the training dialogs of a unit, value them on its datasets."""

    unit: Unit
    system: TrackerInput
    spec: PolicySpec
    variant: str
    plugins: str = ""
    beside: tuple[LearnTask, ...] = ()
    """Other stages of this process on the same dialogs, with another reward or on another tracker: their
    policies are played at the same time. The results are the same without those of other trackers."""

    @cached_property
    def key(self) -> StageKey:
        return stage_key("learn", self.plugins, self.spec.foreign_code(), self.unit.identity, *self._identity)

    @property
    def _identity(self) -> tuple[bytes | str, ...]:
        """Of everything but the dialogs; proxies, as other trackers, count by their contents."""
        trackers = [tracker.identity for tracker in (self.system, *self.spec.proxies)]
        return encoded(msgspec.structs.replace(self.spec, proxies=())), *trackers

    @property
    def label(self) -> str:
        return f"{self.unit.name} {self.system.name} {self.variant}"

    def run(self) -> Result[PolicyValues]:
        _LEARNED.most = max(AT_LEAST_KEPT, 1 + len(self.beside))
        learned = self.learned()
        together = [learned]
        for other in self.beside:
            with suppress(ExtrinsicError):  # which its own stage reports
                together.append(other.learned())
        # In one order, whichever stage comes first: the last bits of a tracker's scores may depend on it.
        together.sort(key=lambda each: encoded(each.spec))
        valuations, policies = learned.valuations, learned.policies
        gains = self._placebo_gains(learned) if self.spec.placebo else [None] * len(valuations)
        stored: list[PolicyValue] = []
        arrays: dict[str, np.ndarray] = {}
        for name in self.spec.policies if self.spec.keep else ():
            if name in policies:
                learner = learned.learner if name == LEARNED else None
                kept = KeptPolicy.of(policies[name], learned.transitions, learner, name)
                arrays[f"{KEPT}{name}"] = np.frombuffer(kept.encode(), dtype=np.uint8)
        for number, (valuation, gain) in enumerate(zip(valuations, gains, strict=True)):
            # Policies that are played on a dataset; None is the world's own.
            plays = [
                each.valuations[number].to_play(map(each.policies.get, each.spec.policies))
                for each in together
            ]
            play_together([play for some in plays for play in some])
            values = [(LOGGED, value) for value in valuation.logged_values]
            for name in self.spec.policies:
                of_policy = valuation.expert_values if name == EXPERT else valuation.values_of(policies[name])
                values += [(name, value) for value in of_policy]
            for name, value in values:
                if gain is not None and name == LEARNED and value.resampled_over == "dialogs":
                    large = ("placebo_gain",) if gain > DEFAULT.placebo_gain else ()
                    flags = (*value.flags, *large)
                    value = replace(with_diagnostic(value, "placebo_gain", gain), flags=flags)
                arrays[f"influence{len(stored)}"] = valuation.in_corpus_order(value, value.influence)
                stored.append(valuation.stored(name, value))
        diagnostics = dict(cast(LearnedPolicy, policies[LEARNED]).diagnostics)
        return Result(PolicyValues(tuple(stored), diagnostics, learned.transitions.n_dialogs), arrays)

    def learned(self) -> Learned:
        """The policies, learned from the training dialogs; stages that are played together share them."""

        def make() -> Learned:
            unit, spec = self.unit, self.spec
            train = corpus_of(unit.train)
            features = spec.feature_map()
            reward = make_reward(REWARDS.get(spec.reward.name), train.domain, spec.reward.options)
            output = output_of(self.system, unit, "train")
            transitions = transitions_of(train, output, features, reward).take_share(spec.share)
            behaviour = self._behaviour(transitions)
            learner = spec.learner.make(LEARNERS)
            policies: dict[str, StatePolicy] = {
                LEARNED: learner.fit(transitions, behaviour),
                "sl": SupervisedPolicy(behaviour.model),
                "sl_sampled": SupervisedPolicy(behaviour.model, sampled=True),
            }
            valuations = [
                valuation_of(unit, self.system, spec, features, reward, part) for part in unit.parts
            ]
            return Learned(spec, learner, transitions, policies, valuations)

        # With the unit itself, not its identity: see `valuation_of`.
        return _LEARNED.get(content_hash(encoded(self.unit), *self._identity), make)

    def _behaviour(self, transitions: Transitions, is_placebo: bool = False) -> Behaviour:
        """P(a | s), which depends on neither reward nor learner: variants with the same states share it."""
        spec = self.spec
        model = spec.behaviour.make(BEHAVIOURS)
        parts = (spec.features, spec.conditions, spec.behaviour, spec.share, is_placebo)
        settings = map(msgspec.json.encode, parts)
        key = content_hash(self.unit.identity, self.system.identity, *settings)
        shared = _BEHAVIOURS.get(key, lambda: fit_behaviour(model, transitions, spec.threshold))
        return replace(shared, threshold=spec.threshold)

    def _placebo_gains(self, learned: Learned) -> list[float]:
        """The gain of a policy learned from shuffled actions, on every dataset."""

        def learn(shuffled: Transitions) -> StatePolicy:
            policy: StatePolicy = learned.learner.fit(shuffled, self._behaviour(shuffled, is_placebo=True))
            return policy

        tests = [valuation.transitions for valuation in learned.valuations]
        estimator = self.spec.estimator(PLACEBO_ESTIMATOR)
        return [result.gain for result in placebo(learn, learned.transitions, tests, estimator)]


@dataclass(frozen=True, eq=False)
class Learned:
    """The policies of a tracker under one variant, before they are valued; valuations: of every dataset."""

    spec: PolicySpec
    learner: Any
    transitions: Transitions
    policies: dict[str, StatePolicy]
    valuations: list[Valuation]


AT_LEAST_KEPT = 4
_LEARNED: RecentlyMade[Learned] = RecentlyMade(AT_LEAST_KEPT)
_BEHAVIOURS: RecentlyMade[Behaviour] = RecentlyMade(4)

MOST_BESIDE = 3
"""Stages of one tracker whose policies are played with those of another: a process keeps as many."""

MOST_TRACKERS, MOST_STAGES = 4, 16
"""Of one bundle: with more, what is played at once leaves the cache, and what was learned is kept."""

BUNDLES_A_PROCESS = 4
"""At least so many, or processes would wait for the last bundle."""


def with_other_rewards(bundle: Sequence[Task]) -> list[Task]:
    """The stages of one tracker; each that learns has those beside it that differ in the reward alone."""
    learned = [task for task in bundle if isinstance(task, LearnTask)]

    def beside(task: LearnTask) -> LearnTask:
        reward = task.spec.reward
        alike = [
            other
            for other in learned
            if other is not task and msgspec.structs.replace(other.spec, reward=reward) == task.spec
        ]
        return replace(task, beside=tuple(alike[:MOST_BESIDE]))

    return [beside(task) if isinstance(task, LearnTask) else task for task in bundle]


def with_other_trackers(bundles: Sequence[list[Task]], n_processes: int) -> list[list[Task]]:
    """Bundles of several trackers each, whose policies are played together: half of what live play costs does
    not depend on the number of dialogs. Every process still gets a few bundles.
    """
    most = min(MOST_TRACKERS, len(bundles) // (BUNDLES_A_PROCESS * n_processes))
    merged: list[list[Task]] = []
    for unit, group in groupby(bundles, key=_unit_played):
        alike = list(group)
        size = 1 if unit is None else max(1, min(most, MOST_STAGES // max(map(len, alike))))
        for begin in range(0, len(alike), size):
            bundle = [task for part in alike[begin : begin + size] for task in part]
            learned = [task for task in bundle if isinstance(task, LearnTask)]
            for number, task in enumerate(bundle):
                if isinstance(task, LearnTask):
                    name = task.system.name
                    others = [replace(other, beside=()) for other in learned if other.system.name != name]
                    bundle[number] = replace(task, beside=(*task.beside, *others))
            merged.append(bundle)
    return merged


def _unit_played(bundle: Sequence[Task]) -> Unit | None:
    """The unit whose world the policies of a bundle are played in; None where nothing is played live."""
    played = [task.unit for task in bundle if isinstance(task, LearnTask) and LIVE in task.spec.estimators]
    return played[0] if played else None
