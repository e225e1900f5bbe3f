"""The settings that can be chosen, and what each gains on training calls it did not learn from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from experiments.dstc2.tables import CandidateRow
from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.corpus import Corpus, fold_of_sessions
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.policy.behaviour import Behaviour, fit_behaviour
from extrinsic.policy.features import find_features
from extrinsic.policy.kernel_logistic import KernelLogistic
from extrinsic.policy.kernel_lspi import KernelLSPI
from extrinsic.policy.rewards import Reward
from extrinsic.policy.transitions import transitions_of
from extrinsic.registry import ESTIMATORS
from extrinsic.value.diagnostics import checked
from extrinsic.value.estimator import EvaluationProblem
from extrinsic.value.lstd import augment

FEATURES = ("compact", "grouped_history")
GAMMAS = (0.95, 1.0)
RIDGES = (10.0, 100.0)
THRESHOLDS = (0.1, 0.2)
FILLS = ("argmax", "threshold")
N_FOLDS = 3
ESTIMATOR = "mean_augmented"
"""Chosen in the simulated world, where the truth is known (experiments/truth), and not here."""


@dataclass(frozen=True)
class Candidate:
    """One way to learn."""

    features: str
    gamma: float
    ridge: float
    threshold: float


CANDIDATES = tuple(Candidate(*values) for values in product(FEATURES, GAMMAS, RIDGES, THRESHOLDS))


@dataclass(frozen=True)
class CandidateGain:
    """What a candidate gains over the logged policy with a tracker on a fold, under one fill rule."""

    tracker: str
    candidate: Candidate
    gain: float
    flags: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Calls:
    """Some of the training calls, with what a tracker and the proxies believe of them."""

    corpus: Corpus
    output: TrackerOutput
    proxies: tuple[TrackerOutput, ...]

    def take(self, dialogs: Ints) -> Calls:
        proxies = tuple(proxy.take(dialogs) for proxy in self.proxies)
        return Calls(self.corpus.take(dialogs), self.output.take(dialogs), proxies)


def candidate_gains(
    tracker: str, calls: Calls, fold: int, candidates: Sequence[Candidate] = CANDIDATES
) -> Iterator[CandidateGain]:
    """Every candidate under both fill rules: learned without a fold, valued on it."""
    folds = fold_of_sessions(calls.corpus.sessions, N_FOLDS)
    learned_from, held_out = (calls.take(np.flatnonzero(part)) for part in (folds != fold, folds == fold))
    for preset in dict.fromkeys(candidate.features for candidate in candidates):
        behaviour: Behaviour | None = None
        for fill in FILLS:
            reward = Reward.of(calls.corpus.domain, fill=fill, when="terminal")
            train, test = (
                transitions_of(part.corpus, part.output, find_features(preset), reward)
                for part in (learned_from, held_out)
            )
            # Which act is likely does not depend on what it earns.
            behaviour = behaviour or fit_behaviour(KernelLogistic(), train)
            augmented = augment(test, held_out.corpus, held_out.output, held_out.proxies, reward)
            for candidate in candidates:
                if candidate.features == preset:
                    learner = KernelLSPI(gamma=candidate.gamma, ridge=candidate.ridge)
                    policy = learner.fit(train, replace(behaviour, threshold=candidate.threshold))
                    problem = EvaluationProblem(test, policy.probabilities(test.states), augmented)
                    value = checked(ESTIMATORS.get(ESTIMATOR).estimate(problem), problem)
                    gain = value.mean - float(test.returns().mean())
                    yield CandidateGain(tracker, candidate, gain, value.flags)


def summarise(gains: Sequence[CandidateGain]) -> list[CandidateRow]:
    """The candidates, the best first.

    The standard error is over trackers, the folds and fill rules of one being no draws of their own.
    """
    by_tracker = {candidate: _by_tracker(gains, candidate) for candidate in CANDIDATES}
    ordered = sorted(CANDIDATES, key=lambda candidate: -float(by_tracker[candidate].mean()))
    rows = []
    for candidate in ordered:
        behind = by_tracker[ordered[0]] - by_tracker[candidate]
        flags = [gain.flags for gain in gains if gain.candidate == candidate]
        counts = Counter(flag for some in flags for flag in some)
        rows.append(
            CandidateRow(
                **vars(candidate),
                gain=float(by_tracker[candidate].mean()),
                behind=float(behind.mean()),
                standard_error=float(behind.std(ddof=1) / np.sqrt(len(behind))),
                trackers=len(behind),
                cells=len(flags),
                flags=" ".join(f"{flag}:{count}" for flag, count in sorted(counts.items())),
            )
        )
    return rows


def _by_tracker(gains: Sequence[CandidateGain], candidate: Candidate) -> Floats:
    """(n_trackers,) the mean gain of a candidate with each."""
    numbers: dict[str, list[float]] = {}
    for gain in gains:
        if gain.candidate == candidate:
            numbers.setdefault(gain.tracker, []).append(gain.gain)
    return np.array([np.mean(each) for each in numbers.values()])
