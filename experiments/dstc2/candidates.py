"""The settings that can be chosen, and what each gains on training calls it did not learn from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from extrinsic.corpus.model import Corpus
from extrinsic.corpus.splits import fold_of_dialogs
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.policy.behaviour import find_learner
from extrinsic.policy.features import find_features
from extrinsic.policy.kernel_lspi import KernelLSPI
from extrinsic.policy.reward import Reward
from extrinsic.policy.transitions import Transitions, transitions_of
from extrinsic.registry import ESTIMATORS
from extrinsic.value.augmented_states import augment
from extrinsic.value.diagnostics import checked
from extrinsic.value.evaluation_problem import EvaluationProblem

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


CANDIDATES = tuple(Candidate(*chosen) for chosen in product(FEATURES, GAMMAS, RIDGES, THRESHOLDS))


@dataclass(frozen=True, eq=False)
class Calls:
    """Some of the training calls, with what a tracker and the proxies believe of them."""

    corpus: Corpus
    output: TrackerOutput
    proxies: tuple[TrackerOutput, ...]

    def take(self, dialogs: Any) -> Calls:
        return Calls(
            self.corpus.take(dialogs),
            self.output.take(dialogs),
            tuple(proxy.take(dialogs) for proxy in self.proxies),
        )


def gains_of(whole: Calls, fold: int) -> list[dict[str, Any]]:
    """Every candidate under both fill rules: learned without a fold, valued on it."""
    of = fold_of_dialogs(whole.corpus, N_FOLDS)
    learned_from, held_out = (whole.take(np.flatnonzero(chosen)) for chosen in (of != fold, of == fold))
    rows = []
    for preset in FEATURES:
        features = find_features(preset)
        chances, model = None, None
        for fill in FILLS:
            reward = Reward.of(whole.corpus.domain, fill=fill)
            train, test = (
                transitions_of(part.corpus, part.output, features, reward)
                for part in (learned_from, held_out)
            )
            if model is None:  # which act is likely does not depend on what it earns
                behaviour = find_learner("logistic", width=KernelLSPI().behaviour_width)
                chances, model = behaviour.cross_fitted(train), behaviour.fit(train)
            augmented = augment(test, held_out.corpus, held_out.output, held_out.proxies, reward)
            for candidate in CANDIDATES:
                if candidate.features == preset:
                    learner = _learner(candidate).fit(train, chances, model)
                    rows.append(_row(candidate, fill, learner, test, augmented))
    return rows


def _learner(candidate: Candidate) -> KernelLSPI:
    return KernelLSPI(gamma=candidate.gamma, ridge=candidate.ridge, threshold=candidate.threshold)


def _row(
    candidate: Candidate, fill: str, learner: KernelLSPI, test: Transitions, augmented: Any
) -> dict[str, Any]:
    case = EvaluationProblem(test, learner.probabilities(test.states), augmented)
    value = checked(ESTIMATORS.get(ESTIMATOR).estimate(case), case)
    gain = value.mean - float(test.returns().mean())
    return {**vars(candidate), "fill": fill, "gain": gain, "flags": value.flags}


def summarise(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The candidates, the best first; behind: how much less than the first, in its own standard errors too.

    The standard error is over trackers, the folds and fill rules of one being no draws of their own.
    """
    gains = {candidate: _by_tracker([row for row in rows if _is(row, candidate)]) for candidate in CANDIDATES}
    ordered = sorted(CANDIDATES, key=lambda candidate: -float(gains[candidate].mean()))
    first = gains[ordered[0]]
    summary = []
    for candidate in ordered:
        behind = first - gains[candidate]
        error = float(behind.std(ddof=1) / np.sqrt(len(behind)))
        flags = [row["flags"] for row in rows if _is(row, candidate)]
        summary.append(
            {
                **vars(candidate),
                "gain": float(gains[candidate].mean()),
                "behind": float(behind.mean()),
                "standard_error": error,
                "trackers": len(behind),
                "cells": len(flags),
                "flags": _counted(flags),
            }
        )
    return summary


def _counted(flags: list[tuple[str, ...]]) -> str:
    """Which flags values carry, each with how many do."""
    counts = Counter(flag for some in flags for flag in some)
    return " ".join(f"{flag}:{count}" for flag, count in sorted(counts.items()))


def _by_tracker(rows: list[dict[str, Any]]) -> Any:
    names = dict.fromkeys(row["tracker"] for row in rows)
    return np.array([np.mean([row["gain"] for row in rows if row["tracker"] == name]) for name in names])


def _is(row: dict[str, Any], candidate: Candidate) -> bool:
    return all(row[key] == value for key, value in vars(candidate).items())
