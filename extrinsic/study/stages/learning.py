"""The stage that learns: the policies of one tracker under one setting, and what each is worth."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import msgspec
import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.model import Corpus
from extrinsic.policy.behaviour import ActionModel, find_learner
from extrinsic.policy.features import Features, find_features
from extrinsic.policy.kernel_lspi import KernelLSPI
from extrinsic.policy.live_policy import LivePolicy, StatePolicy
from extrinsic.policy.reward import Reward
from extrinsic.policy.supervised import SupervisedPolicy
from extrinsic.policy.transitions import Transitions, transitions_of
from extrinsic.registry import ESTIMATORS
from extrinsic.storage import content_hash, encode_json
from extrinsic.study.stages.inputs import (
    Kept,
    Part,
    SimulatedDialogs,
    TrackerInput,
    Unit,
    corpus_of,
    output_of,
    taught,
)
from extrinsic.study.stages.store import Result
from extrinsic.value.augmented_states import augment
from extrinsic.value.diagnostics import DEFAULT, checked, with_diagnostic
from extrinsic.value.estimators import Estimator
from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.live import LivePlay
from extrinsic.value.mean_of import MeanOf
from extrinsic.value.placebo import placebo
from extrinsic.value.result import Value


class PolicySpec(msgspec.Struct, frozen=True):
    """Everything that a policy and its values depend on, beside the dialogs and the tracker.

    proxies: the trackers that augment the state, as recipes.
    """

    features: str | tuple[str, ...]
    conditions: bool
    learner: dict[str, Any]
    reward: dict[str, Any]
    policies: tuple[str, ...]
    estimators: tuple[str, ...]
    proxies: tuple[TrackerInput, ...]
    live_dialogs: int
    live_seed: int
    on_policy: bool
    placebo: bool


def learn_policies(unit: Unit, tracker: TrackerInput, setting: PolicySpec) -> Result:
    """Learn from the training dialogs, value on every dataset of the unit."""
    train = corpus_of(unit.train)
    features = replace(find_features(setting.features), conditions=setting.conditions)
    reward = Reward.of(train.domain, **setting.reward)
    learned_from = transitions_of(train, output_of(tracker, unit, "train"), features, reward)
    learner = KernelLSPI(**setting.learner).fit(
        learned_from, *_behaviour(unit, tracker, setting, learned_from)
    )
    policies: dict[str, StatePolicy] = {
        "rl": learner,
        "sl": SupervisedPolicy(learner.behaviour_),
        "sl_sampled": SupervisedPolicy(learner.behaviour_, sampled=True),
    }
    rows: list[dict[str, Any]] = []
    arrays: dict[str, np.ndarray] = {}
    valuations = [_Valuation(unit, tracker, setting, features, reward, part) for part in unit.parts]
    gains = _placebo_gains(setting, learned_from, valuations) if setting.placebo else None
    for number, (part, valuation) in enumerate(zip(unit.parts, valuations, strict=True)):
        found = [valuation.observed()]
        for policy in setting.policies:
            found += valuation.of(policy, policies[policy])
        if gains is not None:
            found = _with_placebo(found, gains[number])
        for policy, value in found:
            arrays[f"influence{len(rows)}"] = valuation.in_corpus_order(value)
            rows.append(_row(part.name, policy, value, valuation.transitions.feasible))
    return Result({"rows": rows, "learner": asdict(learner.fit_)}, arrays)


_BEHAVIOUR = Kept(4)


def _behaviour(
    unit: Unit, tracker: TrackerInput, setting: PolicySpec, transitions: Transitions
) -> tuple[Floats, ActionModel] | tuple[()]:
    """P(a | s), which no reward changes: variants of one tracker that see the same share it."""
    name = setting.learner["behaviour"]
    if name == "logged":
        return ()
    width = setting.learner["behaviour_width"]
    key = content_hash(
        unit.identity, tracker.identity, encode_json((setting.features, setting.conditions, name, width))
    )
    learner = find_learner(name, width=width)
    return _BEHAVIOUR.get(key, lambda: (learner.cross_fitted(transitions), learner.fit(transitions)))


def _placebo_gains(setting: PolicySpec, train: Transitions, valuations: list[_Valuation]) -> list[float]:
    """What a policy learned from shuffled actions gains, on every dataset."""

    def learn(part: Transitions) -> KernelLSPI:
        return KernelLSPI(**setting.learner).fit(part)

    tests = [valuation.transitions for valuation in valuations]
    return [found.gain for found in placebo(learn, train, tests, ESTIMATORS.get("lstd"))]


def _with_placebo(found: list[tuple[str, Value]], gain: float) -> list[tuple[str, Value]]:
    """The values of the learned policy, each with what the placebo gained."""
    large = ("placebo_gain",) if gain > DEFAULT.placebo_gain else ()
    return [
        (policy, replace(with_diagnostic(value, "placebo_gain", gain), flags=(*value.flags, *large)))
        if policy == "rl" and value.estimator != "live"
        else (policy, value)
        for policy, value in found
    ]


def _row(dataset: str, policy: str, value: Value, feasible: tuple[float, float] | None) -> dict[str, Any]:
    low, high = feasible or (None, None)
    return {
        "dataset": dataset,
        "policy": policy,
        "estimator": value.estimator,
        "value": value.mean,
        "low": value.low,
        "high": value.high,
        "n": value.n,
        "feasible_low": low,
        "feasible_high": high,
        "flags": list(value.flags),
        "diagnostics": {name: float(number) for name, number in value.diagnostics.items()},
    }


class _Valuation:
    """The dialogs of one dataset as seen through one tracker, and what policies are worth there."""

    def __init__(
        self,
        unit: Unit,
        tracker: TrackerInput,
        setting: PolicySpec,
        features: Features,
        reward: Reward,
        part: Part,
    ) -> None:
        whole, believed = corpus_of(unit.test), output_of(tracker, unit, "test")
        chosen = part.chosen(whole.n_dialogs)
        everything = part.dialogs is None
        self.corpus: Corpus = whole if everything else whole.take(chosen)
        output = believed if everything else believed.take(chosen)
        self.setting, self.features, self.reward = setting, features, reward
        self.unit, self.tracker = unit, tracker
        self.transitions: Transitions = transitions_of(self.corpus, output, features, reward)
        self.augmented = None
        if any("augmented" in name for name in setting.estimators):
            proxies = [output_of(proxy, unit, "test") for proxy in setting.proxies]
            proxies = proxies if everything else [proxy.take(chosen) for proxy in proxies]
            self.augmented = augment(self.transitions, self.corpus, output, proxies, reward)
        self.gaps: dict[str, float] = {}

    def case(self, policy: StatePolicy, stage: LivePlay | None = None) -> EvaluationProblem:
        target = policy.probabilities(self.transitions.states)
        return EvaluationProblem(self.transitions, target, self.augmented, stage)

    def observed(self) -> tuple[str, Value]:
        """What the logged policy earned."""
        actions = len(self.transitions.actions)
        anything = np.full((len(self.transitions), actions), 1.0 / actions)
        value = ESTIMATORS.get("observed").estimate(EvaluationProblem(self.transitions, anything))
        return "behaviour", value

    def of(self, name: str, policy: StatePolicy) -> list[tuple[str, Value]]:
        """What every estimator says of a policy; a mean of two takes what they said."""
        case = self.case(policy, self._stage(policy) if "live" in self.setting.estimators else None)
        values: dict[str, Value] = {}
        for estimator in self.setting.estimators:
            values[estimator] = self._estimate(ESTIMATORS.get(estimator), case, values)
        return [(name, value) for value in values.values()]

    def _estimate(self, estimator: Estimator, case: EvaluationProblem, known: dict[str, Value]) -> Value:
        if estimator.name in known:
            return known[estimator.name]
        if isinstance(estimator, MeanOf):
            parts = [self._estimate(part, case, known) for part in estimator.parts]
            value = estimator.of(parts)
            if self.setting.on_policy:
                gap = float(np.mean([part.diagnostics["on_policy_gap"] for part in parts]))
                value = with_diagnostic(value, "on_policy_gap", gap)
        else:
            value = estimator.estimate(case)
            if self.setting.on_policy and estimator.name not in ("live", "observed"):
                value = with_diagnostic(value, "on_policy_gap", self._gap(estimator, case))
        return checked(value, case)

    def _gap(self, estimator: Estimator, case: EvaluationProblem) -> float:
        """What an estimator says of the logged policy itself, less what was observed; asked once."""
        if estimator.name not in self.gaps:
            own = estimator.estimate(case.behaviour(logged=True)).mean
            self.gaps[estimator.name] = float(own - self.transitions.returns().mean())
        return self.gaps[estimator.name]

    def _stage(self, policy: StatePolicy) -> LivePlay:
        test = self.unit.test
        assert isinstance(test, SimulatedDialogs)
        world = test.simulation.world(test.dataset, test.split)
        return LivePlay(
            LivePolicy(self.features, policy),
            taught(self.tracker, self.unit),
            world,
            self.setting.live_dialogs,
            self.setting.live_seed,
            self.reward,
        )

    def in_corpus_order(self, value: Value) -> Floats:
        """(n_dialogs,) the influence of every dialog of the corpus; of live play, of every caller."""
        if value.estimator == "live":
            return value.influence
        place = {session: number for number, session in enumerate(self.corpus.sessions)}
        influence = np.zeros(self.corpus.n_dialogs)
        influence[[place[session] for session in self.transitions.sessions]] = value.influence
        return influence
