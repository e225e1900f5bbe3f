"""What the learning stage is told, and what it stores."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from extrinsic.plugins import hash_of_source
from extrinsic.policy.features import Features, find_features
from extrinsic.registry import BEHAVIOURS, BLOCKS, ESTIMATORS, LEARNERS, REWARDS
from extrinsic.study.settings import Component, Options
from extrinsic.study.tracker_inputs import TrackerInput
from extrinsic.value.estimator import Estimator, with_options
from extrinsic.value.value import ResampledOver

LEARNED, LOGGED, EXPERT = "rl", "behaviour", "expert"
"""Policies: learned on a tracker; that of the log, with its own tracker; and the same one on each tracker."""

KEPT = "policy."
"""The names of arrays that are files of policies begin with it."""


class PolicySpec(msgspec.Struct, frozen=True):
    """Everything that a policy and its values depend on, beside the dialogs and the tracker.

    threshold: of the filter.   proxies: the trackers that augment the state.   keep: the policies, too.
    share: of the training dialogs that are learned from.
    """

    features: str | tuple[str, ...]
    conditions: bool
    learner: Component
    behaviour: Component
    threshold: float
    reward: Component
    policies: tuple[str, ...]
    estimators: tuple[str, ...]
    estimator_options: dict[str, Options]
    proxies: tuple[TrackerInput, ...]
    live_dialogs: int
    live_seed: int
    on_policy: bool
    placebo: bool
    keep: bool = False
    share: float = 1.0

    def estimator(self, name: str) -> Estimator:
        """An estimator with the study's options."""
        estimator: Estimator = with_options(ESTIMATORS.get(name), self.estimator_options)
        return estimator

    def foreign_code(self) -> str:
        """A hash of the source of what is not ours; ours is part of the code's version."""
        chosen = ((LEARNERS, self.learner), (BEHAVIOURS, self.behaviour), (REWARDS, self.reward))
        things = [registry.get(choice.name) for registry, choice in chosen]
        things += [BLOCKS.get(name) for name in self.feature_map().blocks]
        return hash_of_source(*things, *map(ESTIMATORS.get, self.estimators))

    def feature_map(self) -> Features:
        return replace(find_features(self.features), conditions=self.conditions)


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
    """What the stage stores: values (array `influence<i>` for value i), and the learner's diagnostics.

    Where policies are kept, array `policy.<name>` is the file of a policy, as bytes.
    dialogs: how many were learned from.
    """

    values: tuple[PolicyValue, ...]
    learner: dict[str, float]
    dialogs: int = 0
