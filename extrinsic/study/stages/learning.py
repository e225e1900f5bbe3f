"""The learning stage: the policies of one tracker under one variant, and their values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import msgspec
import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.model import Corpus
from extrinsic.plugins import hash_of_source
from extrinsic.policy.behaviour import Behaviour, fit_behaviour
from extrinsic.policy.features import Features, find_features
from extrinsic.policy.learner import LearnedPolicy, StatePolicy
from extrinsic.policy.live_policy import LivePolicy
from extrinsic.policy.reward import RewardFunction, make_reward
from extrinsic.policy.supervised import SupervisedPolicy
from extrinsic.policy.transitions import Transitions, transitions_of
from extrinsic.registry import BEHAVIOURS, BLOCKS, ESTIMATORS, LEARNERS, REWARDS
from extrinsic.storage import content_hash
from extrinsic.study.configuration.choices import Choice
from extrinsic.study.configuration.settings import Options
from extrinsic.study.stages.inputs import (
    Part,
    RecentlyMade,
    SimulatedDialogs,
    TrackerInput,
    Unit,
    corpus_of,
    output_of,
    trained_tracker,
)
from extrinsic.study.stages.store import Result, Results, StageKey
from extrinsic.study.stages.task import encoded
from extrinsic.study.stages.versions import code_version
from extrinsic.value.augmented_states import augment
from extrinsic.value.diagnostics import DEFAULT, checked, with_diagnostic
from extrinsic.value.estimator import Estimator, with_options
from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.live import LivePlay
from extrinsic.value.mean_of import MeanOf
from extrinsic.value.placebo import placebo
from extrinsic.value.result import ResampledOver, Value

LEARNED, LOGGED = "rl", "behaviour"
PLACEBO_ESTIMATOR = "lstd"


class PolicySpec(msgspec.Struct, frozen=True):
    """Everything that a policy and its values depend on, beside the dialogs and the tracker.

    threshold: of the filter.   proxies: the trackers that augment the state.
    """

    features: str | tuple[str, ...]
    conditions: bool
    learner: Choice
    behaviour: Choice
    threshold: float
    reward: Choice
    policies: tuple[str, ...]
    estimators: tuple[str, ...]
    estimator_options: dict[str, Options]
    proxies: tuple[TrackerInput, ...]
    live_dialogs: int
    live_seed: int
    on_policy: bool
    placebo: bool

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
    """What the stage stores: values (array `influence<i>` for value i), and the learner's diagnostics."""

    values: tuple[PolicyValue, ...]
    learner: dict[str, float]


@dataclass(frozen=True)
class LearnTask:
    """Learn the policies of a tracker from the training dialogs of a unit, value them on its datasets."""

    unit: Unit
    system: TrackerInput
    spec: PolicySpec
    variant: str
    plugins: str = ""

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
        return learn_policies(self.unit, self.system, self.spec)


def learn_policies(unit: Unit, tracker: TrackerInput, spec: PolicySpec) -> Result[PolicyValues]:
    """Learn from the training dialogs, value on every dataset of the unit."""
    train = corpus_of(unit.train)
    features = spec.feature_map()
    reward = make_reward(REWARDS.get(spec.reward.name), train.domain, spec.reward.options)
    transitions = transitions_of(train, output_of(tracker, unit, "train"), features, reward)
    behaviour = _behaviour(unit, tracker, spec, transitions)
    learned: LearnedPolicy = spec.learner.make(LEARNERS).fit(transitions, behaviour)
    policies: dict[str, StatePolicy] = {
        LEARNED: learned,
        "sl": SupervisedPolicy(behaviour.model),
        "sl_sampled": SupervisedPolicy(behaviour.model, sampled=True),
    }
    valuations = [_Valuation(unit, tracker, spec, features, reward, part) for part in unit.parts]
    gains = _placebo_gains(spec, transitions, valuations) if spec.placebo else [None] * len(valuations)
    stored: list[PolicyValue] = []
    influences: dict[str, np.ndarray] = {}
    for valuation, gain in zip(valuations, gains, strict=True):
        values = [(LOGGED, valuation.observed())]
        for name in spec.policies:
            values += [(name, value) for value in valuation.values_of(policies[name])]
        for name, value in values:
            if gain is not None and name == LEARNED and value.resampled_over == "dialogs":
                value = _with_placebo(value, gain)
            influences[f"influence{len(stored)}"] = valuation.in_corpus_order(value)
            stored.append(valuation.stored(name, value))
    return Result(PolicyValues(tuple(stored), dict(learned.diagnostics)), influences)


_BEHAVIOURS: RecentlyMade[Behaviour] = RecentlyMade(4)


def _behaviour(unit: Unit, tracker: TrackerInput, spec: PolicySpec, transitions: Transitions) -> Behaviour:
    """P(a | s), which depends on neither reward nor learner: variants with the same states share it."""
    model = spec.behaviour.make(BEHAVIOURS)
    parts = (spec.features, spec.conditions, spec.behaviour)
    key = content_hash(unit.identity, tracker.identity, *(msgspec.json.encode(part) for part in parts))
    shared = _BEHAVIOURS.get(key, lambda: fit_behaviour(model, transitions, spec.threshold))
    return replace(shared, threshold=spec.threshold)


def _placebo_gains(spec: PolicySpec, train: Transitions, valuations: list[_Valuation]) -> list[float | None]:
    """The gain of a policy learned from shuffled actions, on every dataset."""

    def learn(transitions: Transitions) -> StatePolicy:
        behaviour = fit_behaviour(spec.behaviour.make(BEHAVIOURS), transitions, spec.threshold)
        policy: StatePolicy = spec.learner.make(LEARNERS).fit(transitions, behaviour)
        return policy

    tests = [valuation.transitions for valuation in valuations]
    return [result.gain for result in placebo(learn, train, tests, spec.estimator(PLACEBO_ESTIMATOR))]


def _with_placebo(value: Value, gain: float) -> Value:
    """A value of the learned policy with the gain of the placebo."""
    large = ("placebo_gain",) if gain > DEFAULT.placebo_gain else ()
    return replace(with_diagnostic(value, "placebo_gain", gain), flags=(*value.flags, *large))


class _Valuation:
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
        self.gaps: dict[str, float] = {}

    def observed(self) -> Value:
        """The return of the logged policy."""
        actions = len(self.transitions.actions)
        uniform = np.full((len(self.transitions), actions), 1.0 / actions)
        value: Value = ESTIMATORS.get("observed").estimate(EvaluationProblem(self.transitions, uniform))
        return value

    def values_of(self, policy: StatePolicy) -> list[Value]:
        """The value of a policy by every estimator; means of estimators reuse their values."""
        play = self._live_play(policy) if "world" in self.needs else None
        probabilities = policy.probabilities(self.transitions.states, self.transitions.possible)
        problem = EvaluationProblem(self.transitions, probabilities, self.augmented, play)
        values: dict[str, Value] = {}
        for estimator in self.estimators:
            values[estimator.name] = self._estimate(estimator, problem, values)
        return list(values.values())

    def _estimate(self, estimator: Estimator, problem: EvaluationProblem, values: dict[str, Value]) -> Value:
        if estimator.name in values:
            return values[estimator.name]
        if isinstance(estimator, MeanOf):
            parts = [self._estimate(part, problem, values) for part in estimator.parts]
            value = estimator.of(parts)
            if self.spec.on_policy:
                gap = float(np.mean([part.diagnostics["on_policy_gap"] for part in parts]))
                value = with_diagnostic(value, "on_policy_gap", gap)
        else:
            value = estimator.estimate(problem)
            if self.spec.on_policy and estimator.resampled_over == "dialogs":
                value = with_diagnostic(value, "on_policy_gap", self._gap(estimator, problem))
        return checked(value, problem)

    def _gap(self, estimator: Estimator, problem: EvaluationProblem) -> float:
        """The estimated value of the logged policy, less its observed return; computed once."""
        if estimator.name not in self.gaps:
            own = estimator.estimate(problem.behaviour(logged=True)).mean
            self.gaps[estimator.name] = float(own - self.transitions.returns().mean())
        return self.gaps[estimator.name]

    def _live_play(self, policy: StatePolicy) -> LivePlay:
        test = self.unit.test
        assert isinstance(test, SimulatedDialogs)
        world = test.simulation.world(test.dataset, test.split)
        return LivePlay(
            LivePolicy(self.features, policy),
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
            feasible=self.transitions.feasible,
            flags=value.flags,
            diagnostics={name: float(number) for name, number in value.diagnostics.items()},
            resampled_over=value.resampled_over,
        )

    def in_corpus_order(self, value: Value) -> Floats:
        """(n_dialogs,) the influence of every dialog of the corpus; of live play, of every caller."""
        if value.resampled_over == "callers":
            return value.influence
        position = {session: number for number, session in enumerate(self.corpus.sessions)}
        influence = np.zeros(self.corpus.n_dialogs)
        influence[[position[session] for session in self.transitions.sessions]] = value.influence
        return influence
