"""The dialogs of a dataset as one tracker sees them, and the values of policies there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import msgspec
import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.model import Corpus
from extrinsic.policy.features import Features
from extrinsic.policy.learner import StatePolicy
from extrinsic.policy.live_policy import LivePolicy
from extrinsic.policy.reward import RewardFunction, fill_of
from extrinsic.policy.transitions import Transitions, transitions_of
from extrinsic.registry import ESTIMATORS
from extrinsic.simulation.datasets import logged_policy
from extrinsic.simulation.world import Policy
from extrinsic.storage import content_hash
from extrinsic.study.configuration.choices import Choice
from extrinsic.study.stages.inputs import (
    Part,
    RecentlyMade,
    RunningTracker,
    TrackerInput,
    Unit,
    corpus_of,
    output_of,
    running_tracker,
    trained_tracker,
)
from extrinsic.study.stages.logged_plays import FittedLogs, expert_live, fitted_logs, live_world
from extrinsic.study.stages.policy_spec import PolicySpec, PolicyValue
from extrinsic.study.stages.task import encoded
from extrinsic.value.augmented_states import augment
from extrinsic.value.diagnostics import checked, with_diagnostic
from extrinsic.value.estimator import Estimator
from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.fitted_play import CLONE_ERROR, FittedPlay
from extrinsic.value.live import COMPLETED, LIVE, LivePlay, completed_value, live_value, played_together
from extrinsic.value.mean_of import MeanOf
from extrinsic.value.result import Value
from extrinsic.value.world_value import WorldMixed

MOST_DIALOGS, MOST_OF_TRACKER = 8_000, 4_000
"""Played at once, of all trackers and of one: more gains nothing, and takes memory."""

_VALUATIONS: RecentlyMade[Valuation] = RecentlyMade(4)


def valuation_of(
    unit: Unit,
    tracker: TrackerInput,
    spec: PolicySpec,
    features: Features,
    reward: RewardFunction,
    part: Part,
) -> Valuation:
    """Variants that differ in the policy alone share test dialogs, and estimates of the logged policy."""
    same = Choice("")
    spec = msgspec.structs.replace(
        spec, learner=same, behaviour=same, threshold=0.0, policies=(), placebo=False, share=1.0
    )
    proxies = [proxy.identity for proxy in spec.proxies]
    plain = encoded(msgspec.structs.replace(spec, proxies=()))
    # A valuation plays in the world of a file: equal files of two studies may differ by the next play.
    key = content_hash(encoded(unit), tracker.identity, plain, *proxies, part.name)
    return _VALUATIONS.get(key, lambda: Valuation(unit, tracker, spec, features, reward, part))


def play_together(valuations: Sequence[tuple[Valuation, Sequence[StatePolicy | None]]]) -> None:
    """Play policies live, each for its valuation, which then has their values when they are asked for.

    The valuations are of one unit: they may differ in the tracker, the reward, and what it counts as filled.
    """
    plays = [
        _ToPlay(valuation, policy, play)
        for valuation, policies in valuations
        for policy, play in valuation.to_play(policies)
    ]
    for of_kind in _grouped(plays, lambda one: one.kind):
        # What is played of one tracker at once never depends on other trackers: the last bits of its scores
        # may depend on it.
        size = max(1, MOST_OF_TRACKER // of_kind[0].play.n_dialogs)
        chunks = [
            of_tracker[begin : begin + size]
            for of_tracker in _grouped(of_kind, lambda one: one.valuation.tracker.identity)
            for begin in range(0, len(of_tracker), size)
        ]
        while chunks:
            some = chunks.pop(0)
            while chunks and (len(some) + len(chunks[0])) * some[0].play.n_dialogs <= MOST_DIALOGS:
                some = some + chunks.pop(0)
            for one, value in zip(some, played_together([one.play for one in some]), strict=True):
                one.valuation.live.append((one.policy, value))


@dataclass(frozen=True, eq=False)
class _ToPlay:
    """A policy that is to be played for a valuation; None is the world's own."""

    valuation: Valuation
    policy: StatePolicy | None
    play: LivePlay

    @property
    def kind(self) -> tuple[int, int, bool]:
        """What has to be the same of dialogs that are played together."""
        play = self.play
        unfilled = play.reward is not None and fill_of(play.reward) is None
        return play.n_dialogs, play.seed, unfilled


def _grouped(plays: Sequence[_ToPlay], key: Callable[[_ToPlay], object]) -> list[list[_ToPlay]]:
    """Those with the same key together, each group where its first one was."""
    groups: dict[object, list[_ToPlay]] = {}
    for one in plays:
        groups.setdefault(key(one), []).append(one)
    return list(groups.values())


class Valuation:
    """The dialogs of one dataset as one tracker sees them, and the values of policies there."""

    def __init__(
        self,
        unit: Unit,
        tracker: TrackerInput,
        spec: PolicySpec,
        features: Features,
        reward: RewardFunction,
        part: Part,
    ) -> None:
        whole, believed = corpus_of(unit.test), output_of(tracker, unit, "test")
        chosen = part.chosen(whole.n_dialogs)
        everything = part.dialogs is None
        self.corpus: Corpus = whole if everything else whole.take(chosen)
        output = believed if everything else believed.take(chosen)
        self.dataset, self.spec, self.features, self.reward = part.name, spec, features, reward
        self.unit, self.tracker = unit, tracker
        self.transitions: Transitions = transitions_of(self.corpus, output, features, reward)
        self.estimators: tuple[Estimator, ...] = tuple(map(spec.estimator, spec.estimators))
        self.needs = {need for estimator in self.estimators for need in estimator.needs}
        self.augmented = None
        if "augmented_states" in self.needs:
            proxies = [output_of(proxy, unit, "test") for proxy in spec.proxies]
            proxies = proxies if everything else [proxy.take(chosen) for proxy in proxies]
            self.augmented = augment(self.transitions, self.corpus, output, proxies, reward)
        self.fitted: FittedLogs | None = None
        if "fitted_world" in self.needs:
            self.fitted = fitted_logs(unit, part, self.corpus, spec.world_dialogs, spec.live_seed)
        self.gaps: dict[str, float] = {}
        self.live: list[tuple[StatePolicy | None, Value]] = []

    def to_play(self, policies: Sequence[StatePolicy | None]) -> list[tuple[StatePolicy | None, LivePlay]]:
        """What is to be played of policies live: those that were not yet; None is the world's own policy."""
        if not any(estimator.name == LIVE for estimator in self.estimators):
            return []
        new = [policy for policy in policies if self._live_value(policy) is None]
        return [(policy, self._live_play(self._played(policy))) for policy in new]

    def _live_value(self, policy: StatePolicy | None) -> Value | None:
        return next((value for played, value in self.live if played is policy), None)

    def _played(self, policy: StatePolicy | None) -> Policy:
        if policy is not None:
            return LivePolicy(self.features, policy)
        expert, _ = logged_policy(live_world(self.unit))
        assert expert is not None
        return expert

    @cached_property
    def logged_values(self) -> list[Value]:
        """The return of the logged policy; where it can be played, also with the callers of live play."""
        value: Value = ESTIMATORS.get("observed").estimate(self._fixed_problem())
        logged = None
        if LIVE in self.spec.estimators:
            logged = expert_live(self.unit, self.spec.live_dialogs, self.spec.live_seed)
        if logged is None:
            return [value]
        earned = logged.returns(trained_tracker(self.tracker, self.unit), self.reward)
        return [value, *with_completed([live_value(logged.played, earned)])]

    @cached_property
    def expert_values(self) -> list[Value]:
        """The values of the world's own policy on the beliefs of the tracker: it can only be played."""
        play_together([(self, [None])])
        problem = replace(self._fixed_problem(), stage=self._live_play(self._played(None)))
        estimators = [estimator for estimator in self.estimators if "world" in estimator.needs]
        return with_completed(
            [
                (estimator.name == LIVE and self._live_value(None)) or estimator.estimate(problem)
                for estimator in estimators
            ]
        )

    def _fixed_problem(self) -> EvaluationProblem:
        """The logged decisions, for estimators that do not look at the probabilities of a policy."""
        actions = len(self.transitions.actions)
        return EvaluationProblem(self.transitions, np.full((len(self.transitions), actions), 1.0 / actions))

    def values_of(self, policy: StatePolicy) -> list[Value]:
        """The value of a policy by every estimator, and the share of live callers whom it serves."""
        return with_completed(self._values(policy, self.estimators))

    def _values(self, policy: StatePolicy, estimators: Sequence[Estimator]) -> list[Value]:
        """Means of estimators reuse the values of their parts."""
        play = self._live_play(self._played(policy)) if "world" in self.needs else None
        probabilities = policy.probabilities(self.transitions.states, self.transitions.possible)
        fitted = self.fitted_play(policy) if self.fitted is not None else None
        problem = EvaluationProblem(self.transitions, probabilities, self.augmented, play, fitted)
        live = self._live_value(policy)
        values = {} if live is None else {LIVE: checked(live, problem)}
        return [self._estimate(estimator, problem, values) for estimator in estimators]

    def first_value_of(self, policy: StatePolicy) -> Value:
        """The value by the estimator that a study prefers: live, in a fitted world, or the first it has."""
        names = [estimator.name for estimator in self.estimators]
        first = next((name for name in ("live", "world_mixed", "mean_augmented") if name in names), names[0])
        (value,) = self._values(policy, [self.estimators[names.index(first)]])
        return value

    def _estimate(self, estimator: Estimator, problem: EvaluationProblem, values: dict[str, Value]) -> Value:
        """values: those of this policy that are known already, parts of means among them."""
        if estimator.name not in values:
            values[estimator.name] = self._new_estimate(estimator, problem, values)
        return values[estimator.name]

    def _new_estimate(
        self, estimator: Estimator, problem: EvaluationProblem, values: dict[str, Value]
    ) -> Value:
        if isinstance(estimator, MeanOf | WorldMixed):
            parts = [self._estimate(part, problem, values) for part in estimator.parts]
            value = estimator.of(parts)
            if self.spec.on_policy and isinstance(estimator, MeanOf):
                gap = float(np.mean([part.diagnostics["on_policy_gap"] for part in parts]))
                value = with_diagnostic(value, "on_policy_gap", gap)
        else:
            value = estimator.estimate(problem)
            # A fitted world has the difference of the logged policy as a diagnostic of its own.
            own = "fitted_world" not in estimator.needs and estimator.resampled_over == "dialogs"
            if self.spec.on_policy and own:
                value = with_diagnostic(value, "on_policy_gap", self._gap(estimator, problem))
        return checked(value, problem)

    def _gap(self, estimator: Estimator, problem: EvaluationProblem) -> float:
        """The estimated value of the logged policy, less its observed return; computed once."""
        if estimator.name not in self.gaps:
            own = estimator.estimate(problem.behaviour(logged=True)).mean
            self.gaps[estimator.name] = float(own - self.transitions.returns().mean())
        return self.gaps[estimator.name]

    def fitted_play(self, policy: StatePolicy) -> FittedPlay:
        """How a policy is played in the world that was fitted to the logs."""
        assert self.fitted is not None
        running = running_tracker(self.tracker, self.unit)
        return FittedPlay(
            world=self.fitted.world,
            logged=self.fitted.logged,
            policy=LivePolicy(self.features, policy),
            tracker=running.tracker,
            tracker_error=CLONE_ERROR if running.is_clone else 0.0,
            flags=self._doubts(running),
            reward=self.reward,
            seed=self.spec.live_seed,
        )

    def _doubts(self, running: RunningTracker) -> tuple[str, ...]:
        """Flags of everything that is played in the fitted world."""
        misfit = self.fitted is not None and self.fitted.fit.misfit
        return tuple(name for name, applies in (("misfit", misfit), ("clone", not running.fits)) if applies)

    def _live_play(self, policy: Policy) -> LivePlay:
        return LivePlay(
            policy,
            trained_tracker(self.tracker, self.unit),
            live_world(self.unit),
            self.spec.live_dialogs,
            self.spec.live_seed,
            self.reward,
        )

    def stored(self, policy: str, value: Value) -> PolicyValue:
        return PolicyValue(
            dataset=self.dataset,
            policy=policy,
            estimator=value.estimator,
            mean=value.mean,
            low=value.low,
            high=value.high,
            n=value.n,
            feasible=(0.0, 1.0) if value.estimator == COMPLETED else self.transitions.feasible,
            flags=value.flags,
            diagnostics={name: float(number) for name, number in value.diagnostics.items()},
            resampled_over=value.resampled_over,
        )

    def in_corpus_order(self, value: Value, influence: Floats) -> Floats:
        """(n_dialogs,) the influence of every dialog of the corpus; of live play, of every caller."""
        if value.resampled_over == "callers":
            return influence
        position = {session: number for number, session in enumerate(self.corpus.sessions)}
        in_order = np.zeros(self.corpus.n_dialogs)
        in_order[[position[session] for session in self.transitions.sessions]] = influence
        return in_order


def with_completed(values: Sequence[Value]) -> list[Value]:
    """The values, and behind that of live play the share of its callers who were served."""
    return [
        part
        for value in values
        for part in ([value, completed_value(value)] if COMPLETED in value.components else [value])
    ]
