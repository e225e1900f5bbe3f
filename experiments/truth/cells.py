"""One policy in one world: its live return, and what every estimator says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.policy.features import find_features
from extrinsic.policy.kernel_lspi import KernelLSPI
from extrinsic.policy.live_policy import LivePolicy
from extrinsic.policy.transitions import transitions_of
from extrinsic.registry import ESTIMATORS, TRACKERS
from extrinsic.simulation import read_simulation, simulate
from extrinsic.trackers.protocol import LearnedTracker
from extrinsic.trackers.track import track
from extrinsic.value.augmented_states import augment
from extrinsic.value.diagnostics import checked, with_diagnostic, with_on_policy_gap
from extrinsic.value.estimators import MEAN_AUGMENTED
from extrinsic.value.evaluation_problem import EvaluationProblem
from extrinsic.value.live import LivePlay
from extrinsic.value.result import Value

PAIR = ("lstd_augmented", "fqe_augmented")
MEAN = MEAN_AUGMENTED


@dataclass(frozen=True)
class Cell:
    seed: int
    dataset: str
    tracker: str
    features: str
    proxies: tuple[str, ...]
    misspecified_proxies: tuple[str, ...]
    n_live: int


@dataclass(frozen=True)
class Prepared:
    """A policy learned and played: the case to be valued, the same with other proxies, and the truth."""

    case: EvaluationProblem
    others: EvaluationProblem
    where: dict[str, Any]
    truth: dict[str, float]


def prepare(cell: Cell) -> Prepared:
    simulation = msgspec.structs.replace(read_simulation(), seed=cell.seed)
    train = simulate(simulation, cell.dataset, "train").corpus
    test = simulate(simulation, cell.dataset, "test").corpus
    tracker, features = TRACKERS.get(cell.tracker), find_features(cell.features)
    learner = KernelLSPI().fit(transitions_of(train, track(tracker, train, cell.tracker), features))
    output = track(tracker, test, cell.tracker, [train])
    transitions = transitions_of(test, output, features)
    at_table = tracker.fit([train]) if isinstance(tracker, LearnedTracker) else tracker
    world = simulation.world(cell.dataset, "test")
    stage = LivePlay(LivePolicy(features, learner), at_table, world, cell.n_live, cell.seed)
    target = learner.probabilities(transitions.states)
    case, others = (
        EvaluationProblem(
            transitions, target, augment(transitions, test, output, _proxies(names, test, train)), stage
        )
        for names in (cell.proxies, cell.misspecified_proxies)
    )
    live = ESTIMATORS.get("live").estimate(case)
    return Prepared(
        case,
        others,
        {
            "seed": cell.seed,
            "dataset": cell.dataset,
            "tracker": cell.tracker,
            "degenerate": tracker.degenerate,
        },
        {"live": live.mean, "live_half_width": (live.high - live.low) / 2.0},
    )


def run_cell(cell: Cell) -> list[dict[str, Any]]:
    """A row for every estimator."""
    prepared = prepare(cell)
    values = valued(prepared.case, [name for name in ESTIMATORS.names() if name not in ("live", MEAN.name)])
    others = valued(prepared.others, PAIR)
    values |= {f"{name} (other proxies)": value for name, value in others.items()}
    return [
        {
            **prepared.where,
            "estimator": name,
            "value": value.mean,
            "low": value.low,
            "high": value.high,
            **prepared.truth,
            "on_policy_gap": value.diagnostics["on_policy_gap"],
            "flags": " ".join(value.flags),
        }
        for name, value in values.items()
    ]


def valued(case: EvaluationProblem, names: Sequence[str]) -> dict[str, Value]:
    """What estimators say, checked; and the mean of the default pair, without asking them again."""
    values = {}
    for name in names:
        estimator = ESTIMATORS.get(name)
        values[name] = checked(with_on_policy_gap(estimator.estimate(case), estimator, case), case)
    pair = [values[name] for name in PAIR]
    gap = sum(value.diagnostics["on_policy_gap"] for value in pair) / len(pair)
    values[MEAN.name] = checked(with_diagnostic(MEAN.of(pair), "on_policy_gap", gap), case)
    return values


def _proxies(names: Sequence[str], test: Corpus, train: Corpus) -> list[TrackerOutput]:
    return [track(TRACKERS.get(name), test, name, [train]) for name in names]
