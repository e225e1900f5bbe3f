"""The dialogs of a dataset as one tracker sees them, and the values of policies there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import msgspec
import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput, build_output
from extrinsic.policy.features import Features
from extrinsic.policy.learner import LivePolicy, StatePolicy
from extrinsic.policy.rewards import RewardFunction, fill_of, returns
from extrinsic.policy.transitions import Transitions, transitions_of
from extrinsic.registry import ESTIMATORS
from extrinsic.simulation.datasets import logged_policy
from extrinsic.simulation.play import Play, play
from extrinsic.simulation.single_world import World
from extrinsic.simulation.world import LockstepWorld
from extrinsic.storage import content_hash
from extrinsic.study.dialog_inputs import Part, RecentlyMade, SimulatedDialogs, Unit, corpus_of
from extrinsic.study.policy_values import PolicyValue
from extrinsic.study.settings import Component
from extrinsic.study.store import encoded
from extrinsic.study.tracker_inputs import TrackerInput, output_of, trained_tracker
from extrinsic.study.variants import PolicySpec
from extrinsic.trackers.track import hypotheses_of
from extrinsic.value.diagnostics import checked, with_diagnostic
from extrinsic.value.estimator import Estimator, EvaluationProblem, LivePlay
from extrinsic.value.live import COMPLETED, LIVE, completed_value, live_value, played_together
from extrinsic.value.lstd import augment
from extrinsic.value.mean_of import MeanOf
from extrinsic.value.value import Value

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
    same = Component("")
    spec = msgspec.structs.replace(
        spec, learner=same, behaviour=same, threshold=0.0, policies=(), placebo=False, share=1.0
    )
    proxies = [proxy.identity for proxy in spec.proxies]
    plain = encoded(msgspec.structs.replace(spec, proxies=()))
    # features and reward follow from spec. The unit has the hash of a world's file, which may change between
    # two studies of one process.
    key = content_hash(encoded(unit), tracker.identity, plain, *proxies, part.name)
    return _VALUATIONS.get(key, lambda: Valuation(unit, tracker, spec, features, reward, part))


@dataclass(frozen=True, eq=False)
class ToPlay:
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


def play_together(plays: Sequence[ToPlay]) -> None:
    """Play policies live, each for its valuation, which then has their values when they are asked for.

    The valuations are of one unit: they may differ in the tracker, the reward, and what it counts as filled.
    """
    for alike in _grouped(plays, lambda entry: entry.kind):
        # What is played of one tracker at once never depends on other trackers: the last bits of its scores
        # may depend on it.
        n_dialogs = alike[0].play.n_dialogs
        size = max(1, MOST_OF_TRACKER // n_dialogs)
        chunks = [
            of_tracker[begin : begin + size]
            for of_tracker in _grouped(alike, lambda entry: entry.valuation.tracker.identity)
            for begin in range(0, len(of_tracker), size)
        ]
        while chunks:
            some = chunks.pop(0)
            while chunks and (len(some) + len(chunks[0])) * n_dialogs <= MOST_DIALOGS:
                some = some + chunks.pop(0)
            values = played_together([entry.play for entry in some])
            for entry, value in zip(some, values, strict=True):
                entry.valuation.live.append((entry.policy, value))


def _grouped(plays: Sequence[ToPlay], key: Callable[[ToPlay], object]) -> list[list[ToPlay]]:
    """Those with the same key together, each group where its first one was."""
    groups: dict[object, list[ToPlay]] = {}
    for entry in plays:
        groups.setdefault(key(entry), []).append(entry)
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
        self.corpus: Corpus = part.of(corpus_of(unit.test))
        output = part.of(output_of(tracker, unit, "test"))
        self.dataset, self.spec, self.features, self.reward = part.name, spec, features, reward
        self.unit, self.tracker = unit, tracker
        self.transitions: Transitions = transitions_of(self.corpus, output, features, reward)
        self.estimators: tuple[Estimator, ...] = tuple(map(spec.estimator, spec.estimators))
        self.needs = {need for estimator in self.estimators for need in estimator.needs}
        self.augmented = None
        if "augmented_states" in self.needs:
            proxies = [part.of(output_of(proxy, unit, "test")) for proxy in spec.proxies]
            self.augmented = augment(self.transitions, self.corpus, output, proxies, reward)
        self.gaps: dict[str, float] = {}
        self.live: list[tuple[StatePolicy | None, Value]] = []

    def to_play(self, policies: Iterable[StatePolicy | None]) -> list[ToPlay]:
        """What is to be played of policies live: those that were not yet; None is the world's own policy."""
        if LIVE not in self.spec.estimators:
            return []
        new = [policy for policy in policies if self._live_value(policy) is None]
        return [ToPlay(self, policy, self._live_play(policy)) for policy in new]

    def _live_value(self, policy: StatePolicy | None) -> Value | None:
        return next((value for played, value in self.live if played is policy), None)

    @cached_property
    def logged_values(self) -> list[Value]:
        """The return of the logged policy; where it can be played, also with the callers of live play."""
        value: Value = ESTIMATORS.get("observed").estimate(self._fixed_problem())
        played = None
        if LIVE in self.spec.estimators:
            played = expert_live(self.unit, self.spec.live_dialogs, self.spec.live_seed)
        if played is None:
            return [value]
        earned = returns(played.corpus, self.reward(played.corpus, self._beliefs_about(played.corpus)))
        return [value, *with_completed([live_value(played, earned)])]

    def _beliefs_about(self, dialogs: Corpus) -> TrackerOutput:
        """Of the tracker, about dialogs of the logged policy: all rewards of one tracker need the same."""

        def make() -> TrackerOutput:
            tracker = trained_tracker(self.tracker, self.unit)
            hypotheses = hypotheses_of([(tracker, np.arange(dialogs.n_dialogs))], dialogs)
            # Rewards need no joint hypotheses, and making them costs more than all the rest.
            return build_output(dialogs, "logged", hypotheses)[0]

        play = f"{self.spec.live_dialogs} {self.spec.live_seed}"
        output = _LOGGED_BELIEFS.get(f"{self.tracker.identity} {self.unit.identity} {play}", make)
        # They may be about the same calls of another play.
        return output if output.vocabulary is dialogs.vocabulary else make()

    @cached_property
    def expert_values(self) -> list[Value]:
        """The values of the world's own policy on the beliefs of the tracker: it can only be played."""
        play_together(self.to_play([None]))
        problem = replace(self._fixed_problem(), stage=self._live_play(None))
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
        """The value of a policy by every estimator, and the share of live callers whom it serves.

        Means of estimators reuse the values of their parts.
        """
        play = self._live_play(policy) if "world" in self.needs else None
        probabilities = policy.probabilities(self.transitions.states, self.transitions.possible)
        problem = EvaluationProblem(self.transitions, probabilities, self.augmented, play)
        live = self._live_value(policy)
        values = {} if live is None else {LIVE: checked(live, problem)}
        return with_completed([self._estimate(estimator, problem, values) for estimator in self.estimators])

    def _estimate(self, estimator: Estimator, problem: EvaluationProblem, values: dict[str, Value]) -> Value:
        """values: those of this policy that are known already, parts of means among them."""
        if estimator.name in values:
            return values[estimator.name]
        gap = None
        if isinstance(estimator, MeanOf):
            parts = [self._estimate(part, problem, values) for part in estimator.parts]
            value = estimator.of(parts)
            if self.spec.on_policy:
                gap = float(np.mean([part.diagnostics["on_policy_gap"] for part in parts]))
        else:
            value = estimator.estimate(problem)
            if self.spec.on_policy and estimator.resampled_over == "dialogs":
                # The estimated value of the logged policy, less its observed return; computed once.
                if estimator.name not in self.gaps:
                    own = estimator.estimate(problem.behaviour(logged=True)).mean
                    self.gaps[estimator.name] = float(own - self.transitions.returns().mean())
                gap = self.gaps[estimator.name]
        value = checked(value if gap is None else with_diagnostic(value, "on_policy_gap", gap), problem)
        values[estimator.name] = value
        return value

    def _live_play(self, policy: StatePolicy | None) -> LivePlay:
        world = live_world(self.unit)
        played = logged_policy(world)[0] if policy is None else LivePolicy(self.features, policy)
        assert played is not None
        return LivePlay(
            played,
            trained_tracker(self.tracker, self.unit),
            world,
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


_LOGGED_PLAYS: RecentlyMade[Play | None] = RecentlyMade(2)
_LOGGED_BELIEFS: RecentlyMade[TrackerOutput] = RecentlyMade(1)


def expert_live(unit: Unit, n_dialogs: int, seed: int) -> Play | None:
    """The logged policy on its own tracker with the callers of live play; None where it cannot be run.

    No tracker, reward or fill rule of a study changes these dialogs: they are played once for all of them, as
    the log was, and each tracker's beliefs about them are rewarded.
    """

    def make() -> Play | None:
        world = live_world(unit)
        policy, tracker = logged_policy(world)
        if policy is None or tracker is None:
            return None
        return play(policy, tracker, n_dialogs, seed, world, joint=False)

    return _LOGGED_PLAYS.get(f"{unit.identity} {n_dialogs} {seed}", make)


def live_world(unit: Unit) -> World | LockstepWorld:
    """The world that the test dialogs of a unit come from."""
    assert isinstance(unit.test, SimulatedDialogs)
    return unit.test.simulation.world(unit.test.dataset, unit.test.split)
